/* links: base/err.c io/aio.c io/engine.c io/file.c io/host.c io/mount.c io/null.c io/psync.c
 * io/uring.c */
/*
 * Every engine against the same demands. Where this kernel refuses one, its
 * tests are skipped with the reason.
 */
#include "io/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "io/file.h"

#define BLOCK     4096u
#define BLOCKS    256u
#define DEPTH_MAX 64u

static char work_dir[] = "/tmp/t_engine.XXXXXX";

struct run {
	const struct engine *engine;
	void *state;
	unsigned depth;
	unsigned char *arena;
	struct io ios[DEPTH_MAX];
};

static int open_temp(int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/data", work_dir);
	unlink(path);

	int fd = open(path, flags | O_CREAT, 0600);

	if (fd < 0 && flags & O_DIRECT) {
		print_message("no O_DIRECT in /tmp: %s\n", strerrordesc_np(errno));
		skip();
	}
	assert_true(fd >= 0);
	return fd;
}

static void begin(struct run *run, const struct engine *engine, int fd, unsigned depth)
{
	struct err err;
	size_t size = DEPTH_MAX * BLOCK;
	struct engine_params params = {.fd = fd, .depth = depth, .arena_size = size};

	*run = (struct run){.engine = engine, .depth = depth, .arena = aligned_alloc(BLOCK, size)};
	assert_non_null(run->arena);
	params.arena = run->arena;
	memset(run->arena, 0, size);
	for (unsigned i = 0; i < DEPTH_MAX; i++)
		run->ios[i] = (struct io){.len = BLOCK, .buf = run->arena + i * BLOCK};
	if (engine->open(&run->state, &params, &err) < 0) {
		print_message("%s is refused here: %s\n", engine->name, err.text);
		free(run->arena);
		close(fd);
		skip();
	}
}

static void end(struct run *run)
{
	run->engine->close(run->state);
	free(run->arena);
}

static void fill(unsigned char *block, uint64_t number, uint64_t seed)
{
	uint64_t words[BLOCK / 8];

	for (unsigned i = 0; i < BLOCK / 8; i++)
		words[i] = (number * 1000 + i) * 0x9e3779b97f4a7c15ull + seed;
	memcpy(block, words, BLOCK);
}

static void check_block(const unsigned char *block, uint64_t number, uint64_t seed)
{
	unsigned char want[BLOCK];

	fill(want, number, seed);
	assert_memory_equal(block, want, BLOCK);
}

/* Reap at least one. A wait may end early without one: closing another ring interrupts it. */
static int reap_some(struct run *run, struct io **done, unsigned max)
{
	int n;

	do {
		n = run->engine->reap(run->state, done, 1, max, UINT64_MAX);
	} while (n == 0);
	assert_true(n >= 1);
	return n;
}

static unsigned reap_all(struct run *run, struct io **done, unsigned want)
{
	unsigned got = 0;

	while (got < want)
		got += (unsigned)reap_some(run, done + got, want - got);
	return got;
}

/* Submit one that must be taken, and reap it. */
static int32_t do_one(struct run *run, struct io *io)
{
	struct io *done = NULL;

	assert_int_equal(run->engine->submit(run->state, &io, 1), 1);
	assert_int_equal(reap_some(run, &done, 1), 1);
	assert_ptr_equal(done, io);
	return io->res;
}

/* Keep depth requests outstanding over all blocks; each must come back once and whole. */
static void transfer_all(struct run *run, enum io_op op, uint64_t seed)
{
	struct io *free_ios[DEPTH_MAX], *done[DEPTH_MAX];
	bool seen[BLOCKS] = {0};
	unsigned n_free = 0, next = 0, finished = 0;

	for (unsigned i = 0; i < run->depth; i++)
		free_ios[n_free++] = &run->ios[i];
	while (finished < BLOCKS) {
		while (n_free > 0 && next < BLOCKS) {
			struct io *io = free_ios[--n_free];
			/* A permutation: requests complete in no order of offsets. */
			uint64_t block = next++ * 91 % BLOCKS;

			io->op = op;
			io->offset = block * BLOCK;
			if (op == IO_WRITE)
				fill(io->buf, block, seed);
			assert_int_equal(run->engine->submit(run->state, &io, 1), 1);
		}

		int n = reap_some(run, done, run->depth);

		for (int i = 0; i < n; i++) {
			uint64_t block = done[i]->offset / BLOCK;

			assert_int_equal(done[i]->res, BLOCK);
			assert_false(seen[block]);
			seen[block] = true;
			if (op == IO_READ)
				check_block(done[i]->buf, block, seed);
			free_ios[n_free++] = done[i];
			finished++;
		}
	}
}

