/* SPDX-License-Identifier: MIT */
/* Prints why a flight recorder's memory was written. */
#include <string.h>

#include "reported/getters.h"
#include "text.h"

#define DUMPS_SHOWN 5

void text_dumps(const struct report *r, FILE *to)
{
	struct report_figures all = {.r = r};
	struct dump_figures d;
	uint32_t n = 0;

	for (uintptr_t at = 0; next_report_dumps(&all, &at, &d);) {
		char far[64] = "";
		size_t of;

		if (strcmp(d.d.why, "end") == 0 || n++ >= DUMPS_SHOWN)
			continue;
		fprintf(to, "dumped at %.6f s: %s",
			(double)(int64_t)(d.d.time - r->recording.first) / 1e9,
			text_plain(d.d.why, 24));
		if (d.d.value != FACT_NONE)
			fprintf(to, " of %s", text_ns((double)d.d.value));
		of = d.flow[0] ? report_find_flow(r, d.flow) : r->flow_count;
		if (of < r->flow_count)
			flow_far_end(r, report_keep_flow(r, of), far);
		if (far[0])
			fprintf(to, ", %s %s", d.d.flow.rx ? "from" : "to", far);
		if (d.flow[0])
			fprintf(to, ", flow %s", d.flow);
		fprintf(to, "\n");
	}
	if (n > DUMPS_SHOWN)
		fprintf(to, "  and %u more dumps (--json has them)\n", n - DUMPS_SHOWN);
}
