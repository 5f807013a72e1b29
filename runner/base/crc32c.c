/*
 * The instruction takes eight bytes in about three cycles; the table takes one byte at a
 * time and is for CPUs that have none.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t byte = 0; byte < ARRAY_SIZE(table); byte++) {
		uint32_t crc = byte;

		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[byte] = crc;
	}
}

uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	pthread_once(&table_once, make_table);
	crc = ~crc;
	while (bytes--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

#define WITH_INSTRUCTION    __attribute__((target("sse4.2")))
#define CRC_WORD(crc, word) ((uint32_t)__builtin_ia32_crc32di(crc, word))
#define CRC_BYTE(crc, byte) __builtin_ia32_crc32qi(crc, byte)

#elif defined(__aarch64__)

#include <sys/auxv.h>

#define HWCAP_OF_CRC32 (1ul << 7) /* Linux' number for the feature */

static bool found;
static pthread_once_t look_once = PTHREAD_ONCE_INIT;

static void look(void)
{
	found = getauxval(AT_HWCAP) & HWCAP_OF_CRC32;
}

static bool has_instruction(void)
{
	pthread_once(&look_once, look);
	return found;
}

#define WITH_INSTRUCTION    __attribute__((target("+crc")))
#define CRC_WORD(crc, word) __builtin_aarch64_crc32cx(crc, word)
#define CRC_BYTE(crc, byte) __builtin_aarch64_crc32cb(crc, byte)

#endif

#ifdef WITH_INSTRUCTION

static WITH_INSTRUCTION uint32_t by_instruction(uint32_t crc, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	crc = ~crc;
	for (; bytes >= sizeof(uint64_t); at += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		crc = CRC_WORD(crc, word);
	}
	while (bytes--)
		crc = CRC_BYTE(crc, *at++);
	return ~crc;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	return has_instruction() ? by_instruction(crc, data, bytes)
	                         : crc32c_by_table(crc, data, bytes);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	return crc32c_by_table(crc, data, bytes);
}

#endif
