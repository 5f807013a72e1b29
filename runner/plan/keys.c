/*
 * The field table is the plan's language: plan/value.c reads by it, docs/plan.md and
 * docs/plan.schema.json are printed from it. What single values cannot show, two keys
 * that exclude each other, stands in plan/check.c.
 */
#include "plan/plan.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

#define SIZE_MAX_BYTES      (KIB * KIB * GIB) /* 1 PiB */
#define BLOCK_MIN_BYTES     512
#define HTTP_TIMEOUT_MAX_NS (3600 * NSEC_PER_SEC)
#define HTTP_BODY_MAX       (512 * KIB) /* a relay takes 1 MiB */
#define RUNTIME_MIN_NS      (10 * NSEC_PER_MSEC)
#define TIME_MAX_NS         (168 * 3600 * NSEC_PER_SEC)
#define MEMORY_TIMES_MAX    64
#define THETA_DEFAULT       1.1 /* as in fio */
#define THETA_MAX           10
#define PERCENTILE_MIN      50
#define PERCENTILE_MAX      99.99 /* beyond it lie too few requests of any step */

static const char *const rw_choices[] = {
        "read", "write", "randread", "randwrite", "rw|readwrite", "randrw", NULL,
};
/* Of direct and limits_probe. */
static const char *const auto_choices[] = {
        "auto",
        "true|yes|on|1",
        "false|no|off|0",
        NULL,
};
static const char *const sync_choices[] = {
        "none|false|no|off|0",
        "sync|true|yes|on|1",
        "dsync",
        NULL,
};
static const char *const buffer_choices[] = {"random", "zero", NULL};
static const char *const layout_choices[] = {"full", "none", NULL};
static const char *const http_choices[] = {"1.1", "2", NULL};
static const char *const verify_choices[] = {"none|false|no|off", "crc32c", NULL};

static const char *const strategy_choices[] = {"batch", "single", "drop-table", NULL};
static const char *const select_choices[] = {"keys", "all", NULL};

static const char *const destroy_choices[] = {
        "false|no|off|0",
        "true|yes|on|1",
        "anything",
        NULL,
};

/* As in kinds/kind.c. */
static const char *const kinds[] = {"block",        PLAN_KIND_PROBE, PLAN_KIND_PERSIST,
                                    PLAN_KIND_HOPS, PLAN_KIND_TABLE, NULL};
static const char *const engines[] = {"auto", "io_uring", "libaio", "psync", "null", NULL};

/* "50%": the number before the suffix, or false. */
static bool parse_with_suffix(const char *text, const char *suffix, uint64_t max, uint64_t *value)
{
	size_t length = strspn(text, "0123456789");

	if (!length || length > 4 || strcmp(text + length, suffix) != 0)
		return false;
	*value = strtoull(text, NULL, 10);
	return *value >= 1 && *value <= max;
}

static int parse_size(void *slot, const char *text, struct err *err)
{
	struct plan_size *size = slot;
	struct plan_size read = {.unit = SIZE_BYTES};

	if (parse_with_suffix(text, "%", 100, &read.value))
		read.unit = SIZE_PERCENT_FREE;
	else if (parse_with_suffix(text, "xmem", MEMORY_TIMES_MAX, &read.value))
		read.unit = SIZE_X_MEMORY;
	else if (units_parse_size(text, &read.value, err))
		return -1;
	if (read.unit == SIZE_BYTES &&
	    (read.value < BLOCK_MIN_BYTES || read.value > SIZE_MAX_BYTES))
		return err_set(err, ERR_PLAN, "'%s' is out of range", text);
	*size = read;
	return 0;
}

static bool parse_theta(const char *text, double *theta)
{
	return units_parse_decimal(text, theta) && *theta > 0 && *theta <= THETA_MAX &&
	       fabs(*theta - 1) > 1e-9;
}