static void test_round_trip(void **state)
{
	const struct engine *engine = *state;
	static const unsigned depths[] = {1, 8, 64};

	for (size_t i = 0; i < ARRAY_SIZE(depths) && depths[i] <= engine->max_depth; i++) {
		struct run run;
		int fd = open_temp(O_RDWR);

		begin(&run, engine, fd, depths[i]);
		transfer_all(&run, IO_WRITE, i);
		transfer_all(&run, IO_READ, i);
		end(&run);
		close(fd);
	}
}

static void test_round_trip_direct(void **state)
{
	const struct engine *engine = *state;
	struct run run;
	int fd = open_temp(O_RDWR | O_DIRECT);

	begin(&run, engine, fd, engine->max_depth < 64 ? 1 : 64);
	transfer_all(&run, IO_WRITE, 77);
	transfer_all(&run, IO_READ, 77);
	end(&run);
	close(fd);
}

/* A whole batch in one submit and one reap that waits for all. */
static void test_batch(void **state)
{
	const struct engine *engine = *state;
	struct run run;
	struct io *batch[32], *done[32];
	int fd = open_temp(O_RDWR);

	begin(&run, engine, fd, engine->max_depth < 32 ? 1 : 32);
	for (unsigned i = 0; i < 32; i++) {
		batch[i] = &run.ios[i];
		batch[i]->op = IO_WRITE;
		batch[i]->offset = i * BLOCK;
	}

	int taken = engine->submit(run.state, batch, 32);

	assert_int_equal(taken, run.depth);
	assert_int_equal(reap_all(&run, done, (unsigned)taken), taken);
	assert_int_equal(engine->reap(run.state, done, 1, 32, 0), 0);
	end(&run);
	close(fd);
}

static void test_the_batch_grows_where_all_is_answered(void **state)
{
	(void)state;
	assert_int_equal(engine_batch(ENGINE_BATCH, true), 2 * ENGINE_BATCH);
	assert_int_equal(engine_batch(2 * ENGINE_BATCH, true), 4 * ENGINE_BATCH);
	assert_int_equal(engine_batch(ENGINE_DEPTH_MAX, true), ENGINE_DEPTH_MAX);
	assert_int_equal(engine_batch(ENGINE_DEPTH_MAX, false), ENGINE_BATCH);
}

/* Long enough for every ring to wrap; taken in pieces, so that some are always left. */
static void test_many_rounds(void **state)
{
	const struct engine *engine = *state;
	struct io *batch[16], *done[3];
	struct run run;
	int fd = open_temp(O_RDWR);

	assert_int_equal(ftruncate(fd, BLOCKS * BLOCK), 0);
	begin(&run, engine, fd, 16);
	for (unsigned i = 0; i < 16; i++)
		batch[i] = &run.ios[i];
	for (unsigned round = 0; round < 100; round++) {
		bool seen[16] = {0};

		for (unsigned i = 0; i < 16; i++) {
			batch[i]->offset = (uint64_t)(round + i) * BLOCK;
			batch[i]->res = -1;
		}
		assert_int_equal(engine->submit(run.state, batch, 16), 16);
		for (unsigned got = 0; got < 16;) {
			int n = reap_some(&run, done, 3);

			for (int i = 0; i < n; i++, got++) {
				assert_false(seen[done[i] - run.ios]);
				seen[done[i] - run.ios] = true;
				assert_int_equal(done[i]->res, BLOCK);
			}
		}
	}
	end(&run);
	close(fd);
}

