/*
 * A table is ours where it holds an entity that says so, which is inserted right after the table
 * was made. One that is empty is taken as well: a run may have been killed between both.
 */
#include <string.h>

#include "kinds/table_work.h"

#define MARK_PARTITION "pvcbench"
#define MARK_ROW       "table"
#define MADE_MAX_NS    (180 * NSEC_PER_SEC) /* for a table of that name to be gone */
#define MADE_PAUSE_NS  (2 * NSEC_PER_SEC)

void table_partition_name(unsigned partition, char out[TABLE_KEY_MAX])
{
	snprintf(out, TABLE_KEY_MAX, "pvcbench-%06u", partition);
}

void table_row_name(uint64_t row, char out[TABLE_KEY_MAX])
{
	snprintf(out, TABLE_KEY_MAX, "%010llu", (unsigned long long)row);
}

/* ---- the table ---- */

static int create(struct table_client *client, struct table_reply *reply, struct err *err)
{
	const struct table_place *place = &client->service->place;
	char url[TABLE_URL_MAX], body[128];
	struct wire wire = wire_of(url, sizeof(url));
	int length = snprintf(body, sizeof(body), "{\"TableName\":\"%s\"}", place->table);

	wire_append(&wire, "%s/Tables", place->base);
	return table_call(client,
	                  &(struct table_request){.method = "POST",
	                                          .url = url,
	                                          .type = "application/json",
	                                          .body = body,
	                                          .body_bytes = (size_t)length},
	                  reply, err);
}

