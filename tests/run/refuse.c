/*
 * refuse SYSCALL=ERRNO... -- COMMAND ARGS: run a command under a seccomp filter
 * that answers these system calls with these errors, as a container's profile
 * would. openat+O_DIRECT=EINVAL answers only opens with that flag.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define RULES_MAX     32
#define USAGE         125 /* exit code, as env and timeout do */

#if defined(__x86_64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_AARCH64
#endif

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))

struct name {
	const char *name;
	int number;
	int flag_arg;  /* which argument holds flags; 0: any call matches */
	unsigned flag; /* that must be set */
};

static const struct name calls[] = {
        {"clone3", SYS_clone3, 0, 0},
        {"faccessat2", SYS_faccessat2, 0, 0},
        {"fallocate", SYS_fallocate, 0, 0},
        {"fdatasync", SYS_fdatasync, 0, 0},
        {"fsync", SYS_fsync, 0, 0},
        {"ftruncate", SYS_ftruncate, 0, 0},
        {"io_getevents", SYS_io_getevents, 0, 0},
        {"io_setup", SYS_io_setup, 0, 0},
        {"io_submit", SYS_io_submit, 0, 0},
        {"io_uring_enter", SYS_io_uring_enter, 0, 0},
        {"io_uring_register", SYS_io_uring_register, 0, 0},
        {"io_uring_setup", SYS_io_uring_setup, 0, 0},
        {"mkdirat", SYS_mkdirat, 0, 0},
        {"openat", SYS_openat, 0, 0},
        {"openat+O_DIRECT", SYS_openat, 2, O_DIRECT},
        {"pread64", SYS_pread64, 0, 0},
        {"preadv2", SYS_preadv2, 0, 0},
        {"pwrite64", SYS_pwrite64, 0, 0},
        {"pwritev2", SYS_pwritev2, 0, 0},
        {"sched_getaffinity", SYS_sched_getaffinity, 0, 0},
        {"statx", SYS_statx, 0, 0},
        {"unlinkat", SYS_unlinkat, 0, 0},
};

static const struct name errors[] = {
        {"EACCES", EACCES, 0, 0}, {"EAGAIN", EAGAIN, 0, 0}, {"EBUSY", EBUSY, 0, 0},
        {"EINVAL", EINVAL, 0, 0}, {"EIO", EIO, 0, 0},       {"ENOMEM", ENOMEM, 0, 0},
        {"ENOSPC", ENOSPC, 0, 0}, {"ENOSYS", ENOSYS, 0, 0}, {"EOPNOTSUPP", EOPNOTSUPP, 0, 0},
        {"EPERM", EPERM, 0, 0},   {"EROFS", EROFS, 0, 0},
};

static const struct name *find(const struct name *table, size_t n, const char *name, size_t length)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0)
			return &table[i];
	}
	fprintf(stderr, "refuse: '%.*s' is none of:", (int)length, name);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %s", table[i].name);
	fputc('\n', stderr);
	exit(USAGE);
}

/* Add the instructions of one rule; how many. They begin and end with the number loaded. */
static size_t add_rule(struct sock_filter *code, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		fprintf(stderr, "usage: refuse SYSCALL=ERRNO... -- COMMAND [ARG]...\n");
		exit(USAGE);
	}

	const struct name *call = find(calls, ARRAY_SIZE(calls), text, (size_t)(equals - text));
	const struct name *error = find(errors, ARRAY_SIZE(errors), equals + 1, strlen(equals + 1));
	const struct sock_filter rule[] = {
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->number, 0, 4),
	        LOAD(args[call->flag_arg]), /* the low half: both machines are little endian */
	        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, call->flag ? call->flag : ~0u, 0,
	                 call->flag ? 1 : 0),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error->number),
	        LOAD(nr),
	};

	memcpy(code, rule, sizeof(rule));
	return ARRAY_SIZE(rule);
}

static void install(struct sock_filter *code, size_t n)
{
	struct sock_fprog program = {.len = (unsigned short)n, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
		perror("refuse: cannot install the filter");
		exit(USAGE);
	}
}

int main(int argc, char **argv)
{
	struct sock_filter code[RULES_MAX * 5 + 5] = {
	        LOAD(arch),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_OURS, 1, 0),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	        LOAD(nr),
	};
	size_t n = 4;
	int i;

	for (i = 1; i < argc && i <= RULES_MAX && strcmp(argv[i], "--") != 0; i++)
		n += add_rule(code + n, argv[i]);
	if (i + 1 >= argc || strcmp(argv[i], "--") != 0) {
		fprintf(stderr, "usage: refuse SYSCALL=ERRNO... -- COMMAND [ARG]...\n");
		return USAGE;
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	install(code, n);
	execvp(argv[i + 1], argv + i + 1);
	fprintf(stderr, "refuse: cannot run '%s': %s\n", argv[i + 1], strerror(errno));
	return 127;
}
