/*
 * Pieces are judged one by one: what a write that was cut off left behind are whole pieces
 * of it beside whole pieces of what was there before.
 */
#include "load/seal.h"

#include <assert.h>
#include <string.h>

#include "base/crc32c.h"
#include "load/random.h"

#define MAGIC 0x7643u /* "Cv" */

struct header {
	uint64_t random, run, offset, sequence;
	uint16_t magic, file;
	uint32_t checksum;
};

_Static_assert(sizeof(struct header) == 40, "the header has no gaps");

uint64_t seal_run(const char *run_id)
{
	uint64_t run = 0;

	for (const char *at = run_id; *at; at++)
		run = random_mix(run ^ (unsigned char)*at);
	return run;
}

/* Apply it once to hide the words behind the first, once more to have them back. */
static void veil(struct header *header)
{
	uint64_t key = header->random;

	header->run ^= key = random_mix(key);
	header->offset ^= key = random_mix(key);
	header->sequence ^= key = random_mix(key);
	key = random_mix(key);
	header->magic ^= (uint16_t)key;
	header->file ^= (uint16_t)(key >> 16);
}

static uint32_t checksum(const unsigned char *piece, size_t bytes)
{
	uint32_t crc = crc32c(0, piece, offsetof(struct header, checksum));

	return crc32c(crc, piece + sizeof(struct header), bytes - sizeof(struct header));
}

/* Of the piece at `at` in a block: the last one takes the rest. */
static size_t piece_bytes(size_t bytes, size_t at)
{
	return bytes - at < 2 * SEAL_PIECE ? bytes - at : SEAL_PIECE;
}

void seal_block(void *block, size_t bytes, const struct seal_place *place, uint64_t sequence)
{
	size_t piece;

	assert(bytes >= SEAL_PIECE);
	for (size_t at = 0; at < bytes; at += piece) {
		unsigned char *start = (unsigned char *)block + at;
		struct header header = {
		        .run = place->run,
		        .offset = place->offset + at,
		        .sequence = sequence,
		        .magic = MAGIC,
		        .file = (uint16_t)place->file,
		};

		piece = piece_bytes(bytes, at);
		memcpy(&header.random, start, sizeof(header.random));
		veil(&header);
		memcpy(start, &header, sizeof(header));
		header.checksum = checksum(start, piece);
		memcpy(start, &header, sizeof(header));
	}
}

static bool is_zero(const unsigned char *piece, size_t bytes)
{
	return !piece[0] && !memcmp(piece, piece + 1, bytes - 1);
}

static enum seal_look judge(const struct seal_found *found, const struct seal_expected *expected)
{
	if (found->stated != found->counted)
		return SEAL_DAMAGED;
	if (found->place.run != expected->place.run)
		return SEAL_OTHER_RUN;
	if (found->place.file != expected->place.file || found->place.offset != found->offset)
		return SEAL_OTHER_PLACE;
	if (found->sequence < expected->oldest)
		return SEAL_OLDER;
	return found->sequence > expected->newest ? SEAL_NEVER_SENT : SEAL_GOOD;
}

static struct seal_found check_piece(const unsigned char *piece, size_t bytes, uint64_t offset,
                                     const struct seal_expected *expected)
{
	struct seal_found found = {.look = SEAL_UNKNOWN, .offset = offset};
	struct header header;

	memcpy(&header, piece, sizeof(header));
	found.word = header.random;
	veil(&header);
	if (header.magic != MAGIC) {
		if (is_zero(piece, bytes))
			found.look = SEAL_ZEROS;
		return found;
	}
	found.place = (struct seal_place){header.run, header.file, header.offset};
	found.sequence = header.sequence;
	found.stated = header.checksum;
	found.counted = checksum(piece, bytes);
	found.look = judge(&found, expected);
	return found;
}

struct seal_found seal_check(const void *block, size_t bytes, const struct seal_expected *expected)
{
	struct seal_found found = {0};
	uint64_t newest = 0, oldest = UINT64_MAX;
	size_t piece;

	assert(bytes >= SEAL_PIECE);
	for (size_t at = 0; at < bytes; at += piece) {
		piece = piece_bytes(bytes, at);
		found = check_piece((const unsigned char *)block + at, piece,
		                    expected->place.offset + at, expected);
		if (found.look != SEAL_GOOD)
			return found;
		newest = max_u64(newest, found.sequence);
		oldest = min_u64(oldest, found.sequence);
	}
	found.offset = expected->place.offset;
	found.sequence = newest;
	found.oldest = oldest;
	return found;
}

static int describe_expected(const struct seal_expected *e, const struct seal_found *found,
                             char *out, size_t size)
{
	int n = snprintf(out, size, "block at offset %llu of file %u: expected sequence %llu",
	                 (unsigned long long)found->offset, e->place.file,
	                 (unsigned long long)e->oldest);

	if (e->newest > e->oldest)
		n += snprintf(out + n, size - (size_t)n, " or later");
	return n;
}

char *seal_describe(const struct seal_expected *expected, const struct seal_found *found,
                    char out[SEAL_TEXT_MAX])
{
	int n = describe_expected(expected, found, out, SEAL_TEXT_MAX);
	size_t size = SEAL_TEXT_MAX - (size_t)n;
	unsigned long long sequence = found->sequence;

	switch (found->look) {
	case SEAL_GOOD:
		snprintf(out + n, size, ", found sequence %llu", sequence);
		break;
	case SEAL_OLDER:
		snprintf(out + n, size,
		         ", found sequence %llu, what lay there before (a write that was "
		         "acknowledged is lost)",
		         sequence);
		break;
	case SEAL_NEVER_SENT:
		snprintf(out + n, size, ", found sequence %llu, which was never sent", sequence);
		break;
	case SEAL_OTHER_PLACE:
		snprintf(out + n, size,
		         ", found the block at offset %llu of file %u, sequence %llu (a write or "
		         "a read went to the wrong place)",
		         (unsigned long long)found->place.offset, found->place.file, sequence);
		break;
	case SEAL_OTHER_RUN:
		snprintf(out + n, size,
		         ", found data of another run (number %016llx in place of %016llx)",
		         (unsigned long long)found->place.run,
		         (unsigned long long)expected->place.run);
		break;
	case SEAL_ZEROS:
		snprintf(out + n, size,
		         ", found zeros (the write is lost, or the range was discarded)");
		break;
	case SEAL_DAMAGED:
		snprintf(out + n, size,
		         ", found sequence %llu with checksum %08x over data of checksum %08x "
		         "(bits changed)",
		         sequence, found->stated, found->counted);
		break;
	case SEAL_UNKNOWN:
		snprintf(out + n, size,
		         ", found what pvcbench does not write, beginning with %016llx "
		         "(overwritten by somebody else, or the header is damaged)",
		         (unsigned long long)found->word);
		break;
	}
	return out;
}
