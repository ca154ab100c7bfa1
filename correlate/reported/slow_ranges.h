/* SPDX-License-Identifier: MIT */
/* Figures of the slowest byte ranges of streams without exchanges. */
#ifndef MAGNET_CORRELATE_REPORTED_SLOW_RANGES_H
#define MAGNET_CORRELATE_REPORTED_SLOW_RANGES_H

#include "render/report.h"

struct slow_range_figures {
	const struct report *r;
	const struct slow_range *s;
	struct fact_flow f;
	char flow[32];
};

/* A stage of such a range. */
struct slow_stage_figures {
	const struct slow_range_figures *of;
	int stage;
};

#endif