static void test_end_of_file(void **state)
{
	struct run run;
	int fd = open_temp(O_RDWR);

	assert_int_equal(ftruncate(fd, BLOCK + 100), 0);
	begin(&run, *state, fd, 1);
	run.ios[0].op = IO_READ;
	run.ios[0].offset = BLOCK;
	assert_int_equal(do_one(&run, &run.ios[0]), 100);
	run.ios[0].offset = 10 * BLOCK;
	assert_int_equal(do_one(&run, &run.ios[0]), 0);
	end(&run);
	close(fd);
}

static void test_read_of_write_only(void **state)
{
	struct run run;
	int fd = open_temp(O_WRONLY);

	begin(&run, *state, fd, 1);
	run.ios[0].op = IO_READ;
	assert_int_equal(do_one(&run, &run.ios[0]), -EBADF);
	/* The engine goes on. */
	run.ios[0].op = IO_WRITE;
	assert_int_equal(do_one(&run, &run.ios[0]), BLOCK);
	end(&run);
	close(fd);
}

/* One that fails at once, among others that do not. */
static void test_error_in_batch(void **state)
{
	const struct engine *engine = *state;
	struct run run;
	struct io *batch[5], *done[5];
	int fd = open_temp(O_WRONLY);

	if (engine->max_depth < 5) {
		close(fd);
		return;
	}
	begin(&run, engine, fd, 5);
	for (unsigned i = 0; i < 5; i++) {
		batch[i] = &run.ios[i];
		batch[i]->op = i % 2 ? IO_READ : IO_WRITE;
		batch[i]->offset = i * BLOCK;
	}
	assert_int_equal(engine->submit(run.state, batch, 5), 5);
	reap_all(&run, done, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(batch[i]->res, i % 2 ? -EBADF : (int)BLOCK);
	end(&run);
	close(fd);
}

static void test_sync(void **state)
{
	const struct engine *engine = *state;
	struct run run;
	struct io *batch[3], *done[3];
	int fd = open_temp(O_RDWR);

	begin(&run, engine, fd, engine->max_depth < 3 ? 1 : 3);
	run.ios[0].op = IO_FSYNC;
	assert_int_equal(do_one(&run, &run.ios[0]), 0);
	run.ios[0].op = IO_FDATASYNC;
	assert_int_equal(do_one(&run, &run.ios[0]), 0);

	static const enum io_op ops[] = {IO_WRITE, IO_FDATASYNC, IO_WRITE};

	for (unsigned i = 0; i < run.depth; i++) {
		batch[i] = &run.ios[i];
		batch[i]->op = ops[i];
	}
	assert_int_equal(engine->submit(run.state, batch, run.depth), run.depth);
	reap_all(&run, done, run.depth);
	assert_int_equal(batch[0]->res, BLOCK);
	end(&run);
	close(fd);
}

static void test_poll_without_waiting(void **state)
{
	const struct engine *engine = *state;
	struct run run;
	struct io *io, *done;
	int fd = open_temp(O_RDWR), n = 0;

	begin(&run, engine, fd, 1);
	assert_int_equal(engine->reap(run.state, &done, 0, 1, UINT64_MAX), 0);
	io = &run.ios[0];
	io->op = IO_WRITE;
	assert_int_equal(engine->submit(run.state, &io, 1), 1);
	for (int i = 0; n == 0 && i < 1000000; i++)
		n = engine->reap(run.state, &done, 0, 1, 0);
	assert_int_equal(n, 1);
	assert_int_equal(io->res, BLOCK);
	end(&run);
	close(fd);
}

/* A file that does not answer; only io_uring can be shown one. */

static void begin_on_fifo(struct run *run, int *fd)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", work_dir);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	*fd = open(path, O_RDWR);
	assert_true(*fd >= 0);
	begin(run, &engine_uring, *fd, 4);

	struct io *io = &run->ios[0];

	io->op = IO_READ;
	assert_int_equal(engine_uring.submit(run->state, &io, 1), 1);
}

