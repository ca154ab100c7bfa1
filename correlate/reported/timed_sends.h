/* SPDX-License-Identifier: MIT */
/* Sends by the kernel's own timestamps. */
#ifndef MAGNET_CORRELATE_REPORTED_TIMED_SENDS_H
#define MAGNET_CORRELATE_REPORTED_TIMED_SENDS_H

#include "render/report.h"
#include "reported/spread.h"

struct timed_sends_figures {
	const struct report *r;
	const struct timed_sums *sums; /* never NULL */
	bool misses;                   /* whether events of these are missing */
};

struct timed_stage_figures {
	const char *stage, *label;
	struct spread_figures spread;
};

/* Returns false if none were recorded of this flow or sum of flows. */
bool timed_sends_figures_of(
	const struct report *r, const struct fact_flow *f, struct timed_sends_figures *to);
/* Returns how many sends were recorded. */
uint64_t timed_sends_count(const struct timed_sends_figures *f);

#endif
