/* SPDX-License-Identifier: MIT */
/*
 * What a figure would have been had the recording gone a little differently: a bootstrap over
 * blocks of time (Efron & Tibshirani 1993; Kunsch 1989; method, "Comparison"). Pure: the same
 * numbers in give the same out.
 */
#ifndef MAGNET_CORRELATE_BOOTSTRAP_H
#define MAGNET_CORRELATE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one block adds to the sums a figure is made of. */
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

/* NAN if a divisor is 0. */
double block_figure(const struct block_sample *s);
/* Blocks that are drawn together, of n: they keep what depends on what came before it. */
size_t bootstrap_run(size_t n);
/*
 * The share of resamples to leave out on each side, for an interval that covers `level` although
 * there are only `n` independent values (Hesterberg 2015, "expanded percentile").
 */
double bootstrap_tail(double level, double n);
/*
 * Percentile interval of the figure of `x` less that of `y`, each drawn anew `resamples` times in
 * runs of `run_x` and `run_y` blocks, with `tail` left out on each side; `y` may be NULL: then of
 * `x` alone. False if it cannot be told: no memory, or too many draws without a figure.
 */
bool bootstrap_difference(const struct block_sample *x, size_t run_x, const struct block_sample *y,
	size_t run_y, uint32_t resamples, double tail, struct interval *out);

#endif
