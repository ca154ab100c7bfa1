/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap over blocks of time: how much a figure varies within a recording (Efron & Tibshirani
 * 1993; Kunsch 1989; method, "Comparison"). Pure functions: equal input gives equal output.
 */
#ifndef MAGNET_CORRELATE_BOOTSTRAP_H
#define MAGNET_CORRELATE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Contribution of one block to the sums of which a figure is made. */
struct block_sums {
	double a, b, c, d;
};

/* The figure is sum a / sum b, or (sum a / sum b) / (sum c / sum d). */
struct block_sample {
	const struct block_sums *block; /* in order of time */
	size_t n;
	bool is_quotient;
};

struct interval {
	double low, high;
};

#define BOOTSTRAP_RESAMPLES 2000

/* Returns the figure, NAN if a divisor is 0. */
double block_figure(const struct block_sample *s);
/* Returns how many of n blocks to draw together, so that dependence between neighbours is kept. */
size_t bootstrap_run(size_t n);
/*
 * Returns the share of resamples to leave out on each side, for an interval that covers `level`
 * although there are only `n` independent values (Hesterberg 2015, "expanded percentile").
 */
double bootstrap_tail(double level, double n);
/*
 * Computes the percentile interval of the figure of `x` minus that of `y`, each resampled
 * `resamples` times in runs of `run_x` and `run_y` blocks, leaving out `tail` on each side; with
 * `y` NULL, of `x` alone. Returns false if memory is short or too many resamples have no figure.
 */
bool bootstrap_difference(const struct block_sample *x, size_t run_x, const struct block_sample *y,
	size_t run_y, uint32_t resamples, double tail, struct interval *out);

#endif
