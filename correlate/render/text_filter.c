/* SPDX-License-Identifier: MIT */
/* Prints which part of the recording a report is about. */
#include "filter/text.h"
#include "report.h"
#include "text.h"

static void part(const char *what, uint64_t n, uint64_t all, FILE *to)
{
	if (all)
		fprintf(to, ", %s of %s %s", text_count(n), text_count(all), what);
}

void text_filter(const struct report *r, FILE *to, bool colour)
{
	const struct figures *f = figures_of(r->core);
	char options[FILTER_TEXT];

	if (!r->filter)
		return;
	filter_text(r->filter, options, sizeof(options));
	fprintf(to, "%sONLY %s%s: %s", colour ? "\033[1m" : "", text_plain(options, 200),
		colour ? "\033[0m" : "", text_count(r->flow_count));
	fprintf(to, " of %s flows", text_count(r->flows_there));
	part("calls", f->calls_taken, f->calls_all, to);
	if (report_has_window(r)) {
		double end = report_duration_ns(r);
		double until = r->filter->to_ns ? (double)r->filter->to_ns : end;
		double kept = (until < end ? until : end) - (double)r->filter->from_ns;

		fprintf(to, ", %s of %s", text_ns(kept > 0 ? kept : 0), text_ns(end));
	}
	fprintf(to, "\n");
}
