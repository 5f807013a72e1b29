/*
 * Results as they come: a document as --out wrote it, several of them one behind the other, a
 * whole log with its result lines, those of several pods that `kubectl logs --prefix` tells apart,
 * with --timestamps or without. One result is in memory at a time.
 *
 * A line that a container runtime cut at 16 KiB is put together where its rest follows at once, as
 * log collectors leave it.
 */
#ifndef PVCBENCH_LOGS_H
#define PVCBENCH_LOGS_H

#include "result/result.h"

#define LOGS_DOCUMENT_MAX (64 * MIB) /* of one document; a line has RESULT_LINE_MAX */

struct logs_reader {
	/*
	 * A result; what was not moved out of it is destroyed afterwards. pod is what the prefix
	 * says, NULL without one. place is "NAME:LINE" of its first line. -1 ends the reading.
	 */
	int (*found)(void *arg, struct result *result, const char *pod, const char *place,
	             struct err *err);
	/* What should be a result and cannot be read, or that there is none: "PLACE: why". */
	void (*damaged)(void *arg, const char *text);
	void *arg;
};

/* Read to the end. name is for places. -1: what found said, or it cannot be read (ERR_PLAN). */
int logs_read(FILE *in, const char *name, const struct logs_reader *reader, struct err *err);

/* The same of a file, or with "-" of standard input. */
int logs_read_file(const char *name, const struct logs_reader *reader, struct err *err);

#endif