static int parse_distribution(void *slot, const char *text, struct err *err)
{
	struct plan_distribution *distribution = slot;
	struct plan_distribution zipf = {DISTRIBUTION_ZIPF, THETA_DEFAULT};

	if (!strcmp(text, "uniform") || !strcmp(text, "random"))
		*distribution = (struct plan_distribution){.shape = DISTRIBUTION_UNIFORM};
	else if (!strcmp(text, "zipf") ||
	         (!strncmp(text, "zipf:", 5) && parse_theta(text + 5, &zipf.theta)))
		*distribution = zipf;
	else
		return err_set(err, ERR_PLAN, "'%s' is not a distribution", text);
	return 0;
}

/* Words that end up in file names and in one table column. */
static int parse_label(char *slot, size_t size, const char *text, const char *what, struct err *err)
{
	size_t length = strlen(text);

	if (!length || length >= size)
		return err_set(err, ERR_PLAN, "'%.32s%s' is not a %s", text, length ? "..." : "",
		               what);
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return err_set(err, ERR_PLAN, "'%s' is not a %s", text, what);
	memcpy(slot, text, length + 1);
	return 0;
}

static int parse_name(void *slot, const char *text, struct err *err)
{
	return parse_label(slot, PLAN_NAME_MAX, text, "name", err);
}

static int parse_key(void *slot, const char *text, struct err *err)
{
	return parse_label(slot, PLAN_KEY_MAX, text, "key", err);
}

/* Only the plan itself can say it: plan/chains.c reads it there. */
static int parse_chains(void *slot, const char *text, struct err *err)
{
	(void)slot;
	(void)text;
	return err_set(err, ERR_PLAN, "a mapping of names to lists of hops, in the plan itself");
}

/* Azure's rule. */
static int parse_table(void *slot, const char *text, struct err *err)
{
	size_t length = strlen(text);

	if (length < 3 || length >= sizeof(((struct plan_table *)0)->name) ||
	    !isalpha((unsigned char)*text))
		return err_set(err, ERR_PLAN, "'%.64s' is no table's name", text);
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p))
			return err_set(err, ERR_PLAN, "'%s' is no table's name", text);
	memcpy(slot, text, length + 1);
	return 0;
}

static int parse_percentile(void *slot, const char *text, struct err *err)
{
	double percent;

	if (!units_parse_decimal(text, &percent) || percent < PERCENTILE_MIN ||
	    percent > PERCENTILE_MAX)
		return err_set(err, ERR_PLAN, "'%s' is no percentile that can be searched", text);
	*(double *)slot = percent;
	return 0;
}

/* One of the words, into a text of PLAN_NAME_MAX. */
static int parse_word(void *slot, const char *text, const char *const *words, const char *what,
                      struct err *err)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			snprintf(slot, PLAN_NAME_MAX, "%s", text);
			return 0;
		}
	}
	return err_set(err, ERR_PLAN, "'%s' is not %s", text, what);
}

static int parse_kind(void *slot, const char *text, struct err *err)
{
	return parse_word(slot, text, kinds, "a kind of test", err);
}

static int parse_engine(void *slot, const char *text, struct err *err)
{
	return parse_word(slot, text, engines, "an engine", err);
}

/* The slot is the whole test: one expression more. */
static int parse_expect(void *slot, const char *text, struct err *err)
{
	struct test *test = slot;

	assert(test->n_expect < PLAN_EXPECT_MAX); /* the row says how many */
	if (expect_parse(&test->expect[test->n_expect], text, err))
		return -1;
	test->n_expect++;
	return 0;
}

#define PLAN_KINDS_IO     "block " PLAN_KIND_PROBE
#define PLAN_KINDS_VOLUME PLAN_KINDS_IO " " PLAN_KIND_PERSIST
#define PLAN_KINDS_ASK    PLAN_KIND_PROBE " " PLAN_KIND_HOPS

#define AT(member)   .offset = offsetof(struct test, member)
#define TEXT(member) AT(member), .size = sizeof(((struct test *)0)->member)

