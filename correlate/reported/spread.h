/* SPDX-License-Identifier: MIT */
/* Mean and quantiles of a distribution. */
#ifndef MAGNET_CORRELATE_REPORTED_SPREAD_H
#define MAGNET_CORRELATE_REPORTED_SPREAD_H

#include <stdbool.h>

#include "sums/dist.h"

struct spread_figures {
	const struct dist *d;
	double hz; /* cycles a second of its values; 0 if not known */
};

/*
 * Returns the largest quantile that holds, 0.99 at most: ten samples lie beyond it. With fewer than
 * 20 samples it is 1, the maximum; NAN without one.
 */
double dist_highest(const struct dist *d);
/* Returns that quantile, cycles. */
double dist_at_highest(const struct dist *d);
/* Returns the figures of a distribution in cycles; they hold no sample if not `known`. */
struct spread_figures spread_of(const struct dist *d, bool known, double hz);
/* Return ns, NAN if not known. */
double spread_quantile(const struct spread_figures *f, double q);
double spread_mean(const struct spread_figures *f);
double spread_ns(const struct spread_figures *f, double value);

#endif
