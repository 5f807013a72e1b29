/*
 * A result in Prometheus' text format, for a file or a Pushgateway. Pure: a result goes in,
 * bytes come out.
 *
 * Seconds and bytes; the names and types of metrics never change between versions, since
 * a Pushgateway refuses a name whose type differs. No sample has a time. What is not known
 * has no sample.
 */
#ifndef PVCBENCH_METRICS_H
#define PVCBENCH_METRICS_H

#include "result/result.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

void metrics_write(FILE *out, const struct result *result);

#endif
