/*
 * A batch is applied as a whole or not at all. So where the answer to one was lost, and sending it
 * again finds a row missing, it was most likely done; whether it was is seen at the partition's
 * end, by asking for its rows once more: those that are there are deleted then, the others count
 * as confirmed. Where a row is missing from the first try on, somebody else deleted it, and the
 * batch is sent again without it.
 */
#include <string.h>

#include "kinds/table_work.h"

#define NEXT_MAX 2048 /* bytes of a continuation token */

/* Where a query goes on. */
struct cursor {
	char partition[NEXT_MAX], row[NEXT_MAX];
	bool has_partition, has_row;
};

static int keep_token(struct table_client *client, const char *name, char *out, bool *has,
                      struct err *err)
{
	const char *value = table_header(client, name);

	*has = value != NULL;
	if (value && strlen(value) >= NEXT_MAX)
		return err_set(err, ERR_TEST, "a query's continuation is longer than %d bytes",
		               NEXT_MAX);
	snprintf(out, NEXT_MAX, "%s", value ? value : "");
	return 0;
}

static int read_cursor(struct table_client *client, struct cursor *cursor, struct err *err)
{
	return keep_token(client, "x-ms-continuation-NextPartitionKey", cursor->partition,
	                  &cursor->has_partition, err) ||
	                       keep_token(client, "x-ms-continuation-NextRowKey", cursor->row,
	                                  &cursor->has_row, err)
	               ? -1
	               : 0;
}

static int query_page(struct table_worker *worker, const char *partition, struct cursor *cursor,
                      struct err *err)
{
	char url[2 * TABLE_URL_MAX], below[TABLE_KEY_MAX];
	struct wire wire = wire_of(url, sizeof(url));
	struct table_reply reply;

	table_row_name(plan_table_share(worker->plan), below);
	wire_query(&wire, &worker->client.service->place,
	           &(struct table_query){
	                   .partition = partition,
	                   .below = below,
	                   .keys_only = worker->plan->select == SELECT_KEYS,
	                   .next_partition = cursor->has_partition ? cursor->partition : NULL,
	                   .next_row = cursor->has_row ? cursor->row : NULL,
	           });
	if (wire.cut)
		return err_set(err, ERR_TEST, "a query's continuation makes its URL too long");
	if (table_call(&worker->client,
	               &(struct table_request){.method = "GET", .url = url, .op = STATS_READ},
	               &reply, err) ||
	    read_cursor(&worker->client, cursor, err))
		return -1;
	table_page_destroy(&worker->page);
	if (table_page_read(&worker->page, reply.body, reply.body_bytes, err))
		return -1;
	worker->client.counts.found += worker->page.n;
	return 0;
}

static void count_deleted(struct table_client *client, uint64_t n)
{
	client->counts.deleted += n;
	atomic_fetch_add_explicit(&client->live_entities, n, memory_order_relaxed);
}

/* ---- one by one ---- */

static int delete_row(struct table_worker *worker, const struct table_row *row, struct err *err)
{
	struct table_client *client = &worker->client;
	struct table_request request = {.method = "DELETE", .op = STATS_WRITE, .any_version = true};
	char url[TABLE_URL_MAX];
	struct wire wire = wire_of(url, sizeof(url));
	struct table_reply reply;

	wire_entity(&wire, &client->service->place, row->partition, row->row);
	if (wire.cut)
		return err_set(err, ERR_TEST, "an entity's keys are too long to delete it");
	request.url = url;
	if (!table_call(client, &request, &reply, err))
		count_deleted(client, 1);
	else if (!table_is_absent(&reply))
		return -1;
	else if (reply.unsure)
		worker->unsure++;
	else
		client->counts.gone++;
	return 0;
}

static int delete_singly(struct table_worker *worker, struct err *err)
{
	for (unsigned i = 0; i < worker->page.n; i++)
		if (delete_row(worker, &worker->page.rows[i], err))
			return -1;
	return 0;
}

/* ---- in batches ---- */

/* As many of the n rows as fit; how many. */
static unsigned write_batch(struct table_worker *worker, struct wire *wire, uint64_t id,
                            const struct table_row *rows, unsigned n)
{
	unsigned i = 0;

	wire_batch_begin(wire, id);
	for (; i < n; i++) {
		struct wire before = *wire;

		wire_batch_delete(wire, id, &worker->client.service->place, rows[i].partition,
		                  rows[i].row);
		if (wire->used + TABLE_BATCH_END_MAX < wire->room && !wire->cut)
			continue;
		*wire = before;
		break;
	}
	wire_batch_end(wire, id);
	return i;
}

