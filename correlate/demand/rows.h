/* SPDX-License-Identifier: MIT */
/* Statistics on demand: rows for one layer or two, and objects of flows. */
#ifndef MAGNET_CORRELATE_ROWS_H
#define MAGNET_CORRELATE_ROWS_H

#include "layers.h"

/* Adds the statistic's values to the row. Returns NULL, or why there are none. */
typedef const char *layer_row(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row);
typedef const char *pair_row(const struct layers *l, const struct layer *from,
	const struct layer *to, const double *parameter, json_t *row);

/* Return what a flow has, or all flows together; a new reference. */
typedef json_t *flow_object(const struct report *r, const struct fact_flow *f);
typedef json_t *all_object(const struct report *r);

/* clang-format off */
#define LAYERS_0(key)
#define LAYERS_1(key) layer_row row_##key;
#define PAIRS_0(key)
#define PAIRS_1(key) pair_row pair_##key;
#define DECLARE(NAME, key, name, layers, pairs, ...) LAYERS_##layers(key) PAIRS_##pairs(key)
MG_DEMAND_STATISTICS(DECLARE)
#define WHOLE_FLOW(key) flow_object whole_##key;
#define WHOLE_ALL(key)  all_object whole_##key;
#define DECLARE_WHOLE(NAME, key, name, OF, ...) WHOLE_##OF(key)
MG_DEMAND_WHOLE(DECLARE_WHOLE)
#undef WHOLE_FLOW
#undef WHOLE_ALL
#undef DECLARE_WHOLE
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
