/* links: base/err.c base/field.c base/units.c builtin.c plan/class.c plan/expect.c
 * plan/keys.c plan/plan.c plan/check.c plan/scope.c plan/value.c plan/published.c plan/tree.c */
/*
 * The reader of classes on hostile text: what it reads keeps what plan/class.h promises and can be
 * told, what it refuses says so and leaves nothing.
 */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "plan/class.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limit(const struct published *p, enum published_figure figure)
{
	struct published_limit limit = published_limit(p, figure, 1 * MIB);

	assert(isnan(limit.base) || limit.base > 0);
	assert(isnan(limit.burst) || limit.burst > limit.base);
}

static void check_class(const struct class *class)
{
	struct published p = class_figures(class);
	char text[PUBLISHED_TEXT_MAX];

	assert(class->name[0] && strlen(class->name) < CLASS_NAME_MAX);
	for (const char *c = class->name; *c; c++)
		assert(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
	assert(class->published.iops.n_steps <= PUBLISHED_STEPS_MAX);
	assert(strlen(p.source) < PUBLISHED_SOURCE_MAX && strlen(class->note) < CLASS_NOTE_MAX);
	assert(!p.source[0] || p.iops > 0 || p.mib_per_s > 0);
	check_limit(&p, PUBLISHED_IOPS);
	check_limit(&p, PUBLISHED_BW);
	assert(*published_text(&p, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct class none;
	struct class class;
	struct err err;

	if (!class_read(&class, "class.yaml", (const char *)data, size, &err)) {
		check_class(&class);
		return 0;
	}
	assert(err.class == ERR_PLAN && err.text[0]);
	assert(!memcmp(&class, &none, sizeof(none)));
	for (const char *p = err.text; *p; p++)
		assert(!iscntrl((unsigned char)*p));
	return 0;
}
