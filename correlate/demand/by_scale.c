/* SPDX-License-Identifier: MIT */
/*
 * Statistics by time scale: variance, energy and the Hurst parameter. They count bytes, as packets
 * differ between layers.
 */
#include <math.h>
#include <stdlib.h>

#include "rows.h"

/* Returns NULL, and `bin`, which the caller frees; else the reason for which there are no bins. */
static const char *bytes_in_bins(const struct layers *l, const struct layer *of,
	const double *parameter, json_t *row, double **bin, size_t *bins)
{
	double bin_ms = or_default(parameter[DEMAND_BIN], 1);
	const char *why;

	*bin = NULL;
	*bins = layers_bins(l, bin_ms);
	row_set(row, "bin_ms", bin_ms);
	json_object_set_new(row, "bins", json_integer((json_int_t)*bins));
	why = layer_too_fine(of, *bins);
	if (why)
		return why;
	return layer_bins(l, of, bin_ms, false, bin) ? NO_MEMORY : NULL;
}

static const char *no_hurst(enum stat_no_hurst why)
{
	static const char *const reasons[] = {
		[HURST_KNOWN] = NULL,
		[HURST_GAP] = "events of this layer are missing",
		[HURST_SHORT] = "the flow has fewer than 16,384 bins",
		[HURST_NO_LINE] =
			"no four octaves up to the largest lie on a line (chi-square, 5 %)",
		[HURST_RANGE] = "the slope is not that of stationary traffic, H of 0.5 to 1",
		[HURST_HALVES] = "the first half and the second differ",
		[HURST_ESTIMATORS] = "wavelets and variance-time differ",
	};

	return reasons[why];
}

/* Computes H; refuses it also where bytes are missing that no gap covers. */
static const char *hurst_of(
	const struct layer *of, const double *bin, size_t bins, struct stat_hurst *h)
{
	if (stat_hurst(bin, bins, h))
		return NO_MEMORY;
	if (of->coverage < COVERS_MOST && !h->refused) {
		h->h = h->error = NAN;
		return "less than 99 % of the bytes were seen at this layer";
	}
	return no_hurst(h->refused);
}

static void set_hurst(json_t *row, const struct stat_hurst *h, const char *refused)
{
	row_set(row, "H", h->h);
	row_set(row, "H_error", h->error);
	json_object_set_new(row, "H_refused", refused ? json_string(refused) : json_null());
}

const char *row_variance_time(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	struct stat_vt v[STAT_OCTAVES];
	json_t *points = json_array();
	struct stat_slope slope;
	struct stat_hurst h;
	const char *why;
	double *bin;
	size_t bins;
	int n;

	json_object_set_new(row, "points", points);
	why = bytes_in_bins(l, of, parameter, row, &bin, &bins);
	if (why)
		return why;
	n = stat_variance_time(bin, bins, v);
	why = n < 0 ? NO_MEMORY : hurst_of(of, bin, bins, &h);
	free(bin);
	if (n < 0)
		return why;
	for (int i = 0; i < n; i++)
		json_array_append_new(
			points, json_pack("{s:I, s:I, s:f}", "m", (json_int_t)v[i].m, "blocks",
					(json_int_t)v[i].blocks, "variance", v[i].variance));
	slope = stat_variance_time_slope(v, n, NAN);
	row_set(row, "slope", slope.slope);
	row_set(row, "slope_error", slope.error);
	row_set(row, "H", why ? NAN : 1 + slope.slope / 2);
	json_object_set_new(row, "H_refused", why ? json_string(why) : json_null());
	return n < 3 ? "it does not have 30 blocks of four bins that vary" : NULL;
}

const char *row_hurst(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	struct stat_hurst h;
	const char *why;
	double *bin;
	size_t bins;

	why = bytes_in_bins(l, of, parameter, row, &bin, &bins);
	if (why)
		return why;
	why = hurst_of(of, bin, bins, &h);
	free(bin);
	set_hurst(row, &h, why);
	json_object_del(row, "H_refused"); /* the row itself has the reason */
	if (h.scaling.from) {
		json_object_set_new(row, "octave_from", json_integer(h.scaling.from));
		json_object_set_new(row, "octave_to", json_integer(h.scaling.to));
	}
	row_set(row, "alpha", h.scaling.alpha);
	row_set(row, "alpha_error", h.scaling.error);
	row_set(row, "chi2_p", h.scaling.p);
	row_set(row, "first_half", h.half[0]);
	row_set(row, "first_half_error", h.half_error[0]);
	row_set(row, "second_half", h.half[1]);
	row_set(row, "second_half_error", h.half_error[1]);
	row_set(row, "variance_time", h.variance_time);
	row_set(row, "variance_time_error", h.vt_error);
	return why;
}

static const char *octaves(const struct layers *l, const struct layer *of, const double *parameter,
	json_t *row, struct stat_octave o[STAT_OCTAVES], int *n)
{
	const char *why;
	double *bin;
	size_t bins;

	*n = 0;
	why = bytes_in_bins(l, of, parameter, row, &bin, &bins);
	if (why)
		return why;
	*n = stat_wavelet(bin, bins, o);
	free(bin);
	return *n < 0 ? NO_MEMORY : *n == 0 ? "it does not have 8 bins without a gap" : NULL;
}

const char *row_spectrum(
	const struct layers *l, const struct layer *of, const double *parameter, json_t *row)
{
	double bin_ms = or_default(parameter[DEMAND_BIN], 1);
	struct stat_octave o[STAT_OCTAVES];
	json_t *all = json_array();
	const char *why;
	int n;

	json_object_set_new(row, "octaves", all);
	why = octaves(l, of, parameter, row, o, &n);
	for (int i = 0; i < n; i++) {
		json_t *j = json_object();

		json_object_set_new(j, "octave", json_integer(o[i].j));
		row_set(j, "scale_ms", ldexp(bin_ms, o[i].j));
		json_object_set_new(j, "n", json_integer((json_int_t)o[i].n));
		row_set(j, "y", o[i].y);
		row_set(j, "sigma", o[i].sigma);
		json_array_append_new(all, j);
	}
	return why;
}

const char *pair_spectrum(const struct layers *l, const struct layer *from, const struct layer *to,
	const double *parameter, json_t *row)
{
	double bin_ms = or_default(parameter[DEMAND_BIN], 1);
	struct stat_octave a[STAT_OCTAVES], b[STAT_OCTAVES];
	json_t *all = json_array();
	const char *why;
	int an, bn = 0;

	json_object_set_new(row, "octaves", all);
	why = octaves(l, from, parameter, row, a, &an);
	if (!why)
		why = octaves(l, to, parameter, row, b, &bn);
	for (int i = 0; !why && i < an && i < bn; i++) { /* both begin at octave 1 */
		json_t *j = json_object();

		json_object_set_new(j, "octave", json_integer(a[i].j));
		row_set(j, "scale_ms", ldexp(bin_ms, a[i].j));
		row_set(j, "difference", b[i].y - a[i].y);
		json_array_append_new(all, j);
	}
	return why;
}
