/*
 * The plan is checked as `check` does it, but for what doctor itself has told already: a
 * device that needs permission, the container's own file system.
 */
#include "doctor.h"

#include <string.h>

#include "agenda.h"

static const struct remedy {
	const char *begin; /* of a concession */
	const char *text;
} remedies[] = {
        {"size shrunk", "a larger or emptier volume, or a smaller size in the plan"},
        {"iodepth lowered", "raise limits.memory, or lower iodepth, numjobs or bs in the plan"},
        {"", "the plan asks for what this volume does not have"},
};

static const char *find_remedy(const char *concession)
{
	unsigned i = 0;

	while (strncmp(concession, remedies[i].begin, strlen(remedies[i].begin)) != 0)
		i++;
	return remedies[i].text;
}

/* Whether an earlier test concedes the same. */
static bool was_said(const struct agenda *agenda, unsigned test, const char *concession)
{
	for (unsigned i = 0; i < test; i++)
		for (unsigned c = 0; c < agenda->previews[i].n_concessions; c++)
			if (!strcmp(agenda->previews[i].concessions[c], concession))
				return true;
	return false;
}

static unsigned say_concessions(const struct agenda *agenda, FILE *out)
{
	unsigned said = 0;

	for (unsigned i = 0; i < agenda->plan.n_tests; i++) {
		const struct preview *preview = &agenda->previews[i];

		for (unsigned c = 0; c < preview->n_concessions; c++) {
			const char *concession = preview->concessions[c];

			if (was_said(agenda, i, concession))
				continue;
			doctor_say(out, DOCTOR_LIMITED, "plan", find_remedy(concession),
			           "%s, %s: %s", agenda->plan.name, agenda->plan.tests[i].name,
			           concession);
			said++;
		}
	}
	return said;
}

void doctor_check_plan(const char *path, FILE *out)
{
	const struct plan_override overrides[] = {
	        {"target", path, true, "doctor"},
	        {"container_fs", "true", false, "doctor"},
	        {"destroy", "anything", false, "doctor"},
	        {"strict", "false", false, "doctor"},
	};
	struct agenda agenda = {0};
	struct err err;

	if (agenda_read(&agenda, NULL, overrides, ARRAY_SIZE(overrides), &err) ||
	    agenda_look(&agenda, NULL, NULL, &err))
		doctor_say(out, DOCTOR_MISSING, "plan", "run would end with this", "%s", err.text);
	else if (!say_concessions(&agenda, out))
		doctor_say(out, DOCTOR_OK, "plan", NULL, "%s: %u tests, as they are written",
		           agenda.plan.name, agenda.plan.n_tests);
	agenda_destroy(&agenda);
}
