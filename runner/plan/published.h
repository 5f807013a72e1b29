/*
 * What a provider publishes about a class of volumes, as figures to hold a result
 * against. Pure functions.
 */
#ifndef PVCBENCH_PUBLISHED_H
#define PVCBENCH_PUBLISHED_H

#include "base/base.h"

#define PUBLISHED_STEPS_MAX  32
#define PUBLISHED_SOURCE_MAX 96
#define PUBLISHED_TEXT_MAX   (256 + PUBLISHED_SOURCE_MAX)

struct published_step {
	uint64_t up_to; /* bytes of capacity */
	double value;
};

/* A limit as a class.yaml states it, by the capacity of the volume; all zero: none. */
struct published_rule {
	double base, per_gib, max;                        /* max 0: no bound */
	struct published_step steps[PUBLISHED_STEPS_MAX]; /* in place of these; ascending */
	unsigned n_steps;
};

/*
 * The smaller of max and base + per_gib * capacity in GiB; of steps the first that is not
 * smaller than the capacity. NAN: no rule, or no step that the capacity fits into.
 */
double published_rule_value(const struct published_rule *rule, uint64_t capacity_bytes);

enum published_scope {
	SCOPE_SUM,  /* reads and writes share the limits */
	SCOPE_EACH, /* both have their own */
};

extern const char *const published_scope_names[]; /* by enum published_scope, ended by NULL */

/* The figures of one volume. What is not stated is NAN (or anything that is not above 0). */
struct published {
	uint64_t capacity_bytes; /* that they hold for; 0: not stated */
	double iops, mib_per_s;
	double burst_iops, burst_mib_per_s; /* for a while */
	double burst_credit;                /* requests that a full bucket holds */
	uint64_t io_unit;                  /* bytes; a larger request counts as several; 0: never */
	int scope;                         /* enum published_scope */
	char source[PUBLISHED_SOURCE_MAX]; /* "": nothing is published */
};

enum published_figure { PUBLISHED_IOPS, PUBLISHED_BW };

struct published_limit {
	double base;  /* NAN: none is stated */
	double burst; /* NAN: none is stated, or none above the base */
};

/* How many requests one of this size counts as. */
uint64_t published_count(const struct published *p, uint64_t request_bytes);

/*
 * The limit of requests of this size a second (PUBLISHED_IOPS), or of bytes a second: of
 * reads and writes together or of each, as p->scope says.
 */
struct published_limit published_limit(const struct published *p, enum published_figure figure,
                                       uint64_t request_bytes);

/* How long a full bucket carries the burst of IOPS; 0: not known. */
uint64_t published_burst_ns(const struct published *p);

/*
 * "16000 IOPS", "202.4 MiB/s": the number as published, in requests as the class counts
 * them or in MiB. At most UNITS_TEXT_MAX bytes; returns out.
 */
char *published_format(enum published_figure figure, double value, char *out);

/*
 * All of it in a line: "5000 IOPS, 150 MiB/s for 1000GiB, reads and writes together (source)", or
 * "no published limit". At most PUBLISHED_TEXT_MAX bytes; returns out.
 */
char *published_text(const struct published *p, char *out);

#endif
