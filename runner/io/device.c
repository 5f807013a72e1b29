/*
 * That an end is not zero is what counts; the table of signatures is there to put a name to
 * it. More specific rows stand first: a boot sector is also that of a FAT.
 */
#include "io/device.h"

#include <errno.h>
#include <string.h>

#define ALIGN (64 * KIB) /* suits every O_DIRECT */

static const struct signature {
	const char *name;
	int64_t offset; /* in the first end; negative: from the end of the last */
	const char *bytes;
	size_t n;
} signatures[] = {
#define ROW(name, offset, text)                      \
	{                                            \
		name, offset, text, sizeof(text) - 1 \
	}
        ROW("an encrypted volume (LUKS)", 0, "LUKS\xba\xbe"),
        ROW("an LVM physical volume", 512, "LABELONE"),
        ROW("an LVM physical volume", 0, "LABELONE"),
        ROW("a member of a RAID", 4096, "\xfc\x4e\x2b\xa9"),
        ROW("a member of a RAID", 0, "\xfc\x4e\x2b\xa9"),
        ROW("a Ceph OSD", 0, "bluestore block device"),
        ROW("an XFS file system", 0, "XFSB"),
        ROW("a btrfs file system", 65600, "_BHRfS_M"),
        ROW("an ext2, ext3 or ext4 file system", 1080, "\x53\xef"),
        ROW("an f2fs file system", 1024, "\x10\x20\xf5\xf2"),
        ROW("swap space", 4086, "SWAPSPACE2"),
        ROW("an NTFS file system", 3, "NTFS    "),
        ROW("an exFAT file system", 3, "EXFAT   "),
        ROW("a FAT file system", 82, "FAT32   "),
        ROW("a FAT file system", 54, "FAT1"),
        ROW("an ISO 9660 file system", 32769, "CD001"),
        ROW("a partition table (GPT)", 512, "EFI PART"),
        ROW("a partition table (GPT)", 4096, "EFI PART"),
        ROW("a partition table (GPT)", -512, "EFI PART"),
        ROW("a partition table (GPT)", -4096, "EFI PART"),
        ROW("a partition table (MBR) or boot sector", 510, "\x55\xaa"),
};

static bool has(const struct signature *s, const unsigned char *bytes, size_t n)
{
	uint64_t at = s->offset < 0 ? n - (uint64_t)-s->offset : (uint64_t)s->offset;

	return at <= n && s->n <= n - at && memcmp(bytes + at, s->bytes, s->n) == 0;
}

const char *device_find_signature(const unsigned char *first, size_t first_bytes,
                                  const unsigned char *last, size_t last_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(signatures); i++) {
		const struct signature *s = &signatures[i];

		if (s->offset < 0 ? has(s, last, last_bytes) : has(s, first, first_bytes))
			return s->name;
	}
	return NULL;
}

static size_t end_bytes(uint64_t bytes)
{
	return (size_t)min_u64(bytes, DEVICE_END_BYTES);
}

/* 0 or an errno; a device that ends early is none that can be used. */
static int transfer(int fd, unsigned char *buf, size_t n, uint64_t offset, bool write)
{
	while (n) {
		ssize_t done = write ? pwrite(fd, buf, n, (off_t)offset)
		                     : pread(fd, buf, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? errno : EIO;
		buf += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
	return !n || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

int device_look(int fd, uint64_t bytes, char found[DEVICE_FOUND_MAX])
{
	size_t n = end_bytes(bytes);
	CLEANUP(mem) unsigned char *first = aligned_alloc(ALIGN, DEVICE_END_BYTES);
	CLEANUP(mem) unsigned char *last = aligned_alloc(ALIGN, DEVICE_END_BYTES);
	const char *name;
	int errnum;

	found[0] = '\0';
	if (!first || !last)
		return ENOMEM;
	errnum = transfer(fd, first, n, 0, false);
	if (!errnum)
		errnum = transfer(fd, last, n, bytes - n, false);
	if (errnum || (is_zero(first, n) && is_zero(last, n)))
		return errnum;
	name = device_find_signature(first, n, last, n);
	snprintf(found, DEVICE_FOUND_MAX, "%s", name ? name : "data of no known kind");
	return 0;
}

int device_zero_ends(int fd, uint64_t bytes)
{
	size_t n = end_bytes(bytes);
	CLEANUP(mem) unsigned char *zeros = aligned_alloc(ALIGN, DEVICE_END_BYTES);
	int errnum;

	if (!zeros)
		return ENOMEM;
	memset(zeros, 0, n);
	errnum = transfer(fd, zeros, n, 0, true);
	if (!errnum)
		errnum = transfer(fd, zeros, n, bytes - n, true);
	if (!errnum && fsync(fd) < 0)
		errnum = errno;
	return errnum;
}
