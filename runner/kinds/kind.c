/*
 * The kinds of test there are.
 */
#include "kinds/kind.h"

#include <string.h>

const struct kind *const kinds[] = {
        &kind_block, &kind_probe, &kind_persist, &kind_hops, &kind_table, NULL,
};

const struct kind *kind_find(const char *name)
{
	for (unsigned i = 0; kinds[i]; i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}
