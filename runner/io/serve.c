/*
 * libmicrohttpd with a thread for each connection. What it does not bound is the time that a
 * request takes that comes byte by byte: a thread of ours looks for such connections and shuts
 * them down, whereupon theirs closes them.
 */
#include "io/serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#define LOOK_NS     (200 * NSEC_PER_MSEC)
#define STACK_BYTES (256 * KIB)
#define HEADERS_MAX (16 * KIB)
#define BACKLOG     511
#define ADDRESS_MAX 300
#define BODY_ROOM   KIB
/* A host that is gone without a word is noticed after KEEP_IDLE_S + KEEP_COUNT * KEEP_EVERY_S. */
#define KEEP_IDLE_S  10
#define KEEP_EVERY_S 5
#define KEEP_COUNT   3

/* A connection. */
struct line {
	struct line *next;
	struct MHD_Connection *connection;
	uint64_t id;
	int fd;
	bool busy, lasting;
	uint64_t since_ns; /* since when a request is waited for */
};

/* A request while it comes in. */
struct receipt {
	char *body;
	size_t used, room;
};

struct serve {
	struct serve_params params;
	struct MHD_Daemon *daemon;
	int fd;
	unsigned port;

	pthread_mutex_t lock; /* of the lines, and of what follows */
	pthread_cond_t stopping;
	struct line *lines;
	uint64_t last_id;
	bool stop;
	pthread_t watcher;
};

/* ---- connections ---- */

