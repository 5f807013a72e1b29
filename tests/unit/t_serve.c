/* links: base/err.c io/serve.c */
/* Against clients that are sockets, so that they may do what no decent client does. */
#include "io/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <cmocka.h>

#define BODY_MAX   1000
#define RECEIVE_NS (400 * NSEC_PER_MSEC)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t last_closed; /* connection */
static bool was_gone;        /* the client of /wait hung up */

/* /echo: the body; /lasting: may be idle; /wait: answers when the client is gone. */
static void handle(void *arg, const struct serve_request *request, struct serve_answer *answer)
{
	const char *colour = serve_header(request, "x-colour");
	char text[BODY_MAX + 200];

	(void)arg;
	if (!strcmp(request->path, "/wait")) {
		while (!serve_is_gone(request))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		pthread_mutex_lock(&lock);
		was_gone = true;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	answer->lasting = !strcmp(request->path, "/lasting");
	snprintf(text, sizeof(text), "%s %s %s %zu %s", request->method, request->path,
	         colour ? colour : "none", request->body_bytes, request->body);
	answer->body = strdup(text);
	answer->body_bytes = strlen(text);
}

static void on_closed(void *arg, uint64_t connection)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	last_closed = connection;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static struct serve *start(unsigned connections_max)
{
	struct serve_params params = {
	        .address = "127.0.0.1:0",
	        .connections_max = connections_max,
	        .body_max = BODY_MAX,
	        .receive_ns = RECEIVE_NS,
	        .handle = handle,
	        .closed = on_closed,
	};
	struct serve *serve;
	struct err err;

	last_closed = 0;
	was_gone = false;
	assert_int_equal(serve_start(&serve, &params, &err), 0);
	return serve;
}

static int dial(const struct serve *serve)
{
	struct sockaddr_in address = {
	        .sin_family = AF_INET,
	        .sin_port = htons((uint16_t)serve_port(serve)),
	        .sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	struct timeval patience = {.tv_sec = 20};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void put(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Read until the text came; false: the end of the connection came first. */
static bool reads(int fd, const char *wanted)
{
	char text[4096] = "";
	size_t used = 0;
	ssize_t n;

	while (!strstr(text, wanted)) {
		n = recv(fd, text + used, sizeof(text) - 1 - used, 0);
		if (n <= 0)
			return false;
		used += (size_t)n;
		text[used] = '\0';
	}
	return true;
}

static void test_answers(void **state)
{
	struct serve *serve = start(10);
	int fd = dial(serve);

	(void)state;
	put(fd, "GET /echo?query HTTP/1.1\r\nHost: x\r\nX-COLOUR: red\r\n\r\n");
	assert_true(reads(fd, "GET /echo red 0 "));
	put(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
	put(fd, "lo");
	assert_true(reads(fd, "POST /echo none 5 hello"));
	close(fd);
	serve_stop(serve);
}

static void test_too_large(void **state)
{
	struct serve *serve = start(10);
	int fd = dial(serve);
	char chunk[1200];

	(void)state;
	put(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");
	assert_true(reads(fd, " 413 "));
	close(fd);
	fd = dial(serve); /* and one that does not say how much it sends */
	put(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	memset(chunk, 'a', sizeof(chunk));
	memcpy(chunk, "400\r\n", 5);
	chunk[sizeof(chunk) - 1] = '\0';
	put(fd, chunk);
	assert_false(reads(fd, " 200 "));
	close(fd);
	serve_stop(serve);
}

/* Whoever sends a byte now and then is cut off as well as who sends none. */
static void test_slow(void **state)
{
	struct serve *serve = start(10);
	int silent = dial(serve), slow = dial(serve);
	uint64_t start_ns = clock_now_ns();

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		if (send(slow, i ? "a" : "GET /", i ? 1 : 5, MSG_NOSIGNAL) <= 0)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
	}
	assert_false(reads(slow, "HTTP"));
	assert_false(reads(silent, "HTTP"));
	assert_true(clock_now_ns() - start_ns < 9 * NSEC_PER_SEC);
	close(slow);
	close(silent);
	serve_stop(serve);
}

static void test_lasting(void **state)
{
	struct serve *serve = start(10);
	int fd = dial(serve);

	(void)state;
	put(fd, "GET /lasting HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(reads(fd, "GET /lasting"));
	nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* over twice what others may */
	put(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(reads(fd, "GET /echo"));
	close(fd);
	serve_stop(serve);
}

static void test_gone(void **state)
{
	struct serve *serve = start(10);
	int fd = dial(serve);

	(void)state;
	put(fd, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	close(fd);
	pthread_mutex_lock(&lock);
	while (!was_gone || !last_closed)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(last_closed, 1);
	serve_stop(serve);
}

static void test_too_many(void **state)
{
	struct serve *serve = start(2);
	int first = dial(serve), second = dial(serve), third = dial(serve);

	(void)state;
	put(first, "GET /lasting HTTP/1.1\r\nHost: x\r\n\r\n");
	put(second, "GET /lasting HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(reads(first, "GET /lasting"));
	assert_true(reads(second, "GET /lasting"));
	assert_false(reads(third, "HTTP"));
	close(first);
	close(second);
	close(third);
	serve_stop(serve);
}

static void test_no_http(void **state)
{
	struct serve *serve = start(10);
	int fd = dial(serve);

	(void)state;
	put(fd, "\x16\x03\x01\x02\r\n\x01\r\n\r\n");
	assert_false(reads(fd, " 200 "));
	close(fd);
	serve_stop(serve);
}

static void test_errors(void **state)
{
	static const char *const wrong[] = {"",           "8080",    "127.0.0.1",
	                                    "127.0.0.1:", "x:99999", ":1x"};
	struct serve *serve = start(10), *second = NULL;
	struct serve_params params = {.connections_max = 1, .handle = handle};
	char address[64];
	struct err err;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		params.address = wrong[i];
		assert_int_equal(serve_start(&second, &params, &err), -1);
		assert_non_null(strstr(err.text, "is no HOST:PORT"));
		assert_int_equal(err.class, ERR_PLAN);
	}
	snprintf(address, sizeof(address), "127.0.0.1:%u", serve_port(serve));
	params.address = address;
	assert_int_equal(serve_start(&second, &params, &err), -1);
	assert_non_null(strstr(err.text, "another program has this port"));
	params.address = "192.0.2.1:0"; /* nobody's */
	assert_int_equal(serve_start(&second, &params, &err), -1);
	assert_non_null(strstr(err.text, "cannot listen on '192.0.2.1:0'"));
	serve_stop(serve);
	serve_stop(NULL);
}

static void test_all_addresses(void **state)
{
	struct serve_params params = {
	        .address = ":0", .connections_max = 4, .receive_ns = RECEIVE_NS, .handle = handle};
	struct serve *serve;
	struct err err;
	int fd;

	(void)state;
	assert_int_equal(serve_start(&serve, &params, &err), 0);
	fd = dial(serve);
	put(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(reads(fd, "GET /echo"));
	close(fd);
	serve_stop(serve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_answers),       cmocka_unit_test(test_too_large),
	        cmocka_unit_test(test_slow),          cmocka_unit_test(test_lasting),
	        cmocka_unit_test(test_gone),          cmocka_unit_test(test_too_many),
	        cmocka_unit_test(test_no_http),       cmocka_unit_test(test_errors),
	        cmocka_unit_test(test_all_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
