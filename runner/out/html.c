/*
 * The page: its form has places, {{name}}, that the functions of a table fill.
 */
#include <string.h>

#include "out/html_part.h"
#include "out/text.h"
#include "result/knee.h"

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

unsigned html_section_of(const struct html_page *page, const struct test_result *tr)
{
	unsigned i = 0;

	while (i < page->n_sections && !html_is_in(page, i, tr))
		i++;
	return i;
}

/* ---- what the page is about ---- */

static void name_result(struct html_page *page, unsigned i)
{
	const struct result *result = page->results[i];
	const char *name = result->conditions.class[0] ? result->conditions.class : result->host;
	unsigned alike = 0;

	snprintf(page->labels[i], HTML_LABEL_MAX, "%s", *name ? name : "result");
	for (unsigned before = 0; before < i; before++) {
		const struct result *other = page->results[before];
		const char *its =
		        other->conditions.class[0] ? other->conditions.class : other->host;

		alike += !strcmp(its, name);
	}
	if (alike)
		snprintf(page->labels[i], HTML_LABEL_MAX, "%.240s (%u)", *name ? name : "result",
		         alike + 1);
}

static void collect_sections(struct html_page *page)
{
	for (unsigned r = 0; r < page->n; r++) {
		const struct result *result = page->results[r];

		for (unsigned t = 0; t < result->n_tests; t++) {
			const struct test_result *tr = &result->tests[t];

			if (html_section_of(page, tr) == page->n_sections)
				page->sections[page->n_sections++] =
				        (struct html_section){html_section_name(tr)};
		}
	}
}

static int page_init(struct html_page *page)
{
	size_t tests = 1;

	for (unsigned i = 0; i < page->n; i++)
		tests += page->results[i]->n_tests;
	page->labels = calloc(page->n, sizeof(*page->labels));
	page->sections = calloc(tests, sizeof(*page->sections));
	if (!page->labels || !page->sections)
		return -1;
	for (unsigned i = 0; i < page->n; i++)
		name_result(page, i);
	collect_sections(page);
	return 0;
}

/* ---- what fills its places ---- */

/* What a writer of plain text says of a result, as text. */
static int write_plain(FILE *out, void (*write)(FILE *, const struct result *),
                       const struct result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return -1;
	write(memory, result);
	fclose(memory);
	if (text)
		html_text(out, text);
	free(text);
	return 0;
}

static void write_fact(FILE *out, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(out, "<dt>%s</dt><dd>", name);
	html_text(out, value);
	fputs("</dd>\n", out);
}

static void count_verdicts(const struct result *result, unsigned *verdicts, unsigned *failed,
                           unsigned *missed)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];

		*failed += tr->status == STATUS_FAILED;
		for (unsigned v = 0; v < tr->n_verdicts; v++)
			*verdicts += strcmp(tr->verdicts[v].code, "none") != 0;
		for (unsigned e = 0; e < tr->n_expect; e++)
			*missed += tr->expect[e].result != EXPECT_PASS;
	}
}

static int write_card(FILE *out, const struct html_page *page, unsigned i)
{
	const struct result *result = page->results[i];
	unsigned verdicts = 0, failed = 0, missed = 0;

	count_verdicts(result, &verdicts, &failed, &missed);
	fputs("<article class=\"card\">\n<h3>", out);
	html_text(out, page->labels[i]);
	fputs("</h3>\n<dl>\n", out);
	write_fact(out, "File system", result->conditions.fs);
	write_fact(out, "Device", result->conditions.device);
	write_fact(out, "Node", result->conditions.node);
	write_fact(out, "Kernel", result->conditions.kernel);
	write_fact(out, "Plan", result->plan);
	write_fact(out, "Started", result->started);
	fputs("</dl>\n<pre tabindex=\"0\">", out);
	if (write_plain(out, text_write_dbench, result))
		return -1;
	fprintf(out, "</pre>\n<p>%u test%s, %u verdict%s%s%s</p>\n</article>\n", result->n_tests,
	        result->n_tests == 1 ? "" : "s", verdicts, verdicts == 1 ? "" : "s",
	        failed ? ", <strong>tests failed</strong>" : "",
	        missed ? ", <strong>thresholds not met</strong>" : "");
	return 0;
}

static int write_cards(FILE *out, const struct html_page *page)
{
	for (unsigned i = 0; i < page->n; i++)
		if (write_card(out, page, i))
			return -1;
	return 0;
}

static int write_title(FILE *out, const struct html_page *page)
{
	fprintf(out, "%u result%s, %u test%s", page->n, page->n == 1 ? "" : "s", page->n_sections,
	        page->n_sections == 1 ? "" : "s");
	return 0;
}