/* One of that name that was dropped is in the way until the service has removed it. */
static int create_patiently(struct table_client *client, struct table_reply *reply,
                            void (*wait)(void *arg, const char *what), void *arg, struct err *err)
{
	const struct timespec pause = {.tv_sec = MADE_PAUSE_NS / NSEC_PER_SEC};
	uint64_t begin_ns = clock_now_ns();

	while (create(client, reply, err)) {
		if (strcmp(reply->code, "TableBeingDeleted") != 0 || reply->stopped ||
		    clock_now_ns() - begin_ns > MADE_MAX_NS)
			return -1;
		wait(arg, "waiting for the service to remove the table of that name");
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int mark(struct table_client *client, const char *method, struct table_reply *reply,
                struct err *err)
{
	static const char body[] = "{\"PartitionKey\":\"" MARK_PARTITION "\",\"RowKey\":\"" MARK_ROW
	                           "\",\"Made\":\"by pvcbench\"}";
	char url[TABLE_URL_MAX];
	struct wire wire = wire_of(url, sizeof(url));
	bool writes = !strcmp(method, "PUT");

	wire_entity(&wire, &client->service->place, MARK_PARTITION, MARK_ROW);
	return table_call(client,
	                  &(struct table_request){.method = method,
	                                          .url = url,
	                                          .type = writes ? "application/json" : NULL,
	                                          .body = writes ? body : NULL,
	                                          .body_bytes = writes ? sizeof(body) - 1 : 0},
	                  reply, err);
}

static int look_whether_empty(struct table_client *client, bool *empty, struct err *err)
{
	struct table_page *page = calloc(1, sizeof(*page));
	char url[TABLE_URL_MAX];
	struct wire wire = wire_of(url, sizeof(url));
	struct table_reply reply;
	int ret = -1;

	wire_query(&wire, &client->service->place, &(struct table_query){.top = 1});
	if (!page)
		err_set(err, ERR_TEST, "out of memory for an answer");
	else if (!table_call(client, &(struct table_request){.method = "GET", .url = url}, &reply,
	                     err))
		ret = table_page_read(page, reply.body, reply.body_bytes, err);
	*empty = !ret && !page->n && !table_header(client, "x-ms-continuation-NextPartitionKey");
	if (page)
		table_page_destroy(page);
	free(page);
	return ret;
}

int table_claim(struct table_client *client, bool fill, void (*wait)(void *arg, const char *what),
                void *arg, struct err *err)
{
	const struct table_service *service = client->service;
	struct table_reply reply;
	bool empty;

	if (fill && !create_patiently(client, &reply, wait, arg, err))
		return mark(client, "PUT", &reply, err);
	if (fill && strcmp(reply.code, "TableAlreadyExists") != 0)
		return -1;
	if (!mark(client, "GET", &reply, err))
		return 0;
	if (!table_is_absent(&reply) || look_whether_empty(client, &empty, err))
		return -1;
	if (empty && fill)
		return mark(client, "PUT", &reply, err);
	return err_set(err, ERR_REFUSED,
	               "table '%s' of '%s' was not made by pvcbench, and stays as it is (name "
	               "another, and fill: true makes it)",
	               service->place.table, service->host);
}

/* ---- its entities ---- */

#define TABLE_ENTITY_KEYS_MAX 128

static void write_entity(struct table_worker *worker, const char *partition, const char *row)
{
	const struct plan_table *plan = worker->plan;
	int used =
	        snprintf(worker->entity, TABLE_ENTITY_KEYS_MAX,
	                 "{\"PartitionKey\":\"%s\",\"RowKey\":\"%s\",\"Data\":\"", partition, row);

	memset(worker->entity + used, 'x', plan->entity_bytes);
	memcpy(worker->entity + used + plan->entity_bytes, "\"}", sizeof("\"}"));
}

static int put_batch(struct table_worker *worker, const char *partition, uint64_t first, uint64_t n,
                     struct err *err)
{
	const struct table_place *place = &worker->client.service->place;
	uint64_t id = table_batch_id(worker);
	struct wire body = wire_of(worker->bytes, worker->room);
	char url[TABLE_URL_MAX], type[TABLE_BATCH_TYPE_MAX], row[TABLE_KEY_MAX];
	struct wire url_wire = wire_of(url, sizeof(url)), type_wire = wire_of(type, sizeof(type));
	struct table_reply reply;

	wire_append(&url_wire, "%s/$batch", place->base);
	wire_batch_type(&type_wire, id);
	wire_batch_begin(&body, id);
	for (uint64_t i = first; i < first + n; i++) {
		table_row_name(i, row);
		write_entity(worker, partition, row);
		wire_batch_put(&body, id, place, partition, row, worker->entity);
	}
	wire_batch_end(&body, id);
	if (table_call(&worker->client,
	               &(struct table_request){.method = "POST",
	                                       .url = url,
	                                       .type = type,
	                                       .body = body.bytes,
	                                       .body_bytes = body.used,
	                                       .operations = (unsigned)n},
	               &reply, err))
		return -1;
	worker->client.counts.filled += n;
	atomic_fetch_add_explicit(&worker->client.live_entities, n, memory_order_relaxed);
	return 0;
}

int table_fill_partition(struct table_worker *worker, unsigned partition, struct err *err)
{
	uint64_t entities = worker->plan->entities, n;
	char name[TABLE_KEY_MAX];

	table_partition_name(partition, name);
	for (uint64_t first = 0; first < entities; first += n) {
		n = min_u64(TABLE_BATCH_MAX, entities - first);
		if (put_batch(worker, name, first, n, err))
			return -1;
	}
	return 0;
}

/* ---- a thread's memory ---- */

/* Of an operation in a batch, besides its entity and what a place is longer than usual. */
#define OPERATION_BYTES (KIB + PLAN_TABLE_TEXT_MAX)

int table_worker_init(struct table_worker *worker, const struct table_service *service,
                      bool measured, struct err *err)
{
	size_t entity = worker->plan->entity_bytes + TABLE_ENTITY_KEYS_MAX + sizeof("\"}");

	if (table_client_init(&worker->client, service, measured, err))
		return -1;
	worker->room = TABLE_BATCH_MAX * (OPERATION_BYTES + entity) + KIB;
	worker->bytes = malloc(worker->room);
	worker->entity = malloc(entity);
	if (!worker->bytes || !worker->entity)
		return err_set(err, ERR_TEST, "out of memory for a batch");
	return 0;
}

void table_worker_destroy(struct table_worker *worker)
{
	table_client_destroy(&worker->client);
	table_page_destroy(&worker->page);
	free(worker->bytes);
	free(worker->entity);
	worker->bytes = worker->entity = NULL;
}
