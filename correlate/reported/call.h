/* SPDX-License-Identifier: MIT */
/* Figures of a function, or system call, and kind of socket. */
#ifndef MAGNET_CORRELATE_REPORTED_CALL_H
#define MAGNET_CORRELATE_REPORTED_CALL_H

#include "reported/spread.h"
#include "render/report.h"

struct call_figures {
	const struct report *r;
	const struct call_stats *s;
	double coverage;
	bool shown, calibrated;
};

struct overhead_figures {
	struct spread_figures spread;
	uint64_t n;
	double bound; /* two standard deviations, cycles; NAN if not known */
};

struct call_figures call_figures_of(const struct report *r, const struct call_stats *s);

#endif
