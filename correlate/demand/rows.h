/* SPDX-License-Identifier: MIT */
/* Rows of statistics on demand, for one layer or two. */
#ifndef MAGNET_CORRELATE_ROWS_H
#define MAGNET_CORRELATE_ROWS_H

#include "layers.h"

/* Adds the statistic's values to the row. Returns NULL, or why there are none. */
typedef const char *(*layer_row_fn)(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row);
typedef const char *(*pair_row_fn)(const struct layers *l, const struct layer *from,
	const struct layer *to, const double *parameter, json_t *row);

/* by_time.c */
const char *row_bursts(const struct layers *, const struct layer *, const double *, json_t *);
const char *row_idc(const struct layers *, const struct layer *, const double *, json_t *);
/* by_scale.c */
const char *row_variance_time(
	const struct layers *, const struct layer *, const double *, json_t *);
const char *row_hurst(const struct layers *, const struct layer *, const double *, json_t *);
const char *row_spectrum(const struct layers *, const struct layer *, const double *, json_t *);
/* by_contract.c */
const char *row_contract(const struct layers *, const struct layer *, const double *, json_t *);
const char *row_gcra(const struct layers *, const struct layer *, const double *, json_t *);
/* by_pair.c */
const char *pair_ks(const struct layers *, const struct layer *, const struct layer *,
	const double *, json_t *);
const char *pair_spectrum(const struct layers *, const struct layer *, const struct layer *,
	const double *, json_t *);
const char *pair_coherence(const struct layers *, const struct layer *, const struct layer *,
	const double *, json_t *);

#define NO_MEMORY "there is not enough memory"

/* Sets a value; null if it is not a number. */
void row_set(json_t *row, const char *key, double value);
/* Returns the parameter if it is given, else the default. */
static inline double or_default(double parameter, double otherwise)
{
	return parameter == parameter ? parameter : otherwise;
}

#endif
