/*
 * For every block: the newest sequence sent, the oldest that may lie there, and how many
 * writes are under way. Sequences count the writes of all files.
 *
 *	sent 7       in flight 1, newest 7
 *	done 7       in flight 0, oldest 7
 *	sent 8, 9    in flight 2, newest 9, crossed: group began with 8
 *	done 9, 8    in flight 0, oldest 8: 8 or 9 lies there, or parts of both
 *
 * A write that failed, or was never answered, may lie there or not, or in part: from then on
 * the block counts as crossed, until a write alone was acknowledged.
 *
 * One lock guards it all, held for some loads and stores. Headers and checksums are made and
 * checked outside of it.
 */
#include "load/verify.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "load/seal.h"

/* Sequences that a ledger promises in one go, long before the ones before are used up. */
#define LIMIT_STEP (1ull << 20)

struct block {
	uint64_t newest : 42;    /* sent */
	uint64_t in_flight : 21; /* writes; jobs times depth of them at most */
	uint64_t crossed : 1;
	uint64_t oldest; /* that may lie there; 0: nothing of ours need be there */
	uint64_t group;  /* the first of the writes under way since none was */
};

struct file {
	struct block *blocks;
	uint64_t n;
};

struct verify {
	uint64_t run;
	uint32_t unit;
	bool knows;
	bool stable;
	bool held;
	struct ledger *ledger;
	pthread_mutex_t lock; /* of all below */
	uint64_t sequence, limit, begin;
	struct file files[LEDGER_FILES_MAX];
	struct verify_counts counts;
	char first[SEAL_TEXT_MAX]; /* mismatch */
};

/* ---- what is known ---- */

uint64_t verify_bytes(uint64_t bytes, uint32_t unit)
{
	return (bytes + unit - 1) / unit * sizeof(struct block);
}

static void drop_blocks(struct file *file)
{
	if (file->blocks)
		munmap(file->blocks, file->n * sizeof(*file->blocks));
	*file = (struct file){0};
}

static void clear(struct file *file, uint64_t from)
{
	if (from < file->n)
		memset(file->blocks + from, 0, (file->n - from) * sizeof(*file->blocks));
}

/* What the ledger must hold before the run goes on. */
static int record(struct verify *v, const struct ledger_record *record, struct err *err)
{
	if (!v->ledger)
		return 0;
	ledger_append(v->ledger, record);
	return ledger_flush(v->ledger, err);
}

static int start_anew(struct verify *v, struct err *err)
{
	v->knows = false;
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		clear(&v->files[i], 0);
	return record(v, &(struct ledger_record){.kind = LEDGER_START, .bytes = v->unit}, err);
}

int verify_prepare(struct verify **verify, const char *run_id, uint32_t unit, struct err *err)
{
	struct verify *v = *verify;

	assert(unit >= SEAL_PIECE);
	if (v && v->held)
		return err_set(err, ERR_TEST,
		               "nothing can be verified any more: requests of an earlier test did "
		               "not come back");
	if (v && v->unit == unit)
		return 0;
	if (!v) {
		v = *verify = calloc(1, sizeof(*v));
		if (!v)
			return err_set(err, ERR_TARGET, "out of memory for verify");
		v->run = seal_run(run_id);
		pthread_mutex_init(&v->lock, NULL);
	}
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		drop_blocks(&v->files[i]);
	v->unit = unit;
	return start_anew(v, err);
}

int verify_cover(struct verify *v, unsigned file, uint64_t bytes, struct err *err)
{
	struct file *f = &v->files[file];
	uint64_t n = (bytes + v->unit - 1) / v->unit, size = n * sizeof(struct block);
	void *blocks;

	assert(file < LEDGER_FILES_MAX);
	v->knows = true;
	if (n <= f->n)
		return 0;
	blocks =
	        f->n ? mremap(f->blocks, f->n * sizeof(struct block), size, MREMAP_MAYMOVE)
	             : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (blocks == MAP_FAILED)
		return err_set(err, ERR_TARGET,
		               "out of memory for verify: it remembers %llu blocks (lower size)",
		               (unsigned long long)n);
	*f = (struct file){blocks, n};
	return 0;
}

int verify_keep(struct verify *v, struct ledger *ledger, struct err *err)
{
	v->ledger = ledger;
	v->limit = v->sequence + LIMIT_STEP;
	ledger_append(ledger, &(struct ledger_record){.kind = LEDGER_START, .bytes = v->unit});
	return record(v, &(struct ledger_record){.kind = LEDGER_LIMIT, .sequence = v->limit}, err);
}

struct ledger *verify_ledger(struct verify *v)
{
	return v ? v->ledger : NULL;
}

bool verify_knows(const struct verify *v)
{
	return v->knows;
}

