/*
 * What pods have in common of what they ran on, between merge.c and its parts: a site is a
 * target as all of them saw it.
 */
#ifndef PVCBENCH_MERGE_SITE_H
#define PVCBENCH_MERGE_SITE_H

#include "result/words.h"

#define SITE_TEXTS   10
#define SITE_NUMBERS 6

struct site {
	struct conditions one; /* of one of the pods */
	bool other_limits;     /* not all pods know the same published ones */
	struct words text[SITE_TEXTS];
	uint64_t min[SITE_NUMBERS], max[SITE_NUMBERS];
	struct words cpus;
	uint64_t n;
};

void merge_site_add(struct site *site, const struct conditions *conditions);

/* What all have in common; what differs is empty, or the smallest. */
void merge_site_finish(const struct site *site, struct conditions *out);

/* Whether it is one volume that all of them saw: a server's, and of one class. */
bool merge_site_is_shared(const struct site *site);

/* A note for each thing that should not differ and does. */
void merge_site_note(const struct site *site, struct result *result);

#endif
