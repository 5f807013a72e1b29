/*
 * dbench's variables as overrides of the plan `dbench`.
 */
#include "dbench.h"

#include <string.h>

/* An environment variable that is set and not empty, else NULL. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static void add(struct dbench *d, const char *from, const char *key, const char *value)
{
	d->overrides[d->n_overrides++] = (struct plan_override){key, value, true, from};
}

void dbench_read(struct dbench *d)
{
	const char *mountpoint = variable("DBENCH_MOUNTPOINT"), *quick = variable("DBENCH_QUICK");
	const char *size = variable("FIO_SIZE"), *direct = variable("FIO_DIRECT");
	const char *increment = variable("FIO_OFFSET_INCREMENT");

	*d = (struct dbench){
	        .asked = mountpoint || quick || size || direct || increment,
	        .quick = quick && strcmp(quick, "no") != 0,
	};
	if (mountpoint)
		add(d, "DBENCH_MOUNTPOINT", "target", mountpoint);
	if (size)
		add(d, "FIO_SIZE", "size", size);
	if (direct)
		add(d, "FIO_DIRECT", "direct", strcmp(direct, "0") ? "true" : "false");
	if (increment) {
		add(d, "FIO_OFFSET_INCREMENT", "tests.read-seq.offset_increment", increment);
		add(d, "FIO_OFFSET_INCREMENT", "tests.write-seq.offset_increment", increment);
	}
}
