/*
 * The results of several pods that ran the same plan together, made into one. Pure.
 *
 * Per test, of the pods that ran it to its end (where none did: of those that were interrupted):
 *
 *	counts      ios, bytes, errors, the histogram: all that the pods counted, each in its own
 *	            window; whole numbers are added, the lowest and the highest are kept
 *	window      the time that is common to all: from the last start to the first end
 *	rates       the sum of the pods' rates, each over its own window
 *	series      what lies within the common window, by absolute time (measure/timeline.h)
 *	spread      the lowest, the median and the highest of the pods' IOPS; who is the slowest
 *	verdicts    of the sum: errors, and the published limits of a volume that all have in
 *	            common; else what was said of pods, of how many, in the words of the one
 *	            with the largest figure
 *	thresholds  those of the pod that is furthest from meeting them
 *	persist     what all of them saw, and the longest that one took; where it failed in one pod,
 *	            it has failed
 *
 * A test whose windows have nothing in common has failed, without figures; where that is so of all,
 * nothing is merged. Where they share less than MERGE_OVERLAP of the longest one, that is a
 * concession: rates were not got together.
 * Other members that differ between pods are empty, or, with a concession or note that
 * names the values, the smallest or all of them.
 *
 * The result is the same, to the byte, in whatever order parts were added, as long as those of
 * one pod are in the order in which it ran its tests.
 */
#ifndef PVCBENCH_MERGE_H
#define PVCBENCH_MERGE_H

#include "result/result.h"

#define MERGE_PODS_MAX 32768
#define MERGE_OVERLAP  0.95

struct merge; /* what was added so far */

/* NULL when out of memory. */
struct merge *merge_new(void);
void merge_free(struct merge *merge);

/*
 * Add what one pod gave: its whole result, or one test after the other. The part may be freed
 * afterwards. `pod` is what to call it; NULL: as its host calls itself. A test that is not the same
 * as another pod's of that name, one that the pod gave before, a pod of a run of another size, and
 * a merged result are refused, with nothing added: ERR_PLAN, without the place.
 */
int merge_add(struct merge *merge, const struct result *part, const char *pod, struct err *err);

/* How many pods there are so far. */
unsigned merge_pods(const struct merge *merge);

/*
 * The merged result; on success result_destroy frees it. Its verdicts and thresholds are
 * judged. Where the pods know how many they are, `merged` names the missing ones. ERR_PLAN: nothing
 * was added, no test's windows have anything in common, or an index was given twice.
 */
int merge_finish(struct merge *merge, struct result *result, struct err *err);

#endif