int verify_cut(struct verify *v, unsigned file, uint64_t bytes, struct err *err)
{
	uint64_t from;

	if (!v || !v->knows)
		return 0;
	from = (bytes + v->unit - 1) / v->unit;
	if (from >= v->files[file].n)
		return 0;
	clear(&v->files[file], from);
	return record(v,
	              &(struct ledger_record){
	                      .kind = LEDGER_CUT, .file = (uint16_t)file, .offset = from * v->unit},
	              err);
}

int verify_forget(struct verify *v, struct err *err)
{
	return v && v->knows ? start_anew(v, err) : 0;
}

void verify_begin(struct verify *v, bool stable)
{
	v->stable = stable;
	v->begin = v->sequence;
	v->counts = (struct verify_counts){0};
	v->first[0] = '\0';
}

/* ---- requests ---- */

/* The blocks of a request, and how many. */
static struct block *blocks_of(struct verify *v, const struct verify_data *data, uint64_t *n)
{
	struct file *file = &v->files[data->file];
	uint64_t first = data->offset / v->unit;

	*n = data->bytes / v->unit;
	assert(data->offset % v->unit == 0 && data->bytes % v->unit == 0);
	assert(first + *n <= file->n);
	return file->blocks + first;
}

/* Promise more sequences well before they are needed. */
static void raise_limit(struct verify *v)
{
	if (!v->ledger || v->sequence + LIMIT_STEP / 2 < v->limit)
		return;
	v->limit += LIMIT_STEP;
	ledger_append(v->ledger,
	              &(struct ledger_record){.kind = LEDGER_LIMIT, .sequence = v->limit});
}

static void write_sent(struct verify *v, const struct verify_data *data,
                       struct verify_request *request)
{
	uint64_t n;
	struct block *b = blocks_of(v, data, &n);

	request->sequence = ++v->sequence;
	for (uint64_t i = 0; i < n; i++) {
		if (b[i].in_flight)
			b[i].crossed = true;
		else
			b[i].group = request->sequence;
		b[i].in_flight++;
		b[i].newest = request->sequence;
	}
	raise_limit(v);
}

static void read_sent(struct verify *v, const struct verify_data *data,
                      struct verify_request *request)
{
	uint64_t n;
	const struct block *b = blocks_of(v, data, &n);

	request->sequence = v->sequence;
	request->crossed = false;
	for (uint64_t i = 0; i < n; i++)
		request->crossed |= b[i].in_flight > 0;
}

static void seal(const struct verify *v, const struct verify_data *data, uint64_t sequence)
{
	struct seal_place place = {.run = v->run, .file = data->file};

	for (uint32_t at = 0; at < data->bytes; at += v->unit) {
		place.offset = data->offset + at;
		seal_block((unsigned char *)data->data + at, v->unit, &place, sequence);
	}
}

void verify_sent(struct verify *v, enum io_op op, const struct verify_data *data,
                 struct verify_request *request)
{
	pthread_mutex_lock(&v->lock);
	if (op == IO_WRITE)
		write_sent(v, data, request);
	else if (op == IO_READ)
		read_sent(v, data, request);
	else
		request->records = v->ledger ? ledger_count(v->ledger) : 0;
	pthread_mutex_unlock(&v->lock);
	if (op == IO_WRITE)
		seal(v, data, request->sequence);
}

/* Returns the oldest sequence that may lie in any of the blocks now. */
static uint64_t write_acknowledged(struct block *b, uint64_t n, uint64_t sequence)
{
	uint64_t oldest = sequence;

	for (uint64_t i = 0; i < n; i++) {
		bool alone = b[i].group == sequence && b[i].newest == sequence;
		uint64_t may = alone ? sequence : min_u64(b[i].group, sequence);

		if (alone)
			b[i].crossed = false;
		b[i].oldest = max_u64(b[i].oldest, may);
		oldest = min_u64(oldest, may);
	}
	return oldest;
}

static void write_done(struct verify *v, const struct verify_data *data, uint64_t sequence, bool ok)
{
	uint64_t n;
	struct block *b = blocks_of(v, data, &n);
	struct ledger_record record = {
	        .kind = v->stable ? LEDGER_STABLE : LEDGER_WRITE,
	        .sequence = sequence,
	        .file = (uint16_t)data->file,
	        .offset = data->offset,
	        .bytes = data->bytes,
	};

	for (uint64_t i = 0; i < n; i++)
		b[i].in_flight--;
	if (ok)
		record.before = write_acknowledged(b, n, sequence);
	for (uint64_t i = 0; i < n && !ok; i++)
		b[i].crossed = true;
	if (ok && v->ledger)
		ledger_append(v->ledger, &record);
}

static void count_crossed(struct verify *v)
{
	pthread_mutex_lock(&v->lock);
	v->counts.crossed++;
	pthread_mutex_unlock(&v->lock);
}

