/*
 * The parts of the page: between html.c and its parts only.
 */
#ifndef PVCBENCH_HTML_PART_H
#define PVCBENCH_HTML_PART_H

#include <string.h>

#include "out/html.h"

#define HTML_LABEL_MAX (RESULT_TEXT_MAX + 16)

/* A test of one name; of a test with repeats, all of them. */
struct html_section {
	const char *name;
};

struct html_page {
	const struct result *const *results;
	unsigned n;
	char (*labels)[HTML_LABEL_MAX]; /* what each result is called; no two are alike */
	struct html_section *sections;  /* in the order in which the results have them */
	unsigned n_sections;
};

/* The name under which a test's figures stand. */
static inline const char *html_section_name(const struct test_result *tr)
{
	return tr->repeat.of[0] ? tr->repeat.of : tr->name;
}

static inline bool html_is_in(const struct html_page *page, unsigned section,
                              const struct test_result *tr)
{
	return !strcmp(page->sections[section].name, html_section_name(tr));
}

/* The number of the section of a test; n_sections where it has none yet. */
unsigned html_section_of(const struct html_page *page, const struct test_result *tr);

/* Text as text: nothing of it is taken for a tag or the end of an attribute. */
void html_text(FILE *out, const char *text);

/* What the charts draw, as JSON that is safe within a script element. -1: out of memory. */
int html_write_data(FILE *out, const struct html_page *page);

/* A table for each figure: every operation of every section by result. */
void html_write_overview(FILE *out, const struct html_page *page);

/* The lines of one section: each result's tests, with what is to know of them. */
void html_write_section(FILE *out, const struct html_page *page, unsigned section);

#endif
