/*
 * A result as fio 3 writes its JSON (--output-format=json), for the scripts and charts that read
 * that: same keys, same units, but only what is measured. A latency is `lat_ns`, from submission to
 * completion as fio's, with its percentiles there (as fio has them with lat_percentiles=1); slat
 * and clat are not measured, nor are the depths that fio samples. Samples of bandwidth and IOPS are
 * the whole intervals of the series, a second each, where fio's are half a second.
 *
 * A test without a load, and one that did not begin, is no job. Pure.
 */
#ifndef PVCBENCH_FIO_H
#define PVCBENCH_FIO_H

#include "result/result.h"

void fio_write(FILE *out, const struct result *result);

#endif
