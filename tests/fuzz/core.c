/* SPDX-License-Identifier: MIT */
/* Feeds decoded events of any kind in any order to the core, the report and the list of events. */
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "record.h"
#include "render/report.h"
#include "render/show.h"
#include "target.h"

static FILE *null(void)
{
	static FILE *f;

	return f ? f : (f = fopen("/dev/null", "we"));
}

static void feed(struct core *c, const uint8_t *data, size_t size)
{
	uint64_t now = 0, lost[3];
	struct record r;
	struct mg_event e;

	for (; size >= sizeof(r); data += sizeof(r), size -= sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		if (r.id == RECORD_LOST_APP) {
			memcpy(lost, r.payload, sizeof(lost));
			core_lost_app(c, lost[0], lost[1], lost[2], r.cpu);
		} else if (record_to_event(&r, &now, &e)) {
			core_push(c, &e);
		}
	}
}

static void print(struct core *c, const struct demand *demand)
{
	struct report report;

	if (report_init(&report, c, NULL, "fuzzed") == 0) {
		json_t *j;

		report.demand = demand;
		j = report_json(&report, NULL);
		json_dumpf(j, null(), 0);
		json_decref(j);
		report_text(&report, null(), NULL, false);
		for (size_t i = 0; i < report.flow_count && i < 4; i++)
			report_text(&report, null(), flow_id(report_flow(&report, i)->flow), true);
	}
	report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct show show = {.to = null(), .setup = true};
	struct demand demand;
	struct core core;
	uint8_t options;
	char why[400];

	if (!size)
		return 0;
	options = *data;
	core_init(&core);
	figures_attach(&core);
	if (options & OPTION_NS_ONLY)
		clockmap_use_ns(&core.clock);
	if (options & OPTION_CLOCK) {
		/* one cycle per nanosecond, as in the unit tests */
		core_give_clock(&core, 1, 1, 2);
		core_give_clock(&core, 1000000001, 1000000001, 2);
	}
	show.tsv = options & OPTION_TSV;
	if (options & OPTION_LISTEN)
		core_listen(&core, show_event, &show);
	/* coarse bins: inputs may claim centuries */
	demand_parse(&demand,
		"all,idc:bin=1e7,variance-time:bin=1e5,hurst:bin=1e5,spectrum:bin=1e5,"
		"coherence:bin=1e6",
		why, sizeof(why));
	if (options & OPTION_DEMAND)
		figures_keep_series(&core, 1 << 20);
	feed(&core, data + 1, size - 1);
	core_finish(&core);
	print(&core, options & OPTION_DEMAND ? &demand : NULL);
	core_free(&core);
	return 0;
}
