/* links: base/crc32c.c base/err.c base/workers.c load/buffers.c load/fill.c load/ledger.c
 * load/load.c load/pattern.c load/seal.c load/verify.c load/worker.c measure/hist.c
 * measure/stats.c */
/*
 * What is known of blocks when requests meet, fail or are never answered; whole loads on a
 * disk in memory that lies; the ledger.
 */
#include "load/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "load/fill.h"
#include "load/load.h"
#include "load/seal.h"

#define UNIT   512u
#define BLOCKS 64u

static struct verify *verify;
static unsigned char disk[BLOCKS * UNIT], memory[4][UNIT];
static char directory[] = "/tmp/t_verify.XXXXXX", ledger_name[64];

static int set_up(void **state)
{
	struct random data;
	struct err err;

	(void)state;
	memset(disk, 0, sizeof(disk));
	random_seed(&data, 1, 1);
	fill_random(&data, memory, sizeof(memory));
	assert_int_equal(verify_prepare(&verify, "run", UNIT, &err), 0);
	assert_int_equal(verify_cover(verify, 0, sizeof(disk), &err), 0);
	verify_begin(verify, false);
	return 0;
}

static int tear_down(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(verify_free(verify, &err), 0);
	verify = NULL;
	unlink(ledger_name);
	return 0;
}

/* A request to block n, with data of its own. */
struct io_of_test {
	enum io_op op;
	struct verify_data data;
	struct verify_request request;
};

static struct io_of_test sent(enum io_op op, unsigned n, unsigned char *data)
{
	struct io_of_test io = {op, {0, (uint64_t)n * UNIT, UNIT, data}, {0}};

	verify_sent(verify, op, &io.data, &io.request);
	return io;
}

static void reach_disk(const struct io_of_test *io)
{
	if (io->op == IO_WRITE)
		memcpy(disk + io->data.offset, io->data.data, UNIT);
	else
		memcpy(io->data.data, disk + io->data.offset, UNIT);
}

static void done(const struct io_of_test *io, bool ok)
{
	verify_done(verify, io->op, &io->data, &io->request, ok);
}

static void write_block(unsigned n)
{
	struct io_of_test io = sent(IO_WRITE, n, memory[3]);

	reach_disk(&io);
	done(&io, true);
}

static void read_block(unsigned n)
{
	struct io_of_test io = sent(IO_READ, n, memory[3]);

	reach_disk(&io);
	done(&io, true);
}

/* And the counts start anew. */
static void counts(uint64_t checked, uint64_t mismatches, uint64_t crossed)
{
	struct verify_counts got;
	struct err err;

	assert_int_equal(verify_end(verify, &got, &err), mismatches ? -1 : 0);
	assert_int_equal(got.checked, checked);
	assert_int_equal(got.mismatches, mismatches);
	assert_int_equal(got.crossed, crossed);
	verify_begin(verify, false);
}

/* ---- one request after another ---- */

static void test_only_what_was_written_is_checked(void **state)
{
	(void)state;
	read_block(0);
	counts(0, 0, 0);
	write_block(0);
	read_block(0);
	read_block(1);
	counts(1, 0, 0);
}

static void test_a_lost_write(void **state)
{
	struct verify_counts got;
	struct err err;
	struct io_of_test io;

	(void)state;
	write_block(2);
	io = sent(IO_WRITE, 2, memory[0]);
	done(&io, true);
	read_block(2);
	assert_int_equal(verify_end(verify, &got, &err), -1);
	assert_int_equal(err.class, ERR_TEST);
	assert_string_equal(err.text,
	                    "1 of 1 blocks checked do not hold what was written; the first: block "
	                    "at offset 1024 of file 0: expected sequence 2, found sequence 1, what "
	                    "lay there before (a write that was acknowledged is lost)");
}

static void test_a_failed_write_may_be_there_or_not(void **state)
{
	struct io_of_test io;

	(void)state;
	write_block(0);
	io = sent(IO_WRITE, 0, memory[0]);
	done(&io, false);
	read_block(0);
	reach_disk(&io);
	read_block(0);
	counts(2, 0, 0);
	disk[100] ^= 1; /* or in part */
	read_block(0);
	counts(0, 0, 1);
	write_block(0); /* but one that succeeded counts again */
	disk[100] ^= 1;
	read_block(0);
	counts(1, 1, 0);
}

