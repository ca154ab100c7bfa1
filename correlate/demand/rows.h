/* SPDX-License-Identifier: MIT */
/* Rows of statistics on demand, for one layer or two. */
#ifndef MAGNET_CORRELATE_ROWS_H
#define MAGNET_CORRELATE_ROWS_H

#include "layers.h"

/* Adds the statistic's values to the row. Returns NULL, or why there are none. */
typedef const char *layer_row(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row);
typedef const char *pair_row(const struct layers *l, const struct layer *from,
	const struct layer *to, const double *parameter, json_t *row);

/* clang-format off */
#define LAYERS_0(key)
#define LAYERS_1(key) layer_row row_##key;
#define PAIRS_0(key)
#define PAIRS_1(key) pair_row pair_##key;
#define DECLARE(NAME, key, name, layers, pairs, ...) LAYERS_##layers(key) PAIRS_##pairs(key)
MG_DEMAND_STATISTICS(DECLARE)
#undef LAYERS_0
#undef LAYERS_1
#undef PAIRS_0
#undef PAIRS_1
#undef DECLARE
/* clang-format on */

#define NO_MEMORY "there is not enough memory"

/* Sets a value; null if it is not a number. */
void row_set(json_t *row, const char *key, double value);
/* Returns the parameter if it is given, else the default. */
static inline double or_default(double parameter, double otherwise)
{
	return parameter == parameter ? parameter : otherwise;
}

#endif
