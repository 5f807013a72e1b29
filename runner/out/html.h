/*
 * Several results as one page that needs no network, for people: cards, tables, charts. Its form is
 * web/report.html; the charts are drawn by web/report.js with Chart.js, and without scripts the
 * tables stand. Pure: results go in, bytes come out; whatever text they hold is shown as text.
 */
#ifndef PVCBENCH_HTML_H
#define PVCBENCH_HTML_H

#include "result/result.h"

#define HTML_RESULTS_MAX 256

/* Made from the files in web/ (embed.sh); each ends with a NUL. */
extern const char web_report_html[], web_report_css[], web_report_js[], web_chart_js[];

/*
 * n results, 1 to HTML_RESULTS_MAX, in this order. -1 with an error of class ERR_TARGET: out of
 * memory; what was written until then is no page. Whether `out` took it the caller asks.
 */
int html_write(FILE *out, const struct result *const *results, unsigned n, struct err *err);

#endif
