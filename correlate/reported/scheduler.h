/* SPDX-License-Identifier: MIT */
/* Figures of the scheduler: waits of threads, and switches. */
#ifndef MAGNET_CORRELATE_REPORTED_SCHEDULER_H
#define MAGNET_CORRELATE_REPORTED_SCHEDULER_H

#include "reported/spread.h"
#include "render/report.h"

struct scheduler_figures {
	const struct report *r;
	const struct sched_stats *s;
	bool watched; /* switches were recorded */
	double coverage;
};

struct waits_figures {
	struct spread_figures spread; /* holds no samples where too many are missing */
	const struct dist *all;
	bool at_least;
};

struct switch_figures {
	const struct switch_stats *s;
	int cpu, kind;
	double coverage;
	struct spread_figures spread; /* holds no samples where too many are missing */
};

struct blocked_figures {
	const struct report *r;
	const struct blocked_row *row;
	struct spread_figures spread;
	char remote[64];
};

struct scheduler_figures scheduler_figures_of(const struct report *r);

#endif