static void test_a_write_that_is_not_answered(void **state)
{
	struct io_of_test io;

	(void)state;
	write_block(0);
	io = sent(IO_WRITE, 0, memory[0]);
	read_block(0);
	counts(0, 0, 1);
	reach_disk(&io);
	read_block(0);
	counts(0, 0, 1);
}

/* ---- requests that meet ---- */

/* Two writes at once, acknowledged in either order: either lies there, or parts of both. */
static void test_writes_that_cross(void **state)
{
	(void)state;
	for (unsigned order = 0; order < 4; order++) {
		struct io_of_test io[2] = {0};

		write_block(0);
		io[0] = sent(IO_WRITE, 0, memory[0]);
		io[1] = sent(IO_WRITE, 0, memory[1]);
		done(&io[order & 1], true);
		done(&io[!(order & 1)], true);
		reach_disk(&io[order >> 1]);
		read_block(0);
		counts(1, 0, 0);
		memcpy(disk, memory[!(order >> 1)], 100);
		read_block(0);
		counts(0, 0, 1);
	}
}

static void test_what_lay_there_before_writes_that_cross(void **state)
{
	struct io_of_test first, second;

	(void)state;
	write_block(0);
	first = sent(IO_WRITE, 0, memory[0]);
	second = sent(IO_WRITE, 0, memory[1]);
	done(&first, true);
	done(&second, true);
	read_block(0);
	counts(1, 1, 0);
}

static void test_a_write_alone_ends_it(void **state)
{
	struct io_of_test first, second;

	(void)state;
	first = sent(IO_WRITE, 0, memory[0]);
	second = sent(IO_WRITE, 0, memory[1]);
	done(&second, true);
	done(&first, true);
	write_block(0);
	read_block(0);
	counts(1, 0, 0);
	reach_disk(&second);
	read_block(0);
	counts(1, 1, 0);
}

/* Whichever began or ended first. */
static void test_a_read_that_crosses_a_write(void **state)
{
	(void)state;
	write_block(0);
	for (unsigned order = 0; order < 4; order++) {
		struct io_of_test read, write;

		if (order & 1)
			read = sent(IO_READ, 0, memory[0]);
		write = sent(IO_WRITE, 0, memory[1]);
		if (!(order & 1))
			read = sent(IO_READ, 0, memory[0]);
		reach_disk(&read);
		reach_disk(&write);
		if (order & 2)
			done(&write, true);
		done(&read, true);
		if (!(order & 2))
			done(&write, true);
		counts(0, 0, 1);
	}
	read_block(0);
	counts(1, 0, 0);
}

/* ---- what is void ---- */

static void test_cut_and_forgotten(void **state)
{
	struct err err;

	(void)state;
	write_block(0);
	write_block(9);
	memset(disk, 0, sizeof(disk));
	assert_int_equal(verify_cut(verify, 0, 9 * UNIT, &err), 0);
	read_block(9);
	counts(0, 0, 0);
	read_block(0);
	counts(1, 1, 0);
	assert_true(verify_knows(verify));
	assert_int_equal(verify_forget(verify, &err), 0);
	assert_false(verify_knows(verify));
	read_block(0);
	counts(0, 0, 0);
}

static void test_another_unit_forgets(void **state)
{
	struct err err;

	(void)state;
	write_block(0);
	assert_int_equal(verify_prepare(&verify, "run", UNIT, &err), 0);
	assert_true(verify_knows(verify));
	assert_int_equal(verify_prepare(&verify, "run", 2 * UNIT, &err), 0);
	assert_false(verify_knows(verify));
}

static void test_only_what_the_test_wrote(void **state)
{
	(void)state;
	write_block(1);
	verify_begin(verify, false);
	write_block(5);
	assert_false(verify_wrote(verify, 0, 0, 5 * UNIT));
	assert_true(verify_wrote(verify, 0, 5 * UNIT, UNIT));
	assert_true(verify_wrote(verify, 0, 0, 6 * UNIT));
	assert_false(verify_wrote(verify, 0, 6 * UNIT, sizeof(disk)));
	assert_int_equal(verify_written_end(verify, 0), 6 * UNIT);
	verify_begin(verify, false);
	assert_int_equal(verify_written_end(verify, 0), 0);
}

/* ---- whole loads, on a disk in memory ---- */

static _Atomic unsigned writes, lost_write; /* lost_write: its number, from 1; 0: none */

static int disk_open(void **state, const struct engine_params *params, struct err *err)
{
	(void)params;
	(void)err;
	*state = calloc(1, sizeof(struct io *));
	return 0;
}

