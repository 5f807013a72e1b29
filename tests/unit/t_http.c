/* links: base/err.c base/units.c io/http.c */
/*
 * Against a server of a few lines in a thread of this process. It serves one connection after
 * the other, so each test has a handle of its own. TLS is in tests/run/deliver.bats.
 */
#include "io/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define REQUEST_MAX (64 * KIB)
#define BIG_BYTES   (100 * KIB)

static int listener;
static unsigned port;
static char request_seen[REQUEST_MAX]; /* by the server, whole */
static unsigned connections_seen;

/* ---- the server ---- */

static void put(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = send(fd, bytes, n, MSG_NOSIGNAL);

		if (done <= 0)
			return;
		bytes += done;
		n -= (size_t)done;
	}
}

static void answer(int fd, const char *head, const char *body, size_t n)
{
	char text[512];
	int length =
	        snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n", head, n);

	put(fd, text, (size_t)length);
	put(fd, body, n);
}

/* False: the connection is at its end. */
static bool serve_one(int fd, const char *path)
{
	static char big[BIG_BYTES];
	char moved[128], rest[16];

	snprintf(moved, sizeof(moved), "302 Found\r\nLocation: http://127.0.0.1:%u/ok", port);
	if (!strncmp(path, "/busy", 5))
		nanosleep(&(struct timespec){.tv_nsec = 200 * NSEC_PER_MSEC}, NULL);
	if (!strncmp(path, "/ok", 3))
		answer(fd, "200 OK\r\nX-Colour: red\r\nx-colour: blue", "hello", 5);
	else if (!strncmp(path, "/big", 4))
		answer(fd, "200 OK", memset(big, 'x', sizeof(big)), sizeof(big));
	else if (!strncmp(path, "/busy", 5))
		answer(fd, "503 Busy\r\nRetry-After: 7", "", 0);
	else if (!strncmp(path, "/moved", 6))
		answer(fd, moved, "", 0);
	else if (!strncmp(path, "/slow", 5))
		return recv(fd, rest, sizeof(rest), 0) > 0;
	else if (!strncmp(path, "/cut", 4))
		put(fd, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", 41);
	else
		put(fd, "nonsense\r\n\r\n", 12);
	return strncmp(path, "/cut", 4) && strncmp(path, "/nonsense", 9);
}

/* A request with its body into request_seen; false at the end of the connection. */
static bool read_request(int fd)
{
	size_t used = 0, body = 0;
	char *end = NULL;

	for (;;) {
		ssize_t n = recv(fd, request_seen + used, sizeof(request_seen) - used - 1, 0);

		if (n <= 0)
			return false;
		used += (size_t)n;
		request_seen[used] = '\0';
		end = strstr(request_seen, "\r\n\r\n");
		if (!end)
			continue;

		const char *length = strcasestr(request_seen, "\r\nContent-Length: ");

		body = length ? strtoul(length + 18, NULL, 10) : 0;
		if (used >= (size_t)(end + 4 - request_seen) + body)
			return true;
	}
}

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			return NULL;
		connections_seen++;
		while (read_request(fd) && serve_one(fd, strchr(request_seen, ' ') + 1))
			;
		close(fd);
	}
}

static int start_server(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	pthread_t thread;

	(void)state;
	for (const char *const *name =
	             (const char *const[]){"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY",
	                                   "HTTPS_PROXY", "SSL_CERT_FILE", NULL};
	     *name; name++)
		unsetenv(*name);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		return -1;
	port = ntohs(address.sin_port);
	return pthread_create(&thread, NULL, serve, NULL) || pthread_detach(thread);
}

/* ---- the client ---- */

static struct http *client(void)
{
	struct err err;
	struct http *http = http_new(&err);

	assert_non_null(http);
	return http;
}

/* "http://127.0.0.1:PORT" and the path. */
static const char *at(const char *path)
{
	static char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", port, path);
	return url;
}

/* Send what must be answered. */
static struct http_response send_well(struct http *http, const struct http_request *request)
{
	struct http_response response;
	struct err err;

	if (http_send(http, request, &response, &err))
		fail_msg("%s", err.text);
	assert_int_equal(response.outcome, HTTP_ANSWERED);
	return response;
}

/* Send what must fail like that, in words that hold this text. */
static struct http_response send_badly(const struct http_request *request,
                                       enum http_outcome outcome, const char *words)
{
	struct http *http = client();
	struct http_response response;
	struct err err = {.text = "nothing"};

	assert_int_equal(http_send(http, request, &response, &err), -1);
	if (response.outcome != outcome || !strstr(err.text, words))
		fail_msg("outcome %d: %s", response.outcome, err.text);
	assert_int_equal(err.class, ERR_TEST);
	http_free(http);
	response.body = NULL;
	return response;
}

