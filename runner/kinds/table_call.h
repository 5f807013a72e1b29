/*
 * A request to Azure's Table service: signed, sent, and sent again where that may help. What a
 * thread needs for it is a client; it counts what becomes of its requests.
 */
#ifndef PVCBENCH_TABLE_CALL_H
#define PVCBENCH_TABLE_CALL_H

#include <stdatomic.h>

#include "io/azure.h"
#include "io/http.h"
#include "kinds/table_answer.h"
#include "measure/stats.h"
#include "result/table.h"

#define TABLE_URL_MAX      4096
#define TABLE_PAUSE_MAX_NS (60 * NSEC_PER_SEC) /* before a retry, whatever the service asks for */

/* Of all threads, and never changed while they run. */
struct table_service {
	char base[PLAN_TABLE_TEXT_MAX];
	struct table_place place; /* with that base */
	struct azure azure;
	char host[HTTP_URL_MAX]; /* for messages */
	const char *ca_file;     /* NULL: none */
	uint64_t timeout_ns;
	uint64_t retries;
	const atomic_int *stop;      /* the run's signal */
	const atomic_bool *given_up; /* another thread has failed; NULL: there is none */
};

struct table_client {
	const struct table_service *service;
	struct http *http;          /* owned */
	struct stats *stats;        /* owned; NULL: what is sent is no part of the measurement */
	uint64_t start_ns;          /* of the window */
	bool connected;             /* a request was answered */
	struct table_result counts; /* only what is counted */
	atomic_ullong live_entities, live_transactions; /* for those who watch */
};

int table_client_init(struct table_client *client, const struct table_service *service,
                      bool measured, struct err *err);
void table_client_destroy(struct table_client *client);

struct table_request {
	const char *method, *url; /* without the SAS */
	const char *type;         /* of the body; NULL: no body */
	const char *body;
	size_t body_bytes;
	unsigned operations; /* of a batch; 0: it is none */
	enum stats_op op;
	bool any_version; /* If-Match: * */
};

/* What the last try was answered. */
struct table_reply {
	int status;                /* of the request, or of the operation that failed in it */
	char code[TABLE_CODE_MAX]; /* "ResourceNotFound"; "": not told */
	const char *body;          /* until the client's next request */
	size_t body_bytes;
	bool has_index;
	unsigned index; /* of the operation that failed */
	bool unsure;    /* an earlier try may have been done: its answer did not come */
	bool stopped;   /* a signal, or another thread's failure, ended it */
};

/*
 * 0: it was done. -1: it was not, err (class ERR_TEST, or ERR_TARGET where the service refuses
 * who asks) says why; reply is filled in as far as it is known.
 */
int table_call(struct table_client *client, const struct table_request *request,
               struct table_reply *reply, struct err *err);

/* Whether a call failed since what it names is not there. */
bool table_is_absent(const struct table_reply *reply);

/* A header of the last answer, or NULL; as valid as its body. */
const char *table_header(struct table_client *client, const char *name);

#endif
