/*
 * LD_PRELOAD=without.so WITHOUT="NAME...": liburing as on a kernel that lacks these, or where
 * a limit refuses them: what the flags and the registers are worth, and what happens without.
 *
 *	single_issuer defer_taskrun coop_taskrun    set-up flags: EINVAL, as an older kernel says
 *	files ring_fd                               not registered: EINVAL
 *	buffers                                     not registered: ENOMEM, as a memlock limit says
 *	ext_arg                                     the feature of kernel 5.11 is not shown
 */
#include <dlfcn.h>
#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lacks(const char *name)
{
	const char *names = getenv("WITHOUT");
	size_t length = strlen(name);

	for (const char *at = names; at && (at = strstr(at, name)); at += length) {
		bool begins = at == names || at[-1] == ' ';

		if (begins && (at[length] == ' ' || !at[length]))
			return true;
	}
	return false;
}

/* The real function behind the one of this name here. */
static void *behind(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "without: no %s\n", name);
		abort();
	}
	return function;
}

int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
	static const struct {
		const char *name;
		unsigned flag;
	} known[] = {
	        {"single_issuer", IORING_SETUP_SINGLE_ISSUER},
	        {"defer_taskrun", IORING_SETUP_DEFER_TASKRUN},
	        {"coop_taskrun", IORING_SETUP_COOP_TASKRUN},
	};
	int (*real)(unsigned, struct io_uring *, unsigned) = behind("io_uring_queue_init");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (flags & known[i].flag && lacks(known[i].name))
			return -EINVAL;

	int ret = real(entries, ring, flags);

	if (ret == 0 && lacks("ext_arg"))
		ring->features &= ~IORING_FEAT_EXT_ARG;
	return ret;
}

int io_uring_register_files(struct io_uring *ring, const int *files, unsigned n)
{
	int (*real)(struct io_uring *, const int *, unsigned) = behind("io_uring_register_files");

	return lacks("files") ? -EINVAL : real(ring, files, n);
}

int io_uring_register_buffers(struct io_uring *ring, const struct iovec *buffers, unsigned n)
{
	int (*real)(struct io_uring *, const struct iovec *, unsigned) =
	        behind("io_uring_register_buffers");

	return lacks("buffers") ? -ENOMEM : real(ring, buffers, n);
}

int io_uring_register_ring_fd(struct io_uring *ring)
{
	int (*real)(struct io_uring *) = behind("io_uring_register_ring_fd");

	return lacks("ring_fd") ? -EINVAL : real(ring);
}