/* One try with what is left of a batch; how many rows it had in *n. */
static int send_batch(struct table_worker *worker, const struct table_row *rows, unsigned *n,
                      struct table_reply *reply, struct err *err)
{
	const struct table_service *service = worker->client.service;
	uint64_t id = table_batch_id(worker);
	struct wire body = wire_of(worker->bytes, worker->room);
	char url[TABLE_URL_MAX], type[TABLE_BATCH_TYPE_MAX];
	struct wire url_wire = wire_of(url, sizeof(url)), type_wire = wire_of(type, sizeof(type));

	*n = write_batch(worker, &body, id, rows, *n);
	if (!*n) {
		*reply = (struct table_reply){.body = ""};
		return err_set(err, ERR_TEST, "an entity's keys are too long to delete it");
	}
	wire_append(&url_wire, "%s/$batch", service->place.base);
	wire_batch_type(&type_wire, id);
	return table_call(&worker->client,
	                  &(struct table_request){
	                          .method = "POST",
	                          .url = url,
	                          .type = type,
	                          .body = body.bytes,
	                          .body_bytes = body.used,
	                          .operations = *n,
	                          .op = STATS_WRITE,
	                  },
	                  reply, err);
}

static void drop_row(struct table_row *rows, unsigned *n, unsigned index)
{
	--*n;
	memmove(&rows[index], &rows[index + 1], (*n - index) * sizeof(*rows));
}

/* Up to a batch of rows of one partition, all of which are dealt with when this returns 0. */
static int delete_batch(struct table_worker *worker, struct table_row *rows, unsigned n,
                        struct err *err)
{
	struct table_client *client = &worker->client;
	struct table_reply reply;

	while (n) {
		unsigned sent = n;

		if (!send_batch(worker, rows, &sent, &reply, err)) {
			count_deleted(client, sent);
			rows += sent;
			n -= sent;
		} else if (!table_is_absent(&reply)) {
			return -1;
		} else if (reply.unsure) {
			worker->unsure += sent;
			rows += sent;
			n -= sent;
		} else if (reply.has_index) {
			client->counts.gone++;
			drop_row(rows, &n, reply.index);
		} else {
			return -1;
		}
	}
	return 0;
}

static int delete_in_batches(struct table_worker *worker, struct err *err)
{
	struct table_page *page = &worker->page;

	for (unsigned i = 0; i < page->n; i += worker->plan->batch)
		if (delete_batch(worker, &page->rows[i],
		                 (unsigned)min_u64(worker->plan->batch, page->n - i), err))
			return -1;
	return 0;
}

/* ---- a partition ---- */

/* All pages; a page may be empty and not the last one. */
static int delete_pages(struct table_worker *worker, const char *partition, struct err *err)
{
	struct cursor cursor = {.has_partition = false};

	do {
		if (query_page(worker, partition, &cursor, err))
			return -1;
		if (worker->plan->strategy == STRATEGY_SINGLE ? delete_singly(worker, err)
		                                              : delete_in_batches(worker, err))
			return -1;
	} while (cursor.has_partition || cursor.has_row);
	return 0;
}

int table_empty_partition(struct table_worker *worker, unsigned partition, struct err *err)
{
	struct table_result *counts = &worker->client.counts;
	char name[TABLE_KEY_MAX];

	table_partition_name(partition, name);
	worker->unsure = 0;
	if (delete_pages(worker, name, err))
		return -1;
	while (worker->unsure) {
		uint64_t unsure = worker->unsure, before = counts->found, again;

		worker->unsure = 0;
		if (delete_pages(worker, name, err))
			return -1;
		again = counts->found - before;
		counts->found = before; /* they were found already */
		counts->confirmed += unsure - min_u64(unsure, again);
	}
	return 0;
}

int table_drop(struct table_client *client, uint64_t entities, struct err *err)
{
	char url[TABLE_URL_MAX];
	struct wire wire = wire_of(url, sizeof(url));
	struct table_reply reply;
	int ret;

	wire_append(&wire, "%s/Tables('%s')", client->service->place.base,
	            client->service->place.table);
	ret = table_call(client,
	                 &(struct table_request){.method = "DELETE", .url = url, .op = STATS_WRITE},
	                 &reply, err);
	client->counts.found = entities;
	if (!ret)
		count_deleted(client, entities);
	else if (reply.unsure && reply.status == 404)
		client->counts.confirmed += entities;
	else
		return -1;
	return 0;
}
