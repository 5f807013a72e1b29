/*
 * kind: table. Bulk delete in Azure Table storage: fill a table (or take one that an earlier run
 * filled), then query and delete its partitions, several at a time.
 *
 *	claim -> fill, a thread a partition -> delete, the same way -> sum
 *
 * The window is the deletion alone, from the moment that all threads have a connection to make
 * until the last one has done its last partition. Waits before retries are part of it.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/units.h"
#include "base/workers.h"
#include "kinds/evidence.h"
#include "kinds/kind.h"
#include "kinds/table_secret.h"
#include "kinds/table_work.h"

#define LOOK_NS     (100 * NSEC_PER_MSEC)
#define TELL_NS     (5 * NSEC_PER_SEC)
#define STACK_BYTES (1 * MIB)

_Static_assert(PLAN_TABLE_THREADS_MAX <= WORKERS_MAX, "more threads than there may be");
_Static_assert(PLAN_TABLE_BATCH_MAX == TABLE_BATCH_MAX, "a batch that the service refuses");

typedef int table_work(struct table_worker *worker, unsigned partition, struct err *err);

/* Threads at one phase of a test. */
struct pool {
	struct kind_env *env;
	const struct plan_table *plan;
	struct table_service service;
	table_work *work;
	bool measured;
	struct table_worker *workers; /* owned */
	unsigned n;
	atomic_uint next; /* partition */
	atomic_bool given_up;
	pthread_mutex_t lock;
	struct err err; /* of the first that failed */
	struct evidence evidence;
	uint64_t start_ns;
	atomic_ullong end_ns; /* of the last one that ended */
};

struct thread {
	struct pool *pool;
	struct table_worker *worker;
};

/* ---- a thread ---- */

static int prepare(void *arg, struct err *err)
{
	struct thread *thread = arg;

	return table_worker_init(thread->worker, &thread->pool->service, thread->pool->measured,
	                         err);
}

static void keep_error(struct pool *pool, const struct err *err)
{
	pthread_mutex_lock(&pool->lock);
	if (!atomic_load(&pool->given_up) && !atomic_load(pool->env->stop))
		pool->err = *err;
	atomic_store(&pool->given_up, true);
	pthread_mutex_unlock(&pool->lock);
}

static void body(void *arg, uint64_t start_ns)
{
	struct thread *thread = arg;
	struct pool *pool = thread->pool;
	struct table_worker *worker = thread->worker;
	unsigned long long last_ns = 0, now_ns;
	struct err err;

	worker->client.start_ns = start_ns;
	while (!atomic_load(&pool->given_up) && !atomic_load(pool->env->stop)) {
		unsigned partition = atomic_fetch_add(&pool->next, 1);

		if (partition >= pool->plan->partitions)
			break;
		if (pool->work(worker, partition, &err))
			keep_error(pool, &err);
	}
	now_ns = clock_now_ns();
	last_ns = atomic_load(&pool->end_ns);
	while (last_ns < now_ns && !atomic_compare_exchange_weak(&pool->end_ns, &last_ns, now_ns))
		;
}

static int gate(void *arg, struct err *err)
{
	struct pool *pool = arg;
	const struct load_params by_amount = {.requests = 1};

	if (pool->measured && kind_starts(pool->env, err))
		return -1;
	if (pool->measured)
		evidence_begin(&pool->evidence, &by_amount);
	pool->start_ns = clock_now_ns();
	return 0;
}

/* ---- all of them ---- */

struct pace {
	uint64_t told_ns, entities, transactions;
};

static struct pace count_live(struct pool *pool)
{
	struct pace sum = {.told_ns = clock_now_ns()};

	for (unsigned i = 0; i < pool->n; i++) {
		struct table_client *client = &pool->workers[i].client;

		sum.entities += atomic_load_explicit(&client->live_entities, memory_order_relaxed);
		sum.transactions +=
		        atomic_load_explicit(&client->live_transactions, memory_order_relaxed);
	}
	return sum;
}

static double per_second(uint64_t n, uint64_t span_ns)
{
	return span_ns ? (double)n * NSEC_PER_SEC / (double)span_ns : 0;
}

