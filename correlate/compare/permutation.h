/* SPDX-License-Identifier: MIT */
/*
 * Permutation test over recordings: which of many figures differ between two sides by more than the
 * recordings of each side differ among themselves (Westfall & Young 1993; method, "Comparison").
 * Pure functions: equal input gives equal output.
 */
#ifndef MAGNET_CORRELATE_PERMUTATION_H
#define MAGNET_CORRELATE_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>

/* Values of each figure in each recording. */
struct trial {
	const double *value; /* figure by figure: those now, those before; NAN: not known */
	size_t figures, now, before;
};

struct trial_figure {
	double now, before;       /* means */
	double now_sd, before_sd; /* standard deviations; NAN of fewer than two */
	size_t now_n, before_n;   /* recordings of which it is known */
	double error;             /* standard error of the difference; NAN: too few are known */
	double t;                 /* the difference in standard errors, without sign */
	double chance; /* share of the arrangements in which any figure differs as much */
};

struct trial_result {
	size_t arrangements;
	double critical; /* the least `t` that exceeds chance, for all figures together */
	bool can_tell;   /* whether there are enough recordings for any figure to exceed it */
};

/* more arrangements than this are not tried one by one, but as many by chance */
#define ARRANGEMENTS_MAX 5000

/*
 * Tests all figures together: if no figure differs, any is found with the probability 1 - `level`
 * at most. Returns 0 or -ENOMEM.
 */
int permutation_test(const struct trial *t, double level, struct trial_figure *figure,
	struct trial_result *result);

#endif