static void keep_alive(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
	        {SOL_SOCKET, SO_KEEPALIVE, 1},
	        {IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S},
	        {IPPROTO_TCP, TCP_KEEPINTVL, KEEP_EVERY_S},
	        {IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT},
	        {IPPROTO_TCP, TCP_NODELAY, 1},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static void open_line(struct serve *serve, struct MHD_Connection *connection, void **context)
{
	struct line *line = calloc(1, sizeof(*line));

	*context = line;
	if (!line)
		return; /* its requests are refused */
	line->connection = connection;
	line->fd =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	line->since_ns = clock_now_ns();
	keep_alive(line->fd);
	pthread_mutex_lock(&serve->lock);
	line->id = ++serve->last_id;
	line->next = serve->lines;
	serve->lines = line;
	pthread_mutex_unlock(&serve->lock);
}

/* The socket is still open here, so that nobody shuts down one of the same number. */
static void close_line(struct serve *serve, struct line *line)
{
	struct line **at = &serve->lines;

	if (!line)
		return;
	pthread_mutex_lock(&serve->lock);
	while (*at != line)
		at = &(*at)->next;
	*at = line->next;
	pthread_mutex_unlock(&serve->lock);
	if (serve->params.closed)
		serve->params.closed(serve->params.arg, line->id);
	free(line);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		open_line(arg, connection, context);
	else
		close_line(arg, *context);
}

static void end_slow_lines(struct serve *serve)
{
	uint64_t now_ns = clock_now_ns();

	for (struct line *line = serve->lines; line; line = line->next)
		if (!line->busy && !line->lasting &&
		    now_ns - line->since_ns > serve->params.receive_ns)
			shutdown(line->fd, SHUT_RDWR);
}

static void *watch(void *arg)
{
	struct serve *serve = arg;

	pthread_mutex_lock(&serve->lock);
	while (!serve->stop) {
		struct timespec until;
		uint64_t at_ns = clock_now_ns() + LOOK_NS;

		until.tv_sec = (time_t)(at_ns / NSEC_PER_SEC);
		until.tv_nsec = (long)(at_ns % NSEC_PER_SEC);
		pthread_cond_timedwait(&serve->stopping, &serve->lock, &until);
		end_slow_lines(serve);
	}
	pthread_mutex_unlock(&serve->lock);
	return NULL;
}

/* ---- requests ---- */

static struct line *line_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	        ->socket_context;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct serve_answer *answer)
{
	static char none[1];
	struct MHD_Response *response = MHD_create_response_from_buffer(
	        answer->body ? answer->body_bytes : 0, answer->body ? answer->body : none,
	        answer->body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response) {
		free(answer->body);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
	                        answer->type ? answer->type : "text/plain");
	result = MHD_queue_response(connection, (unsigned)answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, const char *text)
{
	struct serve_answer answer = {.status = status, .body = strdup(text)};

	answer.body_bytes = answer.body ? strlen(text) : 0;
	return send_answer(connection, &answer);
}

static bool says_too_much(const struct serve *serve, struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
	                                                 MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > serve->params.body_max;
}

static enum MHD_Result begin(const struct serve *serve, struct MHD_Connection *connection,
                             void **context)
{
	*context = calloc(1, sizeof(struct receipt));
	if (!*context || !line_of(connection))
		return MHD_NO;
	if (says_too_much(serve, connection))
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n");
	return MHD_YES;
}

/* A part of the body; false: it is too large, or there is no memory for it. */
static bool receive(const struct serve *serve, struct receipt *receipt, const char *bytes, size_t n)
{
	if (n > serve->params.body_max - receipt->used)
		return false;
	if (receipt->used + n >= receipt->room) {
		size_t room = max_u64(2 * (receipt->used + n), BODY_ROOM);
		char *body = realloc(receipt->body, room);

		if (!body)
			return false;
		receipt->body = body;
		receipt->room = room;
	}
	memcpy(receipt->body + receipt->used, bytes, n);
	receipt->used += n;
	receipt->body[receipt->used] = '\0';
	return true;
}

static void mark(struct serve *serve, struct line *line, bool busy, bool lasting)
{
	pthread_mutex_lock(&serve->lock);
	line->busy = busy;
	line->lasting = lasting;
	line->since_ns = clock_now_ns();
	pthread_mutex_unlock(&serve->lock);
}

static enum MHD_Result respond(struct serve *serve, struct MHD_Connection *connection,
                               const struct receipt *receipt, const char *method, const char *path)
{
	struct line *line = line_of(connection);
	struct serve_request request = {
	        .method = method,
	        .path = path,
	        .body = receipt->body ? receipt->body : "",
	        .body_bytes = receipt->used,
	        .connection = line->id,
	        .line = line,
	};
	struct serve_answer answer = {.status = MHD_HTTP_OK};

	mark(serve, line, true, false);
	serve->params.handle(serve->params.arg, &request, &answer);
	mark(serve, line, false, answer.lasting);
	return send_answer(connection, &answer);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *n, void **context)
{
	struct serve *serve = arg;
	bool received;

	(void)version;
	if (!*context)
		return begin(serve, connection, context);
	if (!*n)
		return respond(serve, connection, *context, method, path);
	received = receive(serve, *context, bytes, *n);
	*n = 0;
	return received ? MHD_YES : MHD_NO;
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
	struct receipt *receipt = *context;

	(void)arg;
	(void)connection;
	(void)code;
	if (receipt)
		free(receipt->body);
	free(receipt);
	*context = NULL;
}

/* ---- listening ---- */

/* "HOST:PORT" into its parts; an IPv6 address is in brackets. */
static int split_address(const char *address, char host[ADDRESS_MAX], char port[8], struct err *err)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	bool bracketed = length >= 2 && address[0] == '[' && colon[-1] == ']';

	if (!colon || length >= ADDRESS_MAX || !colon[1] || strlen(colon + 1) > 5 ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return err_set(err, ERR_PLAN, "'%s' is no HOST:PORT", address);
	if (bracketed)
		snprintf(host, ADDRESS_MAX, "%.*s", (int)length - 2, address + 1);
	else
		snprintf(host, ADDRESS_MAX, "%.*s", (int)length, address);
	snprintf(port, 8, "%s", colon + 1);
	return 0;
}

/* A socket that listens, or -1 with errno. */
static int listen_on(const struct addrinfo *info)
{
	const int yes = 1, no = 0;
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), errnum;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	errnum = errno;
	close(fd);
	errno = errnum;
	return -1;
}