/* Now and then a line of how far it is. */
static void tell(struct pool *pool, struct pace *before)
{
	struct pace now = count_live(pool);
	uint64_t span_ns = now.told_ns - before->told_ns;
	uint64_t share = pool->measured ? plan_table_share(pool->plan) : pool->plan->entities;
	char line[160];

	if (span_ns < TELL_NS)
		return;
	snprintf(line, sizeof(line),
	         "%s %llu of %llu entities, %.0f entities/s, %.0f transactions/s",
	         pool->measured ? "deleted" : "inserted", (unsigned long long)now.entities,
	         (unsigned long long)(share * pool->plan->partitions),
	         per_second(now.entities - before->entities, span_ns),
	         per_second(now.transactions - before->transactions, span_ns));
	kind_says(pool->env, line);
	*before = now;
}

static void watch(struct pool *pool, struct workers *workers)
{
	struct pace pace = {.told_ns = clock_now_ns()};

	do {
		kind_works(pool->env, pool->measured ? "deleting entities" : "inserting entities");
		tell(pool, &pace);
	} while (workers_wait(workers, LOOK_NS));
}

static int start_and_watch(struct pool *pool, struct thread *threads, struct err *err)
{
	const struct workers_body workers_body = {.prepare = prepare,
	                                          .run = body,
	                                          .stack_bytes = STACK_BYTES,
	                                          .gate = gate,
	                                          .gate_arg = pool};
	void *args[PLAN_TABLE_THREADS_MAX];
	struct workers *workers;

	for (unsigned i = 0; i < pool->n; i++)
		args[i] = &threads[i];
	if (workers_start(&workers, &workers_body, args, pool->n, err))
		return -1;
	watch(pool, workers);
	if (pool->measured)
		evidence_end(&pool->evidence, &(struct load_progress){0});
	workers_join(workers);
	return 0;
}

static int pool_run(struct pool *pool, struct err *err)
{
	struct thread *threads;
	int ret;

	pool->n = (unsigned)min_u64(pool->plan->concurrency, pool->plan->partitions);
	pool->workers = calloc(pool->n, sizeof(*pool->workers));
	threads = calloc(pool->n, sizeof(*threads));
	if (!pool->workers || !threads) {
		free(threads);
		return err_set(err, ERR_TEST, "out of memory for %u threads", pool->n);
	}
	for (unsigned i = 0; i < pool->n; i++) {
		pool->workers[i].plan = pool->plan;
		pool->workers[i].next = &pool->next;
		pool->workers[i].number = i;
		threads[i] = (struct thread){pool, &pool->workers[i]};
	}
	ret = start_and_watch(pool, threads, err);
	free(threads);
	if (!ret && atomic_load(&pool->given_up) && !atomic_load(pool->env->stop)) {
		*err = pool->err;
		ret = -1;
	}
	return ret;
}

static int pool_init(struct pool *pool, const struct test *test, struct kind_env *env,
                     table_work *work, bool measured, struct err *err)
{
	memset(pool, 0, sizeof(*pool));
	pool->env = env;
	pool->plan = &test->table;
	pool->work = work;
	pool->measured = measured;
	pthread_mutex_init(&pool->lock, NULL);
	evidence_open(&pool->evidence, -1);
	if (table_service_init(&pool->service, test, err))
		return -1;
	pool->service.stop = env->stop;
	pool->service.given_up = &pool->given_up;
	return 0;
}

static void pool_destroy(struct pool *pool)
{
	for (unsigned i = 0; pool->workers && i < pool->n; i++)
		table_worker_destroy(&pool->workers[i]);
	free(pool->workers);
	evidence_close(&pool->evidence);
	pthread_mutex_destroy(&pool->lock);
}

/* ---- what they gave ---- */

static void add_counts(struct table_result *sum, const struct table_result *one)
{
	sum->found += one->found;
	sum->deleted += one->deleted;
	sum->confirmed += one->confirmed;
	sum->gone += one->gone;
	sum->answered += one->answered;
	sum->throttled += one->throttled;
	sum->failed += one->failed;
	sum->unanswered += one->unanswered;
	sum->retried += one->retried;
	sum->backoff_ns += one->backoff_ns;
	sum->up_bytes += one->up_bytes;
	sum->down_bytes += one->down_bytes;
	sum->wait_ns += one->wait_ns;
	sum->receive_ns += one->receive_ns;
}

/* What is left, as far as it is known. */
static void settle(struct table_result *result, bool complete)
{
	uint64_t less = table_deleted(result) + result->gone;
	uint64_t share = result->cutoff ? result->cutoff : result->entities;

	result->complete = complete;
	if (!complete && result->filled)
		result->remaining =
		        result->partitions * share - min_u64(less, result->partitions * share);
}