static void test_timeout(void **state)
{
	struct run run;
	struct io *done;
	int fd;

	(void)state;
	begin_on_fifo(&run, &fd);

	uint64_t start_ns = clock_now_ns();

	assert_int_equal(engine_uring.reap(run.state, &done, 1, 1, 50 * NSEC_PER_MSEC), 0);

	uint64_t took_ns = clock_now_ns() - start_ns;

	assert_in_range(took_ns, 45 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	assert_int_equal(engine_uring.reap(run.state, &done, 0, 1, 0), 0);
	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(engine_uring.reap(run.state, &done, 1, 1, 5 * NSEC_PER_SEC), 1);
	assert_int_equal(done->res, 5);
	end(&run);
	close(fd);
}

static void on_signal(int number)
{
	(void)number;
}

static void *kick_later(void *thread)
{
	usleep(50000);
	pthread_kill(*(pthread_t *)thread, SIGUSR1);
	return NULL;
}

static void test_signal(void **state)
{
	struct run run;
	struct io *done;
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t self = pthread_self(), kicker;
	int fd;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	begin_on_fifo(&run, &fd);
	assert_int_equal(pthread_create(&kicker, NULL, kick_later, &self), 0);

	uint64_t start_ns = clock_now_ns();

	assert_int_equal(engine_uring.reap(run.state, &done, 1, 1, 10 * NSEC_PER_SEC), 0);
	assert_true(clock_now_ns() - start_ns < 5 * NSEC_PER_SEC);
	pthread_join(kicker, NULL);
	end(&run);
	close(fd);
}

/* A completion that is there is not lost because others are still awaited. */
static void test_timeout_with_some(void **state)
{
	struct run run;
	struct io *done[4], *sync = NULL;
	int fd;

	(void)state;
	begin_on_fifo(&run, &fd);
	sync = &run.ios[1];
	sync->op = IO_FSYNC;
	assert_int_equal(engine_uring.submit(run.state, &sync, 1), 1);
	assert_int_equal(engine_uring.reap(run.state, done, 2, 4, 100 * NSEC_PER_MSEC), 1);
	assert_ptr_equal(done[0], sync);
	assert_int_equal(sync->res, -EINVAL);
	end(&run);
	close(fd);
}

static void choose(struct engine_choice *choice, const char *wanted, bool direct, int want)
{
	int fd = open_temp(O_RDWR | (direct ? O_DIRECT : 0));
	struct engine_wish wish = {.name = wanted,
	                           .fd = fd,
	                           .direct = direct,
	                           .may_write = true,
	                           .bytes = BLOCK,
	                           .depth = 16,
	                           .jobs = 4};
	struct err err = {0};
	int ret = engine_choose(choice, &wish, &err);

	if (ret != want)
		print_message("%s\n", err.text);
	assert_int_equal(ret, want);
	/* The trial leaves no trace. */
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
}

static void test_choose_auto(void **state)
{
	struct engine_choice choice;

	(void)state;
	choose(&choice, "auto", false, 0);
	assert_non_null(choice.engine);
	assert_non_null(strstr(choice.reason, choice.engine->name));
	assert_non_null(strstr(choice.reason, "a trial request was served"));
}

static void test_choose_auto_direct(void **state)
{
	struct engine_choice choice;

	(void)state;
	choose(&choice, "auto", true, 0);
	assert_non_null(strstr(choice.reason, "a trial request was served"));
}

static char steps[16];

static void on_step(void *arg, bool of_volume)
{
	assert_ptr_equal(arg, &steps);
	snprintf(steps + strlen(steps), sizeof(steps) - strlen(steps), "%c", of_volume ? 'V' : 'k');
}

/* What the kernel does for many states is not the volume's time. */
static void test_choose_tells_its_steps(void **state)
{
	int fd = open_temp(O_RDWR);
	struct engine_wish wish = {.name = "psync",
	                           .fd = fd,
	                           .may_write = true,
	                           .bytes = BLOCK,
	                           .depth = 4,
	                           .jobs = 4,
	                           .step = on_step,
	                           .arg = &steps};
	struct engine_choice choice;
	struct err err;

	(void)state;
	assert_int_equal(engine_choose(&choice, &wish, &err), 0);
	assert_string_equal(steps, "kVk");
	close(fd);
}

static void test_choose_named(void **state)
{
	struct engine_wish wish = {.name = "mmap", .bytes = 1, .depth = 1, .jobs = 1};
	struct engine_choice choice;
	struct err err;

	(void)state;
	choose(&choice, "psync", false, 0);
	assert_ptr_equal(choice.engine, &engine_psync);
	choose(&choice, "null", false, 0);
	assert_ptr_equal(choice.engine, &engine_null);
	assert_int_equal(engine_choose(&choice, &wish, &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
}

/* A file's own error is no reason to leave an engine; a wrong descriptor is such an error. */
static void test_choose_failing_file(void **state)
{
	int fd = open_temp(O_WRONLY);
	struct engine_wish wish = {
	        .name = "psync", .fd = fd, .bytes = BLOCK, .depth = 1, .jobs = 1};
	struct engine_choice choice;
	struct err err;

	(void)state;
	assert_int_equal(engine_choose(&choice, &wish, &err), 0);
	assert_non_null(strstr(choice.reason, "answered with: Bad file descriptor"));
	assert_int_equal(engine_try(&engine_psync, fd, IO_READ, 0, BLOCK, &err), -EBADF);
	assert_int_equal(err.errnum, EBADF);
	close(fd);
}

static void test_find(void **state)
{
	(void)state;
	assert_ptr_equal(engine_find("io_uring"), &engine_uring);
	assert_ptr_equal(engine_find("libaio"), &engine_aio);
	assert_null(engine_find("auto"));
	assert_null(engine_find(""));
}

static void test_null(void **state)
{
	struct run run;
	struct io *batch[8], *done[8];

	(void)state;
	begin(&run, &engine_null, -1, 8);
	for (unsigned i = 0; i < 8; i++) {
		batch[i] = &run.ios[i];
		batch[i]->op = i == 3 ? IO_FSYNC : IO_READ;
	}
	for (int round = 0; round < 5; round++) {
		assert_int_equal(engine_null.submit(run.state, batch, 8), 8);
		assert_int_equal(engine_null.reap(run.state, done, 1, 3, 0), 3);
		assert_int_equal(engine_null.reap(run.state, done + 3, 1, 8, 0), 5);
		assert_ptr_equal(done[7], batch[7]);
		assert_int_equal(batch[3]->res, 0);
		assert_int_equal(batch[4]->res, BLOCK);
	}
	end(&run);
}

static int make_work_dir(void **state)
{
	(void)state;
	return mkdtemp(work_dir) ? 0 : -1;
}

static int remove_work_dir(void **state)
{
	static const char *const names[] = {"data", "fifo"};
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", work_dir, names[i]);
		unlink(path);
	}
	return rmdir(work_dir);
}

#define ON(test, engine)                                             \
	{                                                            \
#test " " #engine, test, NULL, NULL, (void *)&engine \
	}
#define ON_ALL(test) ON(test, engine_uring), ON(test, engine_aio), ON(test, engine_psync)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ON_ALL(test_round_trip),
	        ON_ALL(test_round_trip_direct),
	        ON_ALL(test_batch),
	        cmocka_unit_test(test_the_batch_grows_where_all_is_answered),
	        ON(test_many_rounds, engine_uring),
	        ON(test_many_rounds, engine_aio),
	        ON_ALL(test_end_of_file),
	        ON_ALL(test_read_of_write_only),
	        ON_ALL(test_error_in_batch),
	        ON_ALL(test_sync),
	        ON_ALL(test_poll_without_waiting),
	        cmocka_unit_test(test_timeout),
	        cmocka_unit_test(test_timeout_with_some),
	        cmocka_unit_test(test_signal),
	        cmocka_unit_test(test_choose_auto),
	        cmocka_unit_test(test_choose_auto_direct),
	        cmocka_unit_test(test_choose_named),
	        cmocka_unit_test(test_choose_tells_its_steps),
	        cmocka_unit_test(test_choose_failing_file),
	        cmocka_unit_test(test_find),
	        cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests(tests, make_work_dir, remove_work_dir);
}
