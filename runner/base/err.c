/*
 * A text is formatted into scratch first and copied then: its arguments may lie
 * in the very err that it replaces.
 */
#include "base/err.h"

#include <stdarg.h>
#include <string.h>

#define ERRNO_MAX   4095 /* as in the kernel: above it a value is a pointer */
#define UNNAMED_MAX 32

static void format(char *out, size_t size, const char *fmt, va_list args)
{
	if (vsnprintf(out, size, fmt, args) < 0)
		snprintf(out, size, "%s", fmt);
}

static void set(struct err *err, enum err_class class, int errnum, const char *fmt, va_list args)
{
	char text[ERR_TEXT_MAX];

	format(text, sizeof(text), fmt, args);
	memcpy(err->text, text, sizeof(text));
	err->class = class;
	err->errnum = errnum;
}

int err_set(struct err *err, enum err_class class, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set(err, class, 0, fmt, args);
	va_end(args);
	return -1;
}

int err_sys(struct err *err, enum err_class class, int errnum, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set(err, class, errnum, fmt, args);
	va_end(args);
	return err_append(err, ": %s", err_words(errnum));
}

/* What does not fit is cut off at the end. */
static int join(struct err *err, const char *front, const char *between, const char *back)
{
	char text[ERR_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "%s%s%s", front, between, back);

	memcpy(err->text, text, n < 0 ? 0 : min_u64((uint64_t)n + 1, sizeof(text)));
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char context[ERR_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	format(context, sizeof(context), fmt, args);
	va_end(args);
	return join(err, context, ": ", err->text);
}

int err_append(struct err *err, const char *fmt, ...)
{
	char more[ERR_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	format(more, sizeof(more), fmt, args);
	va_end(args);
	return join(err, err->text, "", more);
}

const char *err_words(int errnum)
{
	const char *words = strerrordesc_np(errnum);

	return words ? words : err_name(errnum);
}

/* The errno's name; `unnamed` holds it where there is none. */
static const char *find_name(int errnum, char unnamed[UNNAMED_MAX])
{
	const char *name = errnum > 0 ? strerrorname_np(errnum) : NULL;

	if (name)
		return name;
	snprintf(unnamed, UNNAMED_MAX, "errno %d", errnum);
	return unnamed;
}

const char *err_name(int errnum)
{
	static _Thread_local char unnamed[UNNAMED_MAX];

	return find_name(errnum, unnamed);
}

int err_number(const char *name)
{
	char unnamed[UNNAMED_MAX];

	for (int errnum = 1; errnum <= ERRNO_MAX; errnum++)
		if (!strcmp(find_name(errnum, unnamed), name))
			return errnum;
	return 0;
}
