/* SPDX-License-Identifier: MIT */
/* Statistics of two layers of a flow. */
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "rows.h"

static double *spacings(const struct layers *l, const struct layer *of, size_t *n)
{
	struct stat_unit *u;
	double *out;
	size_t units;

	*n = 0;
	if (layer_units(l, of, &u, &units))
		return NULL;
	out = mg_malloc((units + 1) * sizeof(*out));
	if (out)
		*n = stat_spacings(u, units, layer_gaps(of), out);
	free(u);
	return out;
}

const char *pair_ks(const struct layers *l, const struct layer *from, const struct layer *to,
	const double *parameter, json_t *row)
{
	const char *why = NULL;
	struct stat_ks ks;
	double *a, *b;
	size_t an, bn;

	(void)parameter;
	a = spacings(l, from, &an);
	b = spacings(l, to, &bn);
	json_object_set_new(row, "n_from", json_integer((json_int_t)an));
	json_object_set_new(row, "n_to", json_integer((json_int_t)bn));
	if (!a || !b) {
		why = NO_MEMORY;
	} else if (!an || !bn) {
		why = "a layer has no spacing without a gap";
	} else {
		ks = stat_ks(a, an, b, bn);
		row_set(row, "sup", ks.sup);
		row_set(row, "at_ns", ks.at);
	}
	free(a);
	free(b);
	return why;
}

/*
 * Counts the frequencies above the threshold, and finds the last one before the first below it.
 * Leaves out frequency 0, the mean.
 */
static void summary(const struct stat_coherence *c, double bin_ms, json_t *row)
{
	double step_hz = 1000 / bin_ms / (double)c->length;
	size_t above = 0, unbroken = 0, half = c->length / 2;
	json_t *values = json_array();

	for (size_t k = 0; k <= half; k++) {
		bool over = c->value[k] > c->threshold;

		if (k) {
			above += over;
			unbroken += over && unbroken == k - 1;
		}
		json_array_append_new(
			values, isfinite(c->value[k]) ? json_real(c->value[k]) : json_null());
	}
	json_object_set_new(row, "segments", json_integer((json_int_t)c->segments));
	row_set(row, "threshold", c->threshold);
	row_set(row, "coherent_share", (double)above / (double)half);
	row_set(row, "coherent_to_hz", (double)unbroken * step_hz);
	row_set(row, "step_hz", step_hz);
	json_object_set_new(row, "values", values);
}

static const char *compare(
	const double *x, const double *y, size_t bins, double bin_ms, json_t *row)
{
	struct stat_coherence c;
	struct stat_lag lag;

	if (stat_lag(x, y, bins, &lag) || stat_coherence(x, y, bins, &c))
		return NO_MEMORY;
	row_set(row, "lag_ms", isnan(lag.correlation) ? NAN : (double)lag.bins * bin_ms);
	row_set(row, "correlation", lag.correlation);
	if (!c.length)
		return "it does not have 16 segments of 16 bins without a gap";
	summary(&c, bin_ms, row);
	free(c.value);
	return NULL;
}

const char *pair_coherence(const struct layers *l, const struct layer *from, const struct layer *to,
	const double *parameter, json_t *row)
{
	double bin_ms = or_default(parameter[DEMAND_BIN], 1), *x = NULL, *y = NULL;
	size_t bins = layers_bins(l, bin_ms);
	const char *why = layer_too_fine(from, bins) ?: layer_too_fine(to, bins);

	row_set(row, "bin_ms", bin_ms);
	if (!why) {
		why = NO_MEMORY;
		if (!layer_bins(l, from, bin_ms, false, &x) &&
			!layer_bins(l, to, bin_ms, false, &y))
			why = compare(x, y, bins, bin_ms, row);
	}
	free(x);
	free(y);
	return why;
}
