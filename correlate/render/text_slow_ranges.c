/* SPDX-License-Identifier: MIT */
/* Prints the slowest bytes of streams that have no exchanges. */
#include <inttypes.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"
#include "text_exchanges.h"

#define STAGES_SHOWN 3

/* Prints the longest stages, the longest first. */
static void stages(const struct slow_range_figures *f, FILE *to)
{
	bool shown[STAGES_MAX] = {false};

	for (int n = 0; n < STAGES_SHOWN; n++) {
		int longest = -1;

		for (int i = 0; i < stage_count(&f->f); i++)
			if (!shown[i] && f->s->stage[i] && f->s->stage[i] != FACT_NONE &&
				(longest < 0 || f->s->stage[i] > f->s->stage[longest]))
				longest = i;
		if (longest < 0)
			return;
		shown[longest] = true;
		fprintf(to, "%s%s %s", n ? ", " : "    ", stage_label(&f->f, longest),
			text_ns(report_ns(f->r, (double)f->s->stage[longest])));
		if (!f->s->rx && longest == TX_STAGE_SNDBUF && f->s->why != FACT_NO_WORD)
			fprintf(to, " (%s)", why_reason_label(f->s->why));
	}
}

void text_slow_ranges(const struct report *r, FILE *to, bool colour)
{
	struct report_figures all = {.r = r};
	struct slow_range_figures f;
	uintptr_t at = 0;

	while (next_whole_slowest_ranges(&all, &at, &f)) {
		char local[64], remote[64];

		if (at == 1)
			fprintf(to, "\n%sSlowest bytes of streams without exchanges%s\n",
				colour ? "\033[1m" : "", colour ? "\033[0m" : "");
		flow_ends(&f.f, local, remote);
		flow_far_end(r, &f.f, remote);
		fprintf(to, "  %s at %.6f s, %s %s %s %s\n",
			text_value(get_slow_range_total_ns(&f), IN_NS),
			(double)(int64_t)(core_ns(r->core, f.s->begin) - r->recording.first) / 1e9,
			flow_proto(&f.f), f.f.local.addr ? local : f.flow, f.s->rx ? "from" : "to",
			remote[0] ? remote : "its peer");
		stages(&f, to);
		fprintf(to, "; %s %" PRIu64 "+%" PRIu64 "\n", f.flow, f.s->offset, f.s->length);
	}
}
