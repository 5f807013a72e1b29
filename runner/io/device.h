/*
 * The ends of a block device: whatever is kept on one has its mark in the first or the
 * last MiB. Runs keep off both, so that these say what others put there.
 */
#ifndef PVCBENCH_DEVICE_H
#define PVCBENCH_DEVICE_H

#include "base/err.h"

#define DEVICE_END_BYTES MIB
#define DEVICE_FOUND_MAX 64

/*
 * What the ends of the open device of this size hold, in words ("an ext4 file
 * system", "data of no known kind"); "" where both are zero. 0 or an errno. The descriptor may be
 * O_DIRECT.
 */
int device_look(int fd, uint64_t bytes, char found[DEVICE_FOUND_MAX]);

/* Zero both ends, and sync. 0 or an errno. */
int device_zero_ends(int fd, uint64_t bytes);

/* The name of what has its mark in these bytes of a first and a last end; NULL: none that is known.
 */
const char *device_find_signature(const unsigned char *first, size_t first_bytes,
                                  const unsigned char *last, size_t last_bytes);

#endif