static void test_answer(void **state)
{
	struct http *http = client();
	struct http_response response;

	(void)state;
	response = send_well(http, &(struct http_request){.url = at("/ok")});
	assert_int_equal(response.status, 200);
	assert_string_equal(response.body, "hello");
	assert_int_equal(response.body_bytes, 5);
	assert_string_equal(http_header(http, "X-COLOUR"), "red");
	assert_null(http_header(http, "X-Other"));
	assert_int_equal(response.retry_after_ns, 0);
	assert_true(response.up_bytes > 50 && response.up_bytes < 500);
	assert_true(response.down_bytes > 50 && response.down_bytes < 500);
	assert_non_null(strstr(request_seen, "GET /ok HTTP/1.1\r\n"));
	assert_non_null(strstr(request_seen, "User-Agent: pvcbench/"));
	http_free(http);
	http_free(NULL);
}

static void test_connection_is_kept(void **state)
{
	struct http *http = client();
	unsigned before = connections_seen;
	struct http_response first, again;

	(void)state;
	first = send_well(http, &(struct http_request){.url = at("/ok")});
	again = send_well(http, &(struct http_request){.url = at("/busy")});
	assert_int_equal(connections_seen, before + 1);
	assert_int_equal(first.new_connections, 1);
	assert_true(first.phase_ns[HTTP_TCP] > 0);
	assert_int_equal(first.phase_ns[HTTP_TLS], 0);
	assert_int_equal(again.new_connections, 0);
	assert_int_equal(again.phase_ns[HTTP_DNS], 0);
	assert_int_equal(again.phase_ns[HTTP_TCP], 0);
	assert_true(again.phase_ns[HTTP_WAIT] > 0);
	assert_true(again.phase_ns[HTTP_TOTAL] >= again.phase_ns[HTTP_WAIT]);
	assert_int_equal(again.status, 503);
	assert_int_equal(again.retry_after_ns, 7 * NSEC_PER_SEC);
	assert_string_equal(again.body, "");
	http_free(http);
}

