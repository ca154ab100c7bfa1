/* SPDX-License-Identifier: MIT */
/* Sends with MSG_ZEROCOPY. */
#ifndef MAGNET_CORRELATE_REPORTED_ZEROCOPY_H
#define MAGNET_CORRELATE_REPORTED_ZEROCOPY_H

#include "render/report.h"

struct zerocopy_figures {
	const struct report *r;
	const struct fact_flow *f;
	const struct dist *hold; /* NULL: the end of none was seen */
	bool ends, misses;
};

struct zerocopy_figures zerocopy_figures_of(const struct report *r, const struct fact_flow *f);

#endif