static int add_up(struct pool *pool, struct test_result *tr, bool complete, struct err *err)
{
	uint64_t end_ns = atomic_load(&pool->end_ns);

	tr->stats = stats_new();
	if (!tr->stats)
		return err_set(err, ERR_TEST, "out of memory for statistics");
	for (unsigned i = 0; i < pool->n; i++) {
		const struct table_client *client = &pool->workers[i].client;

		add_counts(&tr->table, &client->counts);
		if (client->stats)
			stats_merge(tr->stats, client->stats);
	}
	if (pool->start_ns && end_ns > pool->start_ns)
		tr->runtime_ns = end_ns - pool->start_ns;
	evidence_sum(&pool->evidence, &tr->usage);
	tr->usage.bytes = (double)NAN; /* it knows those of a load */
	snprintf(tr->table.host, sizeof(tr->table.host), "%.*s", TABLE_HOST_MAX - 1,
	         pool->service.host);
	settle(&tr->table, complete);
	return 0;
}

/* A batch whose answer was lost may have been done, so it is at most that many. */
static void append_remaining(const struct table_result *result, struct err *err)
{
	uint64_t share = result->cutoff ? result->cutoff : result->entities;

	if (result->filled)
		err_append(err, "; at most %llu of %llu entities remain",
		           (unsigned long long)result->remaining,
		           (unsigned long long)(share * result->partitions));
	else
		err_append(err, "; %llu entities were deleted, how many remain is not known",
		           (unsigned long long)table_deleted(result));
}

/* ---- phases ---- */

static void say_wait(void *arg, const char *what)
{
	kind_works(arg, what);
}

static int claim(const struct test *test, struct kind_env *env, struct err *err)
{
	struct table_service service;
	struct table_client client;
	int ret;

	if (table_service_init(&service, test, err))
		return -1;
	service.stop = env->stop;
	kind_works(env, "looking at the table");
	ret = table_client_init(&client, &service, false, err);
	if (!ret)
		ret = table_claim(&client, test->table.fill, say_wait, env, err);
	table_client_destroy(&client);
	return ret;
}

static int fill(const struct test *test, struct kind_env *env, struct table_result *result,
                struct err *err)
{
	struct pool pool;
	int ret = pool_init(&pool, test, env, table_fill_partition, false, err);

	if (!ret)
		ret = pool_run(&pool, err);
	for (unsigned i = 0; pool.workers && i < pool.n; i++)
		result->filled += pool.workers[i].client.counts.filled;
	if (pool.start_ns)
		result->fill_ns = atomic_load(&pool.end_ns) - pool.start_ns;
	pool_destroy(&pool);
	return ret ? err_wrap(err, "fill") : 0;
}

static int drop(struct table_worker *worker, unsigned partition, struct err *err)
{
	(void)partition; /* the only one */
	return table_drop(&worker->client, worker->plan->entities, err);
}

static int delete (const struct test *test, struct kind_env *env, struct test_result *tr,
                   struct err *err)
{
	struct test whole = *test;
	bool drops = test->table.strategy == STRATEGY_DROP_TABLE;
	struct pool pool;
	int ret;

	if (drops) {
		whole.table.entities *= whole.table.partitions;
		whole.table.partitions = 1;
	}
	ret = pool_init(&pool, &whole, env, drops ? drop : table_empty_partition, true, err);
	if (!ret)
		ret = pool_run(&pool, err);
	if (pool.start_ns && add_up(&pool, tr, !ret && !atomic_load(env->stop), err))
		ret = -1;
	if (ret && tr->stats)
		append_remaining(&tr->table, err);
	pool_destroy(&pool);
	return ret;
}

static int run(const struct test *test, struct kind_env *env, struct test_result *tr,
               struct err *err)
{
	if (claim(test, env, err))
		return atomic_load(env->stop) ? 0 : -1;
	if (test->table.fill && fill(test, env, &tr->table, err))
		return -1;
	if (atomic_load(env->stop))
		return 0;
	if (delete (test, env, tr, err))
		return -1;
	if (!atomic_load(env->stop))
		kind_measured(env);
	return 0;
}

static int check(const struct test *test, const struct target *target, const struct host *host,
                 struct preview *preview, struct err *err)
{
	struct table_service service;

	(void)target;
	(void)host;
	if (preview)
		*preview = (struct preview){0};
	if (test->peers > 1)
		return err_set(err, ERR_PLAN, "kind table runs in one process, without peers");
	return table_service_init(&service, test, err);
}

const struct kind kind_table = {
        .name = PLAN_KIND_TABLE,
        .check = check,
        .run = run,
};