static int write_overview(FILE *out, const struct html_page *page)
{
	html_write_overview(out, page);
	return 0;
}

/* The charts of a test, which the script fills and leaves out where it has nothing to draw. */
static void write_charts(FILE *out, unsigned section)
{
	static const struct {
		const char *name, *caption;
	} charts[] = {
	        {"bars", "By class; the line is what its repeats, or its seconds from the 10th to "
	                 "the 90th percentile, span"},
	        {"percentiles", "Latency by percentile, as far as enough requests carry it"},
	        {"series", "Over time; where nothing came back for long is shaded"},
	};

	fputs("<div class=\"charts\">\n", out);
	for (unsigned i = 0; i < ARRAY_SIZE(charts); i++)
		fprintf(out,
		        "<figure data-chart=\"%s\" data-section=\"%u\" hidden><div>"
		        "<canvas></canvas></div><figcaption>%s</figcaption></figure>\n",
		        charts[i].name, section, charts[i].caption);
	fputs("</div>\n", out);
}

static int write_tests(FILE *out, const struct html_page *page)
{
	for (unsigned i = 0; i < page->n_sections; i++) {
		fprintf(out, "<details class=\"test\" id=\"test-%u\"%s>\n<summary>", i,
		        i < 3 ? " open" : "");
		html_text(out, page->sections[i].name);
		fputs("</summary>\n", out);
		write_charts(out, i);
		html_write_section(out, page, i);
		fputs("</details>\n", out);
	}
	return 0;
}

static int write_sweeps(FILE *out, const struct html_page *page)
{
	struct curve *curve = malloc(sizeof(*curve));
	unsigned n = 0;

	for (unsigned r = 0; r < page->n && curve; r++)
		for (unsigned t = 0; t < page->results[r]->n_tests; t++)
			if (curve_at(curve, page->results[r], t))
				fprintf(out,
				        "<figure data-chart=\"sweep\" data-section=\"%u\" hidden>"
				        "<div><canvas></canvas></div><figcaption></figcaption>"
				        "</figure>\n",
				        n++);
	if (!n && curve)
		fputs("<p>No tests differ in nothing but their depth.</p>\n", out);
	free(curve);
	return curve ? 0 : -1;
}

static int write_summaries(FILE *out, const struct html_page *page)
{
	for (unsigned i = 0; i < page->n; i++) {
		fputs("<details>\n<summary>", out);
		html_text(out, page->labels[i]);
		fputs("</summary>\n<pre tabindex=\"0\">", out);
		if (write_plain(out, text_write, page->results[i]))
			return -1;
		fputs("</pre>\n</details>\n", out);
	}
	return 0;
}

static int write_style(FILE *out, const struct html_page *page)
{
	(void)page;
	fputs(web_report_css, out);
	return 0;
}

static int write_library(FILE *out, const struct html_page *page)
{
	(void)page;
	fputs(web_chart_js, out);
	return 0;
}

static int write_script(FILE *out, const struct html_page *page)
{
	(void)page;
	fputs(web_report_js, out);
	return 0;
}

static const struct place {
	const char *name;
	int (*write)(FILE *out, const struct html_page *page); /* -1: out of memory */
} places[] = {
        {"{{title}}", write_title},     {"{{style}}", write_style},
        {"{{cards}}", write_cards},     {"{{overview}}", write_overview},
        {"{{tests}}", write_tests},     {"{{sweeps}}", write_sweeps},
        {"{{data}}", html_write_data},  {"{{summaries}}", write_summaries},
        {"{{library}}", write_library}, {"{{script}}", write_script},
};

static const struct place *place_at(const char *form)
{
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(form, places[i].name, strlen(places[i].name)))
			return &places[i];
	return NULL;
}

static int fill(FILE *out, const char *form, const struct html_page *page)
{
	while (*form) {
		const struct place *place = *form == '{' ? place_at(form) : NULL;

		if (!place) {
			fputc(*form++, out);
			continue;
		}
		if (place->write(out, page))
			return -1;
		form += strlen(place->name);
	}
	return 0;
}

int html_write(FILE *out, const struct result *const *results, unsigned n, struct err *err)
{
	struct html_page page = {.results = results, .n = n};
	int ret = -1;

	if (page_init(&page) || fill(out, web_report_html, &page))
		err_set(err, ERR_TARGET, "out of memory for the report");
	else
		ret = 0;
	free(page.labels);
	free(page.sections);
	return ret;
}