static int listen_at(struct serve *serve, struct err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *list;
	char host[ADDRESS_MAX], port[8];
	int code, errnum = EADDRNOTAVAIL;

	if (split_address(serve->params.address, host, port, err))
		return -1;
	code = getaddrinfo(host[0] ? host : NULL, port, &hints, &list);
	if (code)
		return err_set(err, ERR_PLAN, "cannot listen on '%s': %s", serve->params.address,
		               gai_strerror(code));
	/* an IPv6 socket for all addresses takes IPv4 too */
	for (int family = AF_INET6; serve->fd < 0; family = AF_INET) {
		for (struct addrinfo *info = list; info && serve->fd < 0; info = info->ai_next) {
			if (info->ai_family != family)
				continue;
			serve->fd = listen_on(info);
			errnum = serve->fd < 0 ? errno : 0;
		}
		if (family == AF_INET || errnum == EADDRINUSE)
			break;
	}
	freeaddrinfo(list);
	if (serve->fd >= 0)
		return 0;
	err_sys(err, ERR_PLAN, errnum, "cannot listen on '%s'", serve->params.address);
	return errnum == EADDRINUSE ? err_append(err, " (another program has this port)") : -1;
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);

	getsockname(fd, (struct sockaddr *)&address, &length);
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
	                                           : ((struct sockaddr_in *)&address)->sin_port);
}

/* What a client does wrong is told to that client, not to the log. */
static void ignore_words(void *arg, const char *format, va_list args)
{
	(void)arg;
	(void)format;
	(void)args;
}

static int start_daemon(struct serve *serve, struct err *err)
{
	const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
	                       MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;

	serve->daemon = MHD_start_daemon(
	        flags, 0, NULL, NULL, on_request, serve, MHD_OPTION_EXTERNAL_LOGGER, ignore_words,
	        NULL, MHD_OPTION_LISTEN_SOCKET, serve->fd, MHD_OPTION_CONNECTION_LIMIT,
	        serve->params.connections_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	        (size_t)HEADERS_MAX, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
	        MHD_OPTION_NOTIFY_COMPLETED, on_completed, serve, MHD_OPTION_NOTIFY_CONNECTION,
	        on_connection, serve, MHD_OPTION_END);
	if (serve->daemon)
		return 0;
	return err_set(err, ERR_PLAN, "cannot serve HTTP on '%s'", serve->params.address);
}

static void init_locks(struct serve *serve)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&serve->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&serve->stopping, &attr);
	pthread_condattr_destroy(&attr);
}

static void free_serve(struct serve *serve)
{
	pthread_cond_destroy(&serve->stopping);
	pthread_mutex_destroy(&serve->lock);
	if (serve->fd >= 0)
		close(serve->fd);
	free(serve);
}

int serve_start(struct serve **out, const struct serve_params *params, struct err *err)
{
	struct serve *serve = calloc(1, sizeof(*serve));
	int errnum;

	if (!serve)
		return err_set(err, ERR_PLAN, "out of memory for a server");
	serve->params = *params;
	serve->fd = -1;
	init_locks(serve);
	if (listen_at(serve, err) || start_daemon(serve, err)) {
		free_serve(serve);
		return -1;
	}
	serve->port = port_of(serve->fd);
	errnum = pthread_create(&serve->watcher, NULL, watch, serve);
	if (errnum) {
		MHD_stop_daemon(serve->daemon);
		serve->fd = -1; /* the daemon has closed it */
		free_serve(serve);
		return err_sys(err, ERR_PLAN, errnum, "cannot start a thread for a server");
	}
	*out = serve;
	return 0;
}

unsigned serve_port(const struct serve *serve)
{
	return serve->port;
}

const char *serve_header(const struct serve_request *request, const char *name)
{
	const struct line *line = request->line;

	return MHD_lookup_connection_value(line->connection, MHD_HEADER_KIND, name);
}

bool serve_is_gone(const struct serve_request *request)
{
	const struct line *line = request->line;
	struct pollfd wait = {.fd = line->fd, .events = POLLRDHUP};

	return poll(&wait, 1, 0) > 0;
}

void serve_stop(struct serve *serve)
{
	if (!serve)
		return;
	pthread_mutex_lock(&serve->lock);
	serve->stop = true;
	pthread_cond_signal(&serve->stopping);
	pthread_mutex_unlock(&serve->lock);
	pthread_join(serve->watcher, NULL);
	MHD_stop_daemon(serve->daemon);
	serve->fd = -1; /* the daemon has closed it */
	free_serve(serve);
}
