/*
 * Which failures of an HTTP request pass, and how long that may take.
 */
#include "io/retry.h"

#include <math.h>

#define PAUSE_MAX_NS (30 * NSEC_PER_SEC)

bool retry_may_help(const struct http_response *response)
{
	static const int statuses[] = {408, 429, 500, 502, 503, 504};

	switch (response->outcome) {
	case HTTP_UNRESOLVED:
	case HTTP_UNREACHABLE:
	case HTTP_TLS_FAILED:
	case HTTP_TIMED_OUT:
	case HTTP_BROKEN:
		return true;
	case HTTP_REFUSED:
	case HTTP_UNTRUSTED:
	case HTTP_CANCELLED:
		return false;
	case HTTP_ANSWERED:
	case HTTP_TOO_LARGE:
		break;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(statuses); i++)
		if (response->status == statuses[i])
			return true;
	return false;
}

uint64_t retry_pause_ns(unsigned tries, uint64_t retry_after_ns, double jitter)
{
	double pause_ns = (double)(NSEC_PER_SEC << (tries - 1)) * (0.8 + 0.5 * jitter);

	if (retry_after_ns)
		return retry_after_ns;
	return (uint64_t)fmin(pause_ns, (double)PAUSE_MAX_NS);
}
