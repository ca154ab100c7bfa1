/* SPDX-License-Identifier: MIT */
/* Figures of requests and replies. */
#ifndef MAGNET_CORRELATE_REPORTED_EXCHANGES_H
#define MAGNET_CORRELATE_REPORTED_EXCHANGES_H

#include "render/report.h"
#include "reported/answer.h"
#include "reported/spread.h"

struct exchange_time_figures {
	struct spread_figures spread;
};

/* A bin of a histogram, from 1, 2 or 5 times a power of ten to the next such time. */
struct time_bin_figures {
	double from_ns, to_ns, below;
	uint64_t n;
};

/* Fills in the next bin of a distribution that is not empty; false if there is none. */
bool time_bin_next(
	const struct report *r, const struct dist *d, uintptr_t *at, struct time_bin_figures *to);

struct exchange_group_figures {
	const struct report *r;
	const struct exchange_group *g;
	char address[64];
};

struct slow_exchange_figures {
	const struct report *r;
	const struct slow_exchange *s;
	char local[64], remote[64], request[32], reply[32];
	struct answer_column_figures one; /* its causes */
};

struct exchange_group_figures exchange_group_figures_of(
	const struct report *r, const struct exchange_group *g);
struct slow_exchange_figures slow_exchange_figures_of(
	const struct report *r, const struct slow_exchange *s);

#endif
