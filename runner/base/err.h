/*
 * Errors are values. A function that can fail is `int f(..., struct err *err)`:
 * 0 on success, -1 on failure; err is untouched on success. The text is written
 * where the knowledge is and context is put in front on the way up. Nothing
 * below main.c and run*.c prints an error or ends the program.
 *
 * A text is lower case without a full stop: what failed, the subject in single
 * quotes, the cause, the remedy in brackets.
 */
#ifndef PVCBENCH_ERR_H
#define PVCBENCH_ERR_H

#include "base/base.h"

#define ERR_TEXT_MAX 896

/* What kind of failure; the value is the program's exit code. */
enum err_class {
	ERR_TEST = 1,    /* a test failed */
	ERR_PLAN = 2,    /* usage or plan */
	ERR_TARGET = 3,  /* the target cannot be used, or not as demanded */
	ERR_REFUSED = 4, /* refused for safety */
};

struct err {
	enum err_class class;
	int errnum; /* 0 when no system call was involved */
	char text[ERR_TEXT_MAX];
};

/* Both always return -1, so that a caller can write `return err_set(...)`. */
int err_set(struct err *err, enum err_class class, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* As err_set, with ": " and the words for errnum (a positive errno) at the end. */
int err_sys(struct err *err, enum err_class class, int errnum, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

/* Put "context: " in front of the text that is there. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Put text (for instance " (remedy ...)") behind the text that is there. Returns -1. */
int err_append(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "No space left on device" for 28; err_name for a number without words. Static storage. */
const char *err_words(int errnum);

/* "ENOSPC" for 28; "errno 4711" for a number without a name. Static storage. */
const char *err_name(int errnum);

/* The inverse of err_name, also for a number without a name; 0 for any other text. */
int err_number(const char *name);

#endif