static void count_checked(struct verify *v, const struct seal_expected *expected,
                          const struct seal_found *found)
{
	pthread_mutex_lock(&v->lock);
	v->counts.checked++;
	if (found->look != SEAL_GOOD && !v->counts.mismatches++)
		seal_describe(expected, found, v->first);
	pthread_mutex_unlock(&v->lock);
}

/* Of writes that crossed, parts of both may lie there. */
static void check(struct verify *v, const struct seal_expected *expected, const void *data,
                  bool crossed)
{
	struct seal_found found = seal_check(data, v->unit, expected);
	bool parts = found.look == SEAL_DAMAGED || found.look == SEAL_UNKNOWN;

	if (crossed && parts)
		count_crossed(v);
	else
		count_checked(v, expected, &found);
}

static void check_block(struct verify *v, const struct verify_data *data,
                        const struct verify_request *request, const struct block *block)
{
	const struct seal_expected expected = {
	        .place = {.run = v->run, .file = data->file, .offset = data->offset},
	        .oldest = block->oldest,
	        .newest = block->newest,
	};

	if (!block->oldest)
		return;
	if (request->crossed || block->newest > request->sequence)
		count_crossed(v);
	else
		check(v, &expected, data->data, block->crossed);
}

static void read_done(struct verify *v, const struct verify_data *data,
                      const struct verify_request *request)
{
	for (uint32_t at = 0; at < data->bytes; at += v->unit) {
		const struct verify_data part = {data->file, data->offset + at, v->unit,
		                                 (unsigned char *)data->data + at};
		struct block block;
		uint64_t n;

		pthread_mutex_lock(&v->lock);
		block = *blocks_of(v, &part, &n);
		pthread_mutex_unlock(&v->lock);
		check_block(v, &part, request, &block);
	}
}

static void sync_done(struct verify *v, const struct verify_data *data,
                      const struct verify_request *request)
{
	if (v->ledger)
		ledger_append(v->ledger, &(struct ledger_record){.kind = LEDGER_SYNC,
		                                                 .file = (uint16_t)data->file,
		                                                 .before = request->records});
}

void verify_done(struct verify *v, enum io_op op, const struct verify_data *data,
                 const struct verify_request *request, bool ok)
{
	if (op == IO_READ) {
		if (ok)
			read_done(v, data, request);
		return;
	}
	pthread_mutex_lock(&v->lock);
	if (op == IO_WRITE)
		write_done(v, data, request->sequence, ok);
	else if (ok)
		sync_done(v, data, request);
	pthread_mutex_unlock(&v->lock);
}

/* ---- after a test ---- */

bool verify_wrote(struct verify *v, unsigned file, uint64_t offset, uint64_t bytes)
{
	const struct file *f = &v->files[file];
	uint64_t end = min_u64(f->n, (offset + bytes) / v->unit);
	bool wrote = false;

	pthread_mutex_lock(&v->lock);
	for (uint64_t i = offset / v->unit; i < end && !wrote; i++)
		wrote = f->blocks[i].newest > v->begin;
	pthread_mutex_unlock(&v->lock);
	return wrote;
}

uint64_t verify_written_end(struct verify *v, unsigned file)
{
	const struct file *f = &v->files[file];
	uint64_t n = f->n;

	pthread_mutex_lock(&v->lock);
	while (n && f->blocks[n - 1].newest <= v->begin)
		n--;
	pthread_mutex_unlock(&v->lock);
	return n * v->unit;
}

bool verify_is_broken(struct verify *v)
{
	return v->ledger && ledger_is_broken(v->ledger);
}

int verify_end(struct verify *v, struct verify_counts *counts, struct err *err)
{
	unsigned long long mismatches, checked;

	pthread_mutex_lock(&v->lock);
	*counts = v->counts;
	pthread_mutex_unlock(&v->lock);
	mismatches = counts->mismatches;
	checked = counts->checked;
	if (mismatches)
		return err_set(err, ERR_TEST,
		               "%llu of %llu blocks checked do not hold what was written; the "
		               "first: %s",
		               mismatches, checked, v->first);
	return v->ledger ? ledger_flush(v->ledger, err) : 0;
}

void verify_hold(struct verify *v)
{
	v->held = true;
}

int verify_free(struct verify *v, struct err *err)
{
	int ret = 0;

	if (!v)
		return 0;
	if (v->held)
		return v->ledger ? ledger_flush(v->ledger, err) : 0;
	if (v->ledger) {
		ledger_append(v->ledger, &(struct ledger_record){.kind = LEDGER_END});
		ret = ledger_close(v->ledger, err);
	}
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		drop_blocks(&v->files[i]);
	pthread_mutex_destroy(&v->lock);
	free(v);
	return ret;
}
