/* SPDX-License-Identifier: MIT */
/* The Hurst parameter, where there is one: it is refused for most traffic. */
#include <errno.h>
#include <math.h>

#include "stats.h"

static bool overlap(double a, double a_error, double b, double b_error)
{
	return fabs(a - b) <= a_error + b_error;
}

static int of_halves(const double *bin, size_t bins, struct stat_hurst *out)
{
	for (int i = 0; i < 2; i++) {
		struct stat_octave o[STAT_OCTAVES];
		int n = stat_wavelet(bin + (i ? bins / 2 : 0), bins / 2, o);
		struct stat_scaling s;

		if (n < 0)
			return n;
		s = stat_scaling_between(o, n, out->scaling.from, out->scaling.to);
		out->half[i] = (1 + s.alpha) / 2;
		out->half_error[i] = s.error / 2;
	}
	return 0;
}

/*
 * Estimates H by variance-time over the same scales: it starts with the blocks whose differences
 * are the coefficients of the finest octave.
 */
static int by_variance_time(const double *bin, size_t bins, struct stat_hurst *out)
{
	struct stat_vt v[STAT_OCTAVES];
	int n = stat_variance_time(bin, bins, v), first = out->scaling.from - 1;
	struct stat_slope s;

	if (n < 0)
		return n;
	s = stat_variance_time_slope(v + first, n - first, (1 + out->scaling.alpha) / 2);
	out->variance_time = 1 + s.slope / 2;
	out->vt_error = s.error / 2;
	return 0;
}

/*
 * Returns half of an interval about `h` that contains those of the lines that begin one and two
 * octaves later. Another process at the finest scales, such as late timers, bends the line before
 * the test can detect it, so the start of the line is uncertain too.
 */
static double error_of_begin(
	const struct stat_octave *o, int n, const struct stat_hurst *of, double h)
{
	double error = of->scaling.error / 2;

	for (int later = 1; later <= 2; later++) {
		struct stat_scaling s =
			stat_scaling_between(o, n, of->scaling.from + later, of->scaling.to);

		if (!isnan(s.alpha))
			error = fmax(error, fabs((1 + s.alpha) / 2 - h) + s.error / 2);
	}
	return error;
}

static bool has_gap(const double *bin, size_t bins)
{
	for (size_t i = 0; i < bins; i++)
		if (isnan(bin[i]))
			return true;
	return false;
}

int stat_hurst(const double *bin, size_t bins, struct stat_hurst *out)
{
	struct stat_octave o[STAT_OCTAVES];
	double h, error;
	int n;

	*out = (struct stat_hurst){.h = NAN,
		.error = NAN,
		.scaling = {0, 0, NAN, NAN, NAN},
		.half = {NAN, NAN},
		.half_error = {NAN, NAN},
		.variance_time = NAN,
		.vt_error = NAN};
	out->refused = has_gap(bin, bins)       ? HURST_GAP
		       : bins < STAT_HURST_BINS ? HURST_SHORT
						: HURST_KNOWN;
	if (out->refused)
		return 0;
	n = stat_wavelet(bin, bins, o);
	if (n < 0)
		return n;
	out->scaling = stat_scaling(o, n);
	out->refused = HURST_NO_LINE;
	if (!out->scaling.from)
		return 0;
	if (of_halves(bin, bins, out) || by_variance_time(bin, bins, out))
		return -ENOMEM;
	h = (1 + out->scaling.alpha) / 2;
	error = out->scaling.error / 2;
	/* below one half, energy falls with the scale: a clock or a regulator */
	if (!(h + error >= 0.5 && h < 1))
		out->refused = HURST_RANGE;
	else if (!overlap(out->half[0], out->half_error[0], out->half[1], out->half_error[1]))
		out->refused = HURST_HALVES;
	else if (!overlap(h, error, out->variance_time, out->vt_error))
		out->refused = HURST_ESTIMATORS;
	else
		out->refused = HURST_KNOWN;
	if (!out->refused) {
		out->h = h;
		out->error = error_of_begin(o, n, out, h);
	}
	return 0;
}
