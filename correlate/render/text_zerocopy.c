/* SPDX-License-Identifier: MIT */
/* Prints for how long the kernel held the pages of sends with MSG_ZEROCOPY. */
#include "text.h"

void text_zerocopy(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct dist *hold = measures(f)->zerocopy;
	bool misses = flow_misses(f, MG_EVENTS(zerocopy_sent, zerocopy_done));

	if (!f->zerocopy_sends)
		return;
	fprintf(to, "  sent with MSG_ZEROCOPY: %s%s", misses ? text_at_least() : "",
		text_count(f->zerocopy_sends));
	if (hold)
		fprintf(to, "; the kernel held the pages for: mean %s, p50 %s, max %s%s",
			text_ns(report_ns(r, dist_mean(hold))),
			text_ns(report_ns(r, dist_quantile(hold, 0.5))),
			misses ? text_at_least() : "", text_ns(report_ns(r, (double)hold->max)));
	else
		fprintf(to, "; for how long the kernel held the pages: n/a");
	if (f->zerocopy_copied)
		fprintf(to, "; copied after all: %s", text_count(f->zerocopy_copied));
	if (f->zerocopy_pending && !misses)
		fprintf(to, "; still held at the end: %s", text_count(f->zerocopy_pending));
	if (f->zerocopy_unsure)
		fprintf(to, "; uncertain: %s", text_count(f->zerocopy_unsure));
	fprintf(to, "\n");
}
