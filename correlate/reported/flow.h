/* SPDX-License-Identifier: MIT */
/* Figures of one direction of a socket. */
#ifndef MAGNET_CORRELATE_REPORTED_FLOW_H
#define MAGNET_CORRELATE_REPORTED_FLOW_H

#include "render/report.h"
#include "reported/residence.h"

struct layer_figures {
	const struct report *r;
	const struct fact_flow *f;
	int layer;
	const struct unit_stats *u;
};

struct modulation_figures {
	struct modulation m;
	double goodput_ratio;
};

struct drop_figures {
	const struct drop *d;
};

/* Returns the number of segments sent again; unknown where that is not known, and of a received
 * flow.
 */
struct value flow_retransmits(const struct report *r, const struct fact_flow *f);

#endif
