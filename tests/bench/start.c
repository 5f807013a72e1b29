/*
 * start FILE READS PROGRAM [ARGUMENT]...: how long a program takes to its READS-th read of FILE.
 *
 * Prints ns, from just before the exec to when inotify tells of that read. The program runs to
 * its end, and what it prints is dropped; its failure is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "start: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* The child of a vfork writes into our memory. */
static volatile uint64_t begin_ns;

static pid_t begin(char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = vfork();

	if (pid)
		return pid;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	begin_ns = now_ns();
	execv(argv[0], argv);
	_exit(127);
}

/* Events that follow each other before they are read come as one. */
static void await_read(int fd)
{
	char events[4096] __attribute__((aligned(8)));

	alarm(10);
	if (read(fd, events, sizeof(events)) <= 0)
		die("inotify");
}

int main(int argc, char **argv)
{
	int fd = inotify_init1(IN_CLOEXEC), status;
	uint64_t end_ns;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: start FILE READS PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	if (fd < 0 || inotify_add_watch(fd, argv[1], IN_ACCESS) < 0)
		die(argv[1]);
	pid = begin(argv + 3);
	if (pid < 0)
		die("vfork");
	for (long reads = atol(argv[2]); reads > 0; reads--)
		await_read(fd);
	end_ns = now_ns();
	alarm(0);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		die("the program failed");
	printf("%llu\n", (unsigned long long)(end_ns - begin_ns));
	return 0;
}
