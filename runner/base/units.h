/*
 * Sizes, times and rates as text, both ways.
 *
 * Sizes: 4k = 4K = 4Ki = 4KiB = 4096 (k m g t p, as Kubernetes' Ki), kB MB GB
 * TB PB are powers of 1000, a bare number is bytes. Times: ns us ms s m h, a
 * bare number is seconds. A decimal fraction is allowed (1.5GiB, 0.5s) where
 * the result is a whole number of bytes or nanoseconds.
 */
#ifndef PVCBENCH_UNITS_H
#define PVCBENCH_UNITS_H

#include "base/err.h"

#define UNITS_TEXT_MAX 32

/* Parse the whole of text; overflow, signs and trailing characters are errors. */
int units_parse_size(const char *text, uint64_t *bytes, struct err *err);
int units_parse_time(const char *text, uint64_t *ns, struct err *err);
int units_parse_count(const char *text, uint64_t *n, struct err *err);

/* Digits and at most one point, which is less than all that strtod takes; false for other text. */
bool units_parse_decimal(const char *text, double *value);

/*
 * All formatters write at most UNITS_TEXT_MAX bytes with the final NUL to out
 * and return out.
 */

/* As fio 3.33 prints IOPS (num2str with 4 digits): 7058, 9999, 33.5k, 1000k, 12.3M. */
char *units_format_iops(double iops, char *out);

/* As fio prints a bandwidth, in powers of 1024: 349MiB/s, 1220MiB/s, 18.5MiB/s, 512KiB/s. */
char *units_format_bw(double bytes_per_second, char *out);

/* A size in the largest binary unit that keeps three digits: 4KiB, 1.5GiB, 900MiB, 123B. */
char *units_format_size(uint64_t bytes, char *out);

/* A duration for a person, three digits: 850ns, 12.3us, 7.21ms, 1.5s, 2m05s, 1h02m. */
char *units_format_time(uint64_t ns, char *out);

#endif
