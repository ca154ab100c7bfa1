/* SPDX-License-Identifier: MIT */
/* Several flows of one program, taken together. */
#ifndef MAGNET_CORRELATE_REPORTED_GROUP_H
#define MAGNET_CORRELATE_REPORTED_GROUP_H

#include "render/report.h"
#include "reported/residence.h"

struct group_figures {
	const struct together *g;
	struct flow_figures sum;
};

struct drop_sum_figures {
	const struct drop_sum *d;
};

struct group_figures group_figures_of(const struct report *r, const struct together *g);

#endif