static int disk_submit(void *state, struct io *const *ios, unsigned n)
{
	struct io *io = ios[0];

	(void)n;
	if (io->op == IO_WRITE && ++writes != lost_write)
		memcpy(disk + io->offset, io->buf, io->len);
	if (io->op == IO_READ)
		memcpy(io->buf, disk + io->offset, io->len);
	io->res = (int)io->len;
	*(struct io **)state = io;
	return 1;
}

static int disk_reap(void *state, struct io **ios, unsigned min, unsigned max, uint64_t timeout_ns)
{
	struct io **io = state;
	int n = *io && max;

	(void)min;
	(void)timeout_ns;
	if (n)
		ios[0] = *io;
	*io = NULL;
	return n;
}

static const struct engine engine_disk = {"disk", 1, disk_open, disk_submit, disk_reap, free};

static void run(unsigned read_percent, bool read_back)
{
	struct load_job job = {
	        .fd = -1,
	        .pattern = {.bytes = sizeof(disk),
	                    .block_bytes = 2 * UNIT,
	                    .read_percent = read_percent},
	};
	struct load_params params = {
	        .engine = &engine_disk,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = 1,
	        .align = 512,
	        .requests = BLOCKS / 2,
	        .verify = verify,
	        .read_back = read_back,
	};
	struct load_outcome outcome;
	struct load *load;
	struct err err;

	assert_int_equal(load_start(&load, &params, &err), 0);
	assert_int_equal(load_finish(load, &outcome, &err), 0);
	stats_free(outcome.stats);
}

static void test_a_load_and_its_reading_back(void **state)
{
	(void)state;
	writes = lost_write = 0;
	run(0, false);
	run(100, true);
	counts(BLOCKS, 0, 0);
	run(100, true); /* a test that wrote nothing */
	counts(0, 0, 0);
	run(100, false);
	counts(BLOCKS, 0, 0);
	lost_write = writes + 3;
	run(0, false);
	run(100, true);
	counts(BLOCKS, 2, 0);
}

/* ---- the ledger ---- */

struct told {
	struct ledger_record record[64];
	unsigned n;
};

static void hear(void *arg, const struct ledger_record *record, uint64_t number)
{
	struct told *told = arg;

	assert_int_equal(number, told->n);
	assert_true(told->n < ARRAY_SIZE(told->record));
	told->record[told->n++] = *record;
}

static int set_up_ledger(void **state)
{
	const struct ledger_head head = {.run_id = "run", .target = "/data"};
	struct ledger *ledger;
	struct err err;

	set_up(state);
	snprintf(ledger_name, sizeof(ledger_name), "%s/ledger", directory);
	assert_int_equal(ledger_create(&ledger, ledger_name, &head, &err), 0);
	assert_int_equal(verify_keep(verify, ledger, &err), 0);
	return 0;
}

static void read_ledger(struct told *told)
{
	struct ledger_head head;
	struct err err;

	*told = (struct told){0};
	assert_int_equal(ledger_read(ledger_name, &head, hear, told, &err), 0);
	assert_string_equal(head.run_id, "run");
	assert_string_equal(head.target, "/data");
}

/* A write is told after it was acknowledged, a sync covers what was told before it was sent. */
static void test_ledger_tells_what_happened(void **state)
{
	struct io_of_test write, sync;
	struct told told;
	struct err err;

	(void)state;
	write_block(4);
	sync = sent(IO_FDATASYNC, 0, NULL);
	write = sent(IO_WRITE, 5, memory[0]);
	done(&write, true);
	done(&sync, true);
	write = sent(IO_WRITE, 6, memory[0]); /* not acknowledged */
	done(&write, false);
	assert_int_equal(ledger_flush(verify_ledger(verify), &err), 0);
	read_ledger(&told);
	assert_int_equal(told.n, 5);
	assert_int_equal(told.record[0].kind, LEDGER_START);
	assert_int_equal(told.record[0].bytes, UNIT);
	assert_int_equal(told.record[1].kind, LEDGER_LIMIT);
	assert_true(told.record[1].sequence >= 3);
	assert_int_equal(told.record[2].kind, LEDGER_WRITE);
	assert_int_equal(told.record[2].offset, 4 * UNIT);
	assert_int_equal(told.record[2].sequence, 1);
	assert_int_equal(told.record[2].before, 1);
	assert_int_equal(told.record[3].offset, 5 * UNIT);
	assert_int_equal(told.record[4].kind, LEDGER_SYNC);
	assert_int_equal(told.record[4].before, 3);
}

