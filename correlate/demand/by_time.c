/* SPDX-License-Identifier: MIT */
/* Statistics in time: bursts and the dispersion of counts. */
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "rows.h"

void row_set(json_t *row, const char *key, double value)
{
	json_object_set_new(row, key, isfinite(value) ? json_real(value) : json_null());
}

enum burst_field { UNITS, LENGTH, DURATION };

static double field(const struct stat_burst *b, enum burst_field which)
{
	return which == UNITS ? b->units : which == LENGTH ? b->bytes : b->duration_ns;
}

/*
 * Returns the distribution of a burst's property; its 99th percentile needs ten bursts beyond it.
 */
static json_t *spread(const struct stat_burst *b, size_t n, enum burst_field which, double *values)
{
	json_t *j = json_object();
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i] = field(&b[i], which);
	qsort(values, n, sizeof(*values), stat_ascending);
	row_set(j, "mean", sum / (double)n);
	row_set(j, "p50", stat_quantile(values, n, 0.5));
	row_set(j, "p99",
		n - (size_t)ceil(0.99 * (double)n - 1e-9) >= 10 ? stat_quantile(values, n, 0.99)
								: NAN);
	row_set(j, "max", n ? values[n - 1] : NAN);
	return j;
}

const char *row_bursts(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	double gap_ms = or_default(parameter[DEMAND_GAP], 1), *values;
	struct stat_burst *bursts;
	size_t n, kept, dropped;
	struct stat_unit *u;

	if (layer_units(l, of, &u, &n))
		return NO_MEMORY;
	bursts = mg_malloc((n + 1) * sizeof(*bursts));
	values = mg_malloc((n + 1) * sizeof(*values));
	if (!bursts || !values) {
		free(bursts);
		free(values);
		free(u);
		return NO_MEMORY;
	}
	kept = stat_bursts(u, n, layer_gaps(of), gap_ms * 1e6, bursts, &dropped);
	row_set(row, "gap_ms", gap_ms);
	json_object_set_new(row, "bursts", json_integer((json_int_t)kept));
	json_object_set_new(row, "left_out", json_integer((json_int_t)dropped));
	/* dropped bursts may have been longer */
	json_object_set_new(row, "max_at_least", json_boolean(dropped > 0));
	if (kept) {
		json_object_set_new(row, "units", spread(bursts, kept, UNITS, values));
		json_object_set_new(row, "bytes", spread(bursts, kept, LENGTH, values));
		json_object_set_new(row, "duration_ns", spread(bursts, kept, DURATION, values));
	}
	free(bursts);
	free(values);
	free(u);
	return kept ? NULL : "every burst touches a gap in the recording";
}

const char *row_idc(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	double bin_ms = or_default(parameter[DEMAND_BIN], 1), *bin;
	size_t bins = layers_bins(l, bin_ms);
	struct stat_idc out[STAT_OCTAVES];
	json_t *windows = json_array();
	const char *why;
	int n;

	row_set(row, "bin_ms", bin_ms);
	json_object_set_new(row, "windows", windows);
	why = layer_too_fine(of, bins);
	if (why)
		return why;
	if (layer_bins(l, of, bin_ms, true, &bin))
		return NO_MEMORY;
	n = stat_idc(bin, bins, out);
	free(bin);
	if (n < 0)
		return NO_MEMORY;
	for (int i = 0; i < n; i++) {
		json_t *w = json_object();

		row_set(w, "window_ms", bin_ms * (double)out[i].bins);
		json_object_set_new(w, "n", json_integer((json_int_t)out[i].windows));
		row_set(w, "mean", out[i].mean);
		row_set(w, "idc", out[i].idc);
		json_array_append_new(windows, w);
	}
	return n ? NULL : "it does not have 30 windows without a gap";
}
