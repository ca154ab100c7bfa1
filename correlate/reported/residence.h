/* SPDX-License-Identifier: MIT */
/* Where a flow's bytes waited, and which of them cannot be followed as usual. */
#ifndef MAGNET_CORRELATE_REPORTED_RESIDENCE_H
#define MAGNET_CORRELATE_REPORTED_RESIDENCE_H

#include "render/report.h"

struct flow_figures {
	const struct report *r;
	const struct fact_flow *f;
	double coverage;
	const char *withheld; /* why the waterfall is not shown; NULL: it is */
	bool shown;           /* the total is shown */
	bool has_probes;
	struct probes probes;
};

struct stage_figures {
	const struct flow_figures *of;
	int stage;
};

struct why_figures {
	const struct flow_figures *of;
	const struct why_row *row;
};

struct held_figures {
	const struct flow_figures *of;
	int reason;
};

struct waterfall_figures {
	const struct flow_figures *of;
	double quantile, bar[STAGES_MAX], total, n;
};

struct waterfall_stage_figures {
	const struct waterfall_figures *of;
	int stage;
};

struct flow_figures flow_figures_of(const struct report *r, const struct fact_flow *f);

#endif