static void test_ledger_of_writes_that_cross(void **state)
{
	struct io_of_test first, second;
	struct told told;
	struct err err;

	(void)state;
	verify_begin(verify, true);
	first = sent(IO_WRITE, 0, memory[0]);
	second = sent(IO_WRITE, 0, memory[1]);
	done(&second, true);
	done(&first, true);
	assert_int_equal(ledger_flush(verify_ledger(verify), &err), 0);
	read_ledger(&told);
	assert_int_equal(told.record[2].kind, LEDGER_STABLE);
	assert_int_equal(told.record[2].sequence, 2);
	assert_int_equal(told.record[2].before, 1);
	assert_int_equal(told.record[3].sequence, 1);
	assert_int_equal(told.record[3].before, 1);
}

/* However much of its end is missing: what is read is what was written first. */
static void test_ledger_cut_off_anywhere(void **state)
{
	struct told whole, part;
	struct err err;
	struct stat st;
	unsigned least = UINT32_MAX;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		write_block(i);
		assert_int_equal(ledger_flush(verify_ledger(verify), &err), 0);
	}
	read_ledger(&whole);
	assert_int_equal(whole.n, 7);
	assert_int_equal(stat(ledger_name, &st), 0);
	for (off_t cut = 1; cut < 360; cut += 7) {
		assert_int_equal(truncate(ledger_name, st.st_size - cut), 0);
		read_ledger(&part);
		assert_true(part.n <= least);
		assert_memory_equal(part.record, whole.record, part.n * sizeof(part.record[0]));
		least = part.n;
	}
	assert_true(least < whole.n);
}

/* A frame counts whole or not at all, and nothing counts behind one that does not. */
static void test_ledger_with_changed_bytes(void **state)
{
	struct told whole, part;
	struct err err;
	struct stat st;
	int fd;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		write_block(i);
		assert_int_equal(ledger_flush(verify_ledger(verify), &err), 0);
	}
	read_ledger(&whole);
	assert_int_equal(stat(ledger_name, &st), 0);
	fd = open(ledger_name, O_RDWR);
	for (off_t at = st.st_size - 1; at > st.st_size - 100; at -= 3) {
		char was, now;

		assert_int_equal(pread(fd, &was, 1, at), 1);
		now = (char)(was ^ 4);
		assert_int_equal(pwrite(fd, &now, 1, at), 1);
		read_ledger(&part);
		assert_true(part.n < whole.n);
		assert_memory_equal(part.record, whole.record, part.n * sizeof(part.record[0]));
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	close(fd);
}

static void test_ledger_is_never_overwritten(void **state)
{
	const struct ledger_head head = {0};
	struct ledger *other;
	struct err err;

	(void)state;
	assert_int_equal(ledger_create(&other, ledger_name, &head, &err), -1);
	assert_int_equal(err.errnum, EEXIST);
	assert_int_equal(verify_end(verify, &(struct verify_counts){0}, &err), 0);
}

static void test_no_ledger(void **state)
{
	struct ledger_head head;
	struct err err;
	int fd = open(ledger_name, O_WRONLY | O_TRUNC);

	(void)state;
	assert_int_equal(write(fd, "something else", 14), 14);
	close(fd);
	assert_int_equal(ledger_read(ledger_name, &head, hear, NULL, &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
	assert_int_equal(ledger_read("/nowhere", &head, hear, NULL, &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
}

#define TEST(f)        cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define LEDGER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_ledger, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_only_what_was_written_is_checked),
	        TEST(test_a_lost_write),
	        TEST(test_a_failed_write_may_be_there_or_not),
	        TEST(test_a_write_that_is_not_answered),
	        TEST(test_writes_that_cross),
	        TEST(test_what_lay_there_before_writes_that_cross),
	        TEST(test_a_write_alone_ends_it),
	        TEST(test_a_read_that_crosses_a_write),
	        TEST(test_cut_and_forgotten),
	        TEST(test_another_unit_forgets),
	        TEST(test_only_what_the_test_wrote),
	        TEST(test_a_load_and_its_reading_back),
	        LEDGER_TEST(test_ledger_tells_what_happened),
	        LEDGER_TEST(test_ledger_of_writes_that_cross),
	        LEDGER_TEST(test_ledger_cut_off_anywhere),
	        LEDGER_TEST(test_ledger_with_changed_bytes),
	        LEDGER_TEST(test_ledger_is_never_overwritten),
	        LEDGER_TEST(test_no_ledger),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
