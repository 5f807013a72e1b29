/*
 * All bytes of a file's next range, past short transfers and interruptions.
 */
#ifndef PVCBENCH_WHOLE_H
#define PVCBENCH_WHOLE_H

#include "base/base.h"

/* 0 or an errno; EIO where the file takes nothing any more. */
int whole_write(int fd, const void *data, size_t n);

/* As many as there are up to n; -1 with errno. */
ssize_t whole_read(int fd, void *data, size_t n);

#endif
