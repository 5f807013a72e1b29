/*
 * Whether and when to send an HTTP request again.
 */
#ifndef PVCBENCH_IO_RETRY_H
#define PVCBENCH_IO_RETRY_H

#include "io/http.h"

/* Whether the same request may fare better later: no server reached, or one that is busy. */
bool retry_may_help(const struct http_response *response);

/*
 * How long to wait after so many tries (from 1 on), ns: what the server asks for, else 1 s
 * doubled each time, at most 30 s. jitter in [0, 1] spreads those who wait for the same.
 */
uint64_t retry_pause_ns(unsigned tries, uint64_t retry_after_ns, double jitter);

#endif
