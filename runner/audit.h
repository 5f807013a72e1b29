/*
 * pvcbench verify: a ledger held against what lies on the volume now.
 */
#ifndef PVCBENCH_AUDIT_H
#define PVCBENCH_AUDIT_H

#include <stdatomic.h>

#include "base/err.h"

struct audit_options {
	const char *ledger;
	const char *target;     /* where the volume is mounted now; NULL: where it was */
	bool remove;            /* the run's directory, when nothing is missing */
	const atomic_int *stop; /* a signal's number once one came: then it ends, with ERR_TEST */
	/* Told what is asked of a volume next, in words, before each call that may wait for it. */
	void (*step)(void *arg, const char *what);
	void *arg;
};

/*
 * Read back every block that the ledger has an acknowledged write of, and report to out.
 * ERR_TEST where one that was acknowledged and synced is missing, or older; ERR_TARGET where the
 * files cannot be read; ERR_PLAN where there is no ledger. What was not synced may be lost.
 */
int audit_run(const struct audit_options *options, FILE *out, struct err *err);

#endif