static void test_body_and_headers_are_sent(void **state)
{
	const struct http_header headers[] = {{"Content-Type", "application/json"},
	                                      {"X-Key", "k 1"}};
	struct http *http = client();

	(void)state;
	send_well(http, &(struct http_request){.url = at("/ok?a=b"),
	                                       .headers = headers,
	                                       .n_headers = 2,
	                                       .body = "{\"a\": 1}",
	                                       .body_size = 8});
	assert_non_null(strstr(request_seen, "POST /ok?a=b HTTP/1.1\r\n"));
	assert_non_null(strstr(request_seen, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(request_seen, "\r\nX-Key: k 1\r\n"));
	assert_non_null(strstr(request_seen, "\r\nContent-Length: 8\r\n"));
	assert_non_null(strstr(request_seen, "\r\n\r\n{\"a\": 1}"));
	assert_null(strcasestr(request_seen, "\r\nExpect"));
	send_well(http, &(struct http_request){
	                        .method = "PUT", .url = at("/ok"), .body = "x", .body_size = 1});
	assert_non_null(strstr(request_seen, "PUT /ok HTTP/1.1\r\n"));
	assert_null(strcasestr(request_seen, "\r\nContent-Type"));
	send_well(http, &(struct http_request){.method = "DELETE", .url = at("/ok")});
	assert_non_null(strstr(request_seen, "DELETE /ok HTTP/1.1\r\n"));
	assert_null(strcasestr(request_seen, "\r\nX-Key"));
	http_free(http);
}

static void test_user_and_password_are_authorization(void **state)
{
	struct http *http = client();
	char url[128];

	(void)state;
	snprintf(url, sizeof(url), "http://me:a%%2Fb@127.0.0.1:%u/ok", port);
	send_well(http, &(struct http_request){.url = url});
	assert_non_null(strstr(request_seen, "\r\nAuthorization: Basic bWU6YS9i\r\n"));
	http_free(http);
}

static void test_redirects(void **state)
{
	struct http *http = client();
	struct http_response response;

	(void)state;
	response = send_well(http, &(struct http_request){.url = at("/moved")});
	assert_int_equal(response.status, 302);
	assert_non_null(http_header(http, "location"));
	response = send_well(http, &(struct http_request){.url = at("/moved"), .redirects_max = 1});
	assert_int_equal(response.status, 200);
	http_free(http);
}

static void test_limit_of_an_answer(void **state)
{
	struct http *http = client();
	struct http_request request = {.url = at("/big"), .answer_max = BIG_BYTES};
	struct http_response response = send_well(http, &request);

	(void)state;
	assert_int_equal(response.body_bytes, BIG_BYTES);
	assert_int_equal(strspn(response.body, "x"), BIG_BYTES);
	http_free(http);
	request.answer_max--;
	response = send_badly(&request, HTTP_TOO_LARGE, "too large");
	assert_int_equal(response.status, 200);
}

static void test_time_is_bounded(void **state)
{
	uint64_t start_ns = clock_now_ns();
	struct http_response response;

	(void)state;
	response = send_badly(
	        &(struct http_request){.url = at("/slow"), .timeout_ns = 300 * NSEC_PER_MSEC},
	        HTTP_TIMED_OUT, "no whole answer from '127.0.0.1:");
	assert_true(clock_now_ns() - start_ns < 10 * NSEC_PER_SEC);
	assert_int_equal(response.status, 0);
}

static bool always(void *arg)
{
	++*(unsigned *)arg;
	return true;
}

static void test_cancelled(void **state)
{
	unsigned asked = 0;

	(void)state;
	send_badly(&(struct http_request){.url = at("/slow"),
	                                  .cancelled = always,
	                                  .cancelled_arg = &asked},
	           HTTP_CANCELLED, "given up");
	assert_true(asked);
}

static void test_failures_in_words(void **state)
{
	const struct http_header broken = {"X-Key", "secret\r\nX-Other: 1"};

	(void)state;
	send_badly(&(struct http_request){.url = "http://127.0.0.1:1/"}, HTTP_UNREACHABLE,
	           "'127.0.0.1:1' refuses the connection");
	send_badly(&(struct http_request){.url = "http://a..b/"}, HTTP_UNRESOLVED,
	           "no address for 'a..b:80'");
	send_badly(&(struct http_request){.url = "ftp://127.0.0.1/"}, HTTP_REFUSED,
	           "is no URL of http or https");
	send_badly(&(struct http_request){.url = at("/ok"), .headers = &broken, .n_headers = 1},
	           HTTP_REFUSED, "the header 'X-Key' has a line break in it");
	send_badly(&(struct http_request){.url = at("/cut")}, HTTP_BROKEN, "no answer from");
	send_badly(&(struct http_request){.url = at("/nonsense")}, HTTP_BROKEN, "no answer from");
}

static void test_certificates_that_are_not_there(void **state)
{
	char url[64];

	(void)state;
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", port);
	send_badly(&(struct http_request){.url = url, .ca_file = "/nothing/here"}, HTTP_REFUSED,
	           "no certificates in '/nothing/here'");
	setenv("SSL_CERT_FILE", "/nothing/there", 1);
	send_badly(&(struct http_request){.url = url}, HTTP_REFUSED,
	           "no certificates in '/nothing/there'");
	unsetenv("SSL_CERT_FILE");
}

static void test_what_is_shown_of_a_url(void **state)
{
	static const struct {
		const char *url, *with_path, *without;
	} shown[] = {
	        {"https://me:secret@example.com:8443/a/b?token=secret#x",
	         "https://example.com:8443/a/b", "https://example.com:8443"},
	        {"http://example.com", "http://example.com/", "http://example.com"},
	        {"HTTP://Example.com/", "http://Example.com/", "http://Example.com"},
	        {"http://[2001:db8::1]:9091/x", "http://[2001:db8::1]:9091/x",
	         "http://[2001:db8::1]:9091"},
	};
	static const char *const bad[] = {"",
	                                  "secret",
	                                  "ftp://a/",
	                                  "http://",
	                                  "http://a:b/",
	                                  "http://a b/",
	                                  "file:///etc/passwd"};
	char out[HTTP_URL_MAX];
	struct err err;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++) {
		assert_int_equal(http_url_show(shown[i].url, true, out, &err), 0);
		assert_string_equal(out, shown[i].with_path);
		assert_int_equal(http_url_show(shown[i].url, false, out, &err), 0);
		assert_string_equal(out, shown[i].without);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!http_url_show(bad[i], true, out, &err))
			fail_msg("'%s' is shown as '%s'", bad[i], out);
		assert_string_equal(err.text, "is no URL of http or https");
	}
	assert_non_null(strchr(http_tls_library(), '/'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_answer),
	        cmocka_unit_test(test_connection_is_kept),
	        cmocka_unit_test(test_body_and_headers_are_sent),
	        cmocka_unit_test(test_user_and_password_are_authorization),
	        cmocka_unit_test(test_redirects),
	        cmocka_unit_test(test_limit_of_an_answer),
	        cmocka_unit_test(test_time_is_bounded),
	        cmocka_unit_test(test_cancelled),
	        cmocka_unit_test(test_failures_in_words),
	        cmocka_unit_test(test_certificates_that_are_not_there),
	        cmocka_unit_test(test_what_is_shown_of_a_url),
	};

	return cmocka_run_group_tests_name("http", tests, start_server, NULL);
}
