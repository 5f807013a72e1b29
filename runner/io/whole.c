#include "io/whole.h"

#include <errno.h>

int whole_write(int fd, const void *data, size_t n)
{
	const char *at = data;

	while (n) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? errno : EIO;
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

ssize_t whole_read(int fd, void *data, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, (char *)data + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
