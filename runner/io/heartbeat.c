/*
 * The thread sleeps on an eventfd, which ends it at once, whenever it is written to.
 */
#include "io/heartbeat.h"

#include "base/workers.h"
#include "io/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#define STOP_NS NSEC_PER_SEC

struct heartbeat {
	int dirfd, stop;
	struct workers *workers;
};

/* So that a claim outlives the node, and what it claims can be told by it. */
static void sync_claim(int dirfd)
{
	CLEANUP(fd) int fd = openat(dirfd, CLAIM_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

static void beat(void *arg, uint64_t start_ns)
{
	struct heartbeat *hb = arg;
	struct pollfd stop = {.fd = hb->stop, .events = POLLIN};

	(void)start_ns;
	sync_claim(hb->dirfd);
	while (poll(&stop, 1, (int)(HEARTBEAT_NS / NSEC_PER_MSEC)) <= 0)
		claim_beat(hb->dirfd);
}

static void free_heartbeat(struct heartbeat *hb)
{
	if (hb->stop >= 0)
		close(hb->stop);
	if (hb->dirfd >= 0)
		close(hb->dirfd);
	free(hb);
}

int heartbeat_start(struct heartbeat **out, int dirfd, struct err *err)
{
	static const struct workers_body body = {.run = beat};
	struct heartbeat *hb = malloc(sizeof(*hb));
	void *arg = hb;

	if (!hb)
		return err_set(err, ERR_TARGET, "out of memory for a heartbeat");
	*hb = (struct heartbeat){
	        .dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0),
	        .stop = eventfd(0, EFD_CLOEXEC),
	};
	if (hb->dirfd < 0 || hb->stop < 0)
		err_sys(err, ERR_TARGET, errno, "cannot start a heartbeat");
	else if (workers_start(&hb->workers, &body, &arg, 1, err) == 0) {
		*out = hb;
		return 0;
	}
	free_heartbeat(hb);
	return -1;
}

void heartbeat_stop(struct heartbeat *hb)
{
	uint64_t once = 1;

	if (!hb)
		return;
	if (write(hb->stop, &once, sizeof(once)) < 0 || workers_wait(hb->workers, STOP_NS))
		return; /* the kernel holds the thread, and with it what it uses */
	workers_join(hb->workers);
	free_heartbeat(hb);
}