const struct field plan_fields[] = {
        {.name = "name",
         .type = FIELD_CUSTOM,
         AT(name),
         .flags = FIELD_SINGLE,
         .parse = parse_name,
         .pattern = "[A-Za-z0-9_-]{1,127}",
         .allowed = "up to 127 characters of A-Z a-z 0-9 _ -",
         .help = "The test's name, unique in the plan."},
        {.name = "kind",
         .type = FIELD_CUSTOM,
         .flags = FIELD_SINGLE,
         AT(kind),
         .parse = parse_kind,
         .pattern = "block|" PLAN_KIND_PROBE "|" PLAN_KIND_PERSIST "|" PLAN_KIND_HOPS
                    "|" PLAN_KIND_TABLE,
         .allowed = "block, probe, persist, hops, table",
         .default_text = "block",
         .help = "What sort of test it is; `block` reads and writes blocks of a file or device, "
                 "`probe` asks for one block after the other, with pauses, and tells each, "
                 "`persist` writes a file that stays, or looks whether it is there, `hops` calls "
                 "services through each other, `table` deletes entities in Azure Table storage; "
                 "both need no target."},
        {.name = "target",
         .kinds = PLAN_KINDS_VOLUME,
         .type = FIELD_STRING,
         TEXT(target),
         .default_text = "/data",
         .help = "Where to measure: a directory (the mount of a volume) or a block device, which "
                 "needs `destroy: true` to be written to."},
        {.name = "filename",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_STRING,
         TEXT(filename),
         .help = "An existing file to use in place of our own, relative to the target or absolute. "
                 "It is never laid out and never removed; writing to it needs `destroy: true`."},
        {.name = "rw",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CHOICE,
         AT(rw),
         .choices = rw_choices,
         .default_text = "read",
         .help = "The pattern: sequential `read`, `write`, `rw` (mixed; also `readwrite`), or at "
                 "random offsets `randread`, `randwrite`, `randrw`."},
        {.name = "rwmixread",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_UINT,
         AT(rwmixread),
         .max = 100,
         .default_text = "50",
         .help = "Percent of the requests that read, of `rw` and `randrw`; the others ignore it."},
        {.name = "bs",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_SIZE,
         AT(bs),
         .min = BLOCK_MIN_BYTES,
         .max = GIB,
         .default_text = "4KiB",
         .help = "Bytes of one request."},
        {.name = "iodepth",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(iodepth),
         .min = 1,
         .max = PLAN_DEPTH_MAX,
         .default_text = "1",
         .help = "Requests that each job keeps outstanding. psync does it with as many threads, so "
                 "that a depth means the same for every engine."},
        {.name = "numjobs",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(numjobs),
         .min = 1,
         .max = PLAN_JOBS_MAX,
         .default_text = "1",
         .help = "Jobs that do the same at once, each a thread."},
        {.name = "size",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CUSTOM,
         AT(size),
         .parse = parse_size,
         .pattern = "[0-9]+(\\.[0-9]+)?([kKmMgGtTpP]?[iI]?[bB]?|%|xmem)",
         .allowed = "512B to 1PiB, 1% to 100% of the free space, 1xmem to 64xmem",
         .default_text = "10GiB",
         .help = "Bytes of the file that a job works on, from `offset` on; `N%` of the free space "
                 "or `Nxmem`, N times the memory. Shrunk to what the volume holds, which is said. "
                 "`N%` of an object store, or of a volume without a capacity, is 1GiB."},
        {.name = "size",
         .kinds = PLAN_KIND_PERSIST,
         .type = FIELD_SIZE,
         AT(key_bytes),
         .min = BLOCK_MIN_BYTES,
         .max = PLAN_KEY_BYTES_MAX,
         .default_text = "1MiB",
         .help = "Bytes that `step: write` puts into the file. Said of the test itself, not as a "
                 "default of all."},
        {.name = "step",
         .kinds = PLAN_KIND_PERSIST,
         .type = FIELD_CHOICE,
         AT(step),
         .choices = plan_step_names,
         .default_text = "write",
         .help = "What is done with the file `pvcbench-persist-KEY` of the target: `write` it, "
                 "synced, in the place of an earlier one; `expect` it with the bytes that were "
                 "written; `expect-absent`: it fails where it is there; `remove` it."},
        {.name = "key",
         .kinds = PLAN_KIND_PERSIST,
         .type = FIELD_CUSTOM,
         AT(key),
         .parse = parse_key,
         .pattern = "[A-Za-z0-9_-]{1,63}",
         .allowed = "up to 63 characters of A-Z a-z 0-9 _ -",
         .default_text = "key",
         .help = "Which file: those who write and look for the same one name the same key."},
        {.name = "wait",
         .kinds = PLAN_KIND_PERSIST,
         .type = FIELD_TIME,
         AT(wait_ns),
         .max = TIME_MAX_NS,
         .default_text = "0",
         .help = "How long `expect` waits for the file, and `expect-absent` goes on looking. 0: "
                 "one look."},
        {.name = "endpoint",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_STRING,
         TEXT(table.endpoint),
         .help = "URL of the Table service. Without it `https://ACCOUNT.table.core.windows.net`."},
        {.name = "account",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_STRING,
         TEXT(table.account),
         .help = "The storage account. Without it the one in `AZURE_STORAGE_ACCOUNT`."},
        {.name = "key_file",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_STRING,
         TEXT(table.key_file),
         .help = "A file, such as a mounted Secret, whose first line is the account's key. Without "
                 "it `AZURE_STORAGE_KEY` counts. It is never shown."},
        {.name = "sas_file",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_STRING,
         TEXT(table.sas_file),
         .help = "The same of a SAS token, in place of the key; or `AZURE_STORAGE_SAS_TOKEN`."},
        {.name = "table",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_CUSTOM,
         AT(table.name),
         .parse = parse_table,
         .pattern = "[A-Za-z][A-Za-z0-9]{2,62}",
         .allowed = "3 to 63 letters and digits, a letter first",
         .default_text = "pvcbench",
         .help = "The table. One that pvcbench did not make is refused."},
        {.name = "partitions",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.partitions),
         .min = 1,
         .max = PLAN_TABLE_PARTITIONS_MAX,
         .default_text = "100",
         .help = "Partitions of the table, `pvcbench-000000` and so on."},
        {.name = "entities",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.entities),
         .min = 1,
         .max = PLAN_TABLE_ENTITIES_MAX,
         .default_text = "1000",
         .help = "Entities of each partition; their row keys are ten digits."},
        {.name = "entity_bytes",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_SIZE,
         AT(table.entity_bytes),
         .max = PLAN_TABLE_ENTITY_MAX,
         .default_text = "1KiB",
         .help = "Of an entity that `fill` inserts: the letters of its one property."},
        {.name = "fill",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_BOOL,
         AT(table.fill),
         .default_text = "true",
         .help = "Make the table where it is not there, and insert all entities before the test. "
                 "`false`: delete what an earlier run left of them."},
        {.name = "cutoff",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.cutoff),
         .max = PLAN_TABLE_ENTITIES_MAX,
         .default_text = "0",
         .help = "Delete the first so many of each partition, by their row keys, and keep the "
                 "others. 0: all."},
        {.name = "concurrency",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.concurrency),
         .min = 1,
         .max = PLAN_TABLE_THREADS_MAX,
         .default_text = "32",
         .help = "Partitions at a time, each with a thread and a connection."},
        {.name = "batch",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.batch),
         .min = 1,
         .max = PLAN_TABLE_BATCH_MAX,
         .default_text = "100",
         .help = "Entities of a transaction, of `strategy: batch`."},
        {.name = "select",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_CHOICE,
         AT(table.select),
         .choices = select_choices,
         .default_text = "keys",
         .help = "What a query fetches of each entity: its `keys`, which suffice to delete it, or "
                 "`all` of it."},
        {.name = "strategy",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_CHOICE,
         AT(table.strategy),
         .choices = strategy_choices,
         .default_text = "batch",
         .help = "`batch`: query, then delete `batch` entities a transaction; `single`: one by "
                 "one; `drop-table`: the whole table in one transaction (with `fill: true`)."},
        {.name = "retries",
         .kinds = PLAN_KIND_TABLE,
         .type = FIELD_UINT,
         AT(table.retries),
         .max = PLAN_TABLE_RETRIES_MAX,
         .default_text = "5",
         .help = "Of a request that was throttled or not answered, after 1 s, 2 s and so on, or "
                 "what the service asks for. Then the test fails."},
        {.name = "offset",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_SIZE,
         AT(offset),
         .max = SIZE_MAX_BYTES,
         .default_text = "0",
         .help = "Where in the file the work starts."},
        {.name = "offset_increment",
         .kinds = "block",
         .type = FIELD_SIZE,
         AT(offset_increment),
         .max = SIZE_MAX_BYTES,
         .default_text = "0",
         .help = "Job number j (from 0) starts at `offset` + j times this in the file that the "
                 "jobs share. Without effect under `file_per_job`, where each starts at `offset` "
                 "of its own."},
        {.name = "file_per_job",
         .kinds = "block",
         .type = FIELD_BOOL,
         AT(file_per_job),
         .default_text = "false",
         .help = "Each job has a file of its own, of `size` each, where otherwise all jobs share "
                 "one."},
        {.name = "shared",
         .type = FIELD_BOOL,
         AT(shared),
         .default_text = "false",
         .help = "Peers (`--peers`) work on one file, which index 0 lays out, where otherwise each "
                 "has its own. Their jobs are numbered through: with `offset_increment` at least "
                 "`size` each works on a part of its own, with 0 all on the same."},
        {.name = "peers_timeout",
         .type = FIELD_TIME,
         AT(peers_timeout_ns),
         .max = TIME_MAX_NS,
         .default_text = "10m",
         .help = "How long index 0 of several peers waits for the others before a test, and they "
                 "for index 0; who has not come by then is named, and the run ends. 0: no limit."},
        {.name = "runtime",
         .kinds = PLAN_KINDS_IO " " PLAN_KIND_HOPS,
         .type = FIELD_TIME,
         AT(runtime_ns),
         .min = RUNTIME_MIN_NS,
         .max = TIME_MAX_NS,
         .default_text = "60s",
         .help = "How long to measure, after `ramp_time`; the work starts over when the file is "
                 "done."},
        {.name = "requests",
         .kinds = PLAN_KINDS_ASK,
         .type = FIELD_UINT,
         AT(requests),
         .max = 1000000000,
         .default_text = "0",
         .help = "In place of `runtime`: this many requests, of hops through each chain. 0: "
                 "`runtime` counts."},
        {.name = "interval",
         .kinds = PLAN_KIND_PROBE,
         .type = FIELD_TIME,
         AT(interval_ns),
         .max = TIME_MAX_NS,
         .default_text = "1s",
         .help = "Pause from the end of a request to the start of the next one."},
        {.name = "interval",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_TIME,
         AT(pause_ns),
         .max = TIME_MAX_NS,
         .default_text = "0",
         .help = "Pause between two requests of a chain, in which the other chains have theirs. "
                 "Said of the test itself, not "
                 "as a default of all."},
        {.name = PLAN_CHAINS,
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_CUSTOM,
         .flags = FIELD_SINGLE | FIELD_EXPLAINS,
         .parse = parse_chains,
         .pattern = "",
         .allowed = "names, each with a list of hops",
         .help = "Which services are called through each other, in which order: a mapping of up to "
                 "8 names to lists of up to 16 hops, each with a `url` and `headers`. Requests go "
                 "through the chains in turn."},
        {.name = "warmup",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_UINT,
         AT(warmup),
         .max = 1000,
         .default_text = "1",
         .help = "Requests through each chain before those that are measured: what starts cold, or "
                 "connects first, is told apart."},
        {.name = "keepalive",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_BOOL,
         AT(keepalive),
         .default_text = "true",
         .help = "Keep connections to the first hop open. `false`: a new one, its name and its TLS "
                 "session too, for each request. What a hop does with the next one is its own."},
        {.name = "http_version",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_CHOICE,
         AT(http_version),
         .choices = http_choices,
         .default_text = "1.1",
         .help = "What is spoken with the first hop. `2` is agreed on by TLS, and a test without "
                 "https, or of a server that has only 1.1, goes on with that."},
        {.name = "timeout",
         .kinds = PLAN_KIND_HOPS " " PLAN_KIND_TABLE,
         .type = FIELD_TIME,
         AT(timeout_ns),
         .min = NSEC_PER_MSEC,
         .max = HTTP_TIMEOUT_MAX_NS,
         .default_text = "15s",
         .help = "How long a request may take, with all that lies behind it."},
        {.name = "ca_file",
         .kinds = PLAN_KIND_HOPS " " PLAN_KIND_TABLE,
         .type = FIELD_STRING,
         TEXT(ca_file),
         .help = "The certificates (PEM) to trust, of a chain for its first hop, in place of "
                 "`SSL_CERT_FILE` "
                 "or those of the image."},
        {.name = "body_bytes",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_SIZE,
         AT(body_bytes),
         .max = HTTP_BODY_MAX,
         .default_text = "0",
         .help = "Bytes that a request carries through all hops beside the chain itself."},
        {.name = "ramp_time",
         .kinds = "block",
         .type = FIELD_TIME,
         AT(ramp_time_ns),
         .max = TIME_MAX_NS,
         .default_text = "10s",
         .help = "How long to work before measuring. A test bounded by `loops` or `io_size` has "
                 "none."},
        {.name = "loops",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(loops),
         .max = 1000000,
         .default_text = "0",
         .help = "In place of `runtime`: this many passes over `size`. 0: `runtime` counts."},
        {.name = "io_size",
         .kinds = "block",
         .type = FIELD_SIZE,
         AT(io_size),
         .max = SIZE_MAX_BYTES,
         .default_text = "0",
         .help = "In place of `runtime`: this many bytes by each job, more or less than `size`. 0: "
                 "`runtime` counts."},
        {.name = "ioengine",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CUSTOM,
         AT(ioengine),
         .parse = parse_engine,
         .pattern = "auto|io_uring|libaio|psync|null",
         .allowed = "auto, io_uring, libaio, psync, null",
         .default_text = "auto",
         .help = "How requests reach the kernel. `auto` takes io_uring, else libaio, else psync, "
                 "by trying; a name is a demand, and the test fails where it is refused. `null` "
                 "moves nothing: it shows the cost of the program itself."},
        {.name = "direct",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CHOICE,
         AT(direct),
         .choices = auto_choices,
         .default_text = "auto",
         .help = "Past the page cache (O_DIRECT). `auto` falls back to buffered where that is "
                 "refused, and says so; `true` is a demand; `false` measures with the page cache."},
        {.name = "fsync",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(fsync),
         .max = 1000000000,
         .default_text = "0",
         .help = "fsync after this many writes. 0: never."},
        {.name = "fdatasync",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(fdatasync),
         .max = 1000000000,
         .default_text = "0",
         .help = "fdatasync after this many writes. 0: never."},
        {.name = "end_fsync",
         .kinds = "block",
         .type = FIELD_BOOL,
         AT(end_fsync),
         .default_text = "false",
         .help = "fsync once at the end of the writes."},
        {.name = "sync",
         .kinds = "block",
         .type = FIELD_CHOICE,
         AT(sync),
         .choices = sync_choices,
         .default_text = "none",
         .help = "Open the file O_SYNC (`sync` or `true`) or O_DSYNC (`dsync`), so that each write "
                 "returns when it is stable."},
        {.name = "rate_iops",
         .kinds = "block",
         .type = FIELD_UINT,
         AT(rate_iops),
         .max = 1000000000,
         .default_text = "0",
         .help = "Open loop: requests a second by each job, due at fixed times whatever the volume "
                 "does; latency counts from the due time. k is 1000 here (fio: 1024). 0: closed "
                 "loop."},
        {.name = "rate",
         .kinds = "block",
         .type = FIELD_SIZE,
         AT(rate),
         .max = SIZE_MAX_BYTES,
         .default_text = "0",
         .help = "The same as bytes a second by each job. 0: closed loop."},
        {.name = "rate",
         .kinds = PLAN_KIND_HOPS,
         .type = FIELD_UINT,
         AT(requests_rate),
         .max = 1000000,
         .default_text = "0",
         .help = "Open loop: requests a second, over all chains in turn, due at fixed times; "
                 "latency counts from the due time. Said of the test itself, not as a default of "
                 "all. 0: closed loop."},
        {.name = "thinktime",
         .kinds = "block",
         .type = FIELD_TIME,
         AT(thinktime_ns),
         .max = TIME_MAX_NS,
         .default_text = "0",
         .help = "Pause of a job after each request. A bare number is seconds (fio: us)."},
        {.name = "latency_target",
         .kinds = "block",
         .type = FIELD_TIME,
         AT(latency_target_ns),
         .max = TIME_MAX_NS,
         .default_text = "0",
         .help = "Search, in open loops, for the highest rate whose `latency_percentile` stays "
                 "within this time; `iodepth` bounds what may be outstanding. `runtime`, of 5s or "
                 "more, is that of the whole search. (fio searches for a depth.) 0: no search."},
        {.name = "latency_percentile",
         .kinds = "block",
         .type = FIELD_CUSTOM,
         AT(latency_percentile),
         .min = 50,
         .max = 100,
         .parse = parse_percentile,
         .pattern = "(5[0-9]|[6-9][0-9])(\\.[0-9]+)?",
         .allowed = "50 to 99.99",
         .default_text = "99",
         .help = "Of `latency_target`: the percentile of the slower of reads and writes (fio: 100 "
                 "where none is given, of both together)."},
        {.name = "random_distribution",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CUSTOM,
         AT(random_distribution),
         .parse = parse_distribution,
         .pattern = "uniform|random|zipf(:[0-9]+(\\.[0-9]+)?)?",
         .allowed = "uniform, zipf:THETA with THETA above 0, at most 10 and not 1",
         .default_text = "uniform",
         .help = "How random offsets spread: `uniform` (fio: random), or `zipf:THETA`, few places "
                 "hit often (`zipf` alone: 1.1)."},
        {.name = "randommap",
         .kinds = "block",
         .type = FIELD_BOOL,
         AT(randommap),
         .default_text = "false",
         .help = "Each block once per pass in random order, as fio does unless norandommap. "
                 "Otherwise offsets are drawn with replacement."},
        {.name = "randseed",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_UINT,
         AT(randseed),
         .max = UINT64_MAX,
         .default_text = "0",
         .help = "Start of the random numbers. 0: a new one each run, named in the result."},
        {.name = "buffer",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CHOICE,
         AT(buffer),
         .choices = buffer_choices,
         .default_text = "random",
         .help = "What is written: `random` data that neither compresses nor repeats, or `zero`."},
        {.name = "layout",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CHOICE,
         AT(layout),
         .choices = layout_choices,
         .default_text = "full",
         .help = "`full`: the file is written and synced before the test, so that reads find data "
                 "and writes overwrite. `none`: writes go to fresh space, which is often slower "
                 "and said; reads only of a device (below /dev) or a `filename`, which hold "
                 "something anyway."},
        {.name = "layout_time",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_TIME,
         AT(layout_time_ns),
         .max = TIME_MAX_NS,
         .default_text = "0",
         .help = "Limit of the layout; then the test goes on with the part that is there, and says "
                 "so, as do later tests of the run that have a limit. 0: no limit."},
        {.name = "answer_time",
         .type = FIELD_TIME,
         AT(answer_time_ns),
         .max = TIME_MAX_NS,
         .default_text = "5m",
         .help = "How long the volume may leave a call unanswered, or all requests of a layout or "
                 "of a test by amount, before the test fails. 0: no limit. A test by time ends "
                 "with its time."},
        {.name = "verify",
         .kinds = "block",
         .type = FIELD_CHOICE,
         AT(verify),
         .choices = verify_choices,
         .default_text = "none",
         .help = "`crc32c`: each block that is written says where it belongs and which write it is "
                 "of, under a checksum. What is read is checked, and what a test wrote is read "
                 "back after it; a mismatch fails the test. It takes CPU time between the "
                 "requests, so rates may be lower."},
        {.name = "ledger",
         .kinds = "block",
         .type = FIELD_STRING,
         TEXT(ledger),
         .help = "With `verify`: a new file, not on the volume, that tells what of the writes was "
                 "acknowledged and synced. The files of the run stay, and `pvcbench verify LEDGER` "
                 "says, also after a crash, whether all is there that must be."},
        {.name = "limits_probe",
         .kinds = "block",
         .type = FIELD_CHOICE,
         AT(limits_probe),
         .choices = auto_choices,
         .default_text = "auto",
         .help = "After a closed loop by time, a quarter of its runtime more, 1 s to 5 s: a step "
                 "at "
                 "twice the depth and one at depth 1 tell whether the depth was the limit. Before "
                 "random reads some blocks are read twice, which tells of caches; mostly in less "
                 "than a second, at most 5 s. Neither is counted in any figure. `auto`: with "
                 "tests of 10 s and more; `true`: with shorter ones too; `false`: never. That of "
                 "the first test holds for its repetition at the plan's end too, which tells the "
                 "drift."},
        {.name = "repeat",
         .type = FIELD_UINT,
         AT(repeat),
         .flags = FIELD_SINGLE,
         .min = 1,
         .max = PLAN_REPEATS_MAX,
         .default_text = "1",
         .help = "Run the test this many times, as NAME-1, NAME-2 and so on; mean, deviation and a "
                 "95 % "
                 "interval of them are shown."},
        {.name = "strict",
         .type = FIELD_BOOL,
         AT(strict),
         .default_text = "false",
         .help = "A concession (a smaller file, another engine, buffered for direct) is an error."},
        {.name = "destroy",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CHOICE,
         AT(destroy),
         .choices = destroy_choices,
         .default_text = "false",
         .help = "Permission to overwrite the block device or the existing file that is named. A "
                 "device whose first or last MiB is not zero holds something, and is refused all "
                 "the same unless `anything` is said; then both are zeroed. Tests that write to "
                 "a device keep off both, so that the next run finds them zero."},
        {.name = "clean",
         .type = FIELD_BOOL,
         AT(clean),
         .default_text = "false",
         .help = "Remove from the target what other dead runs left, before the first test. Without "
                 "it only the leftover of an earlier attempt of the same Job goes; others are "
                 "named."},
        {.name = "container_fs",
         .type = FIELD_BOOL,
         AT(container_fs),
         .default_text = "false",
         .help = "A target on the container's own root file system, which the node's disk holds, "
                 "is refused without it."},
        {.name = "expect",
         .kinds = PLAN_KINDS_IO,
         .type = FIELD_CUSTOM,
         .offset = 0,
         .flags = FIELD_LIST | FIELD_EXPLAINS,
         .max = PLAN_EXPECT_MAX,
         .parse = parse_expect,
         .pattern =
                 "\\s*((read|write|sync)\\.(iops|mean|min|max|stddev|p[0-9.]+)|(read|write)\\.bw|"
                 "errors|stall)"
                 "\\s*(>=|<=|==|>|<)\\s*[0-9][0-9.]*[A-Za-z]*(/s)?\\s*",
         .allowed = "up to 8 such as read.iops >= 20000, write.bw >= 300MiB/s, sync.p99 < 10ms, "
                    "errors == 0, stall <= 1s",
         .help = "Thresholds; when one is not met, or cannot be judged, the exit code is 99."},
};
const size_t plan_n_fields = ARRAY_SIZE(plan_fields);

const struct field plan_top_fields[PLAN_TOP_KEYS] = {
        [PLAN_TOP_VERSION] = {.name = "version", .type = FIELD_UINT, .min = 1, .max = 1},
        [PLAN_TOP_TESTS] = {.name = "tests"},
        [PLAN_TOP_DELIVER] = {.name = "deliver"},
};
