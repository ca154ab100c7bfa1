/* SPDX-License-Identifier: MIT */
/* Energy by scale in Haar wavelets, and the line it lies on (Veitch & Abry 1999). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "stats.h"

#define COEFFICIENTS      4 /* least coefficients of an octave */
#define COEFFICIENTS_LINE 8 /* least coefficients of an octave used for the line */
#define OCTAVES_LINE      4

int stat_wavelet(const double *bin, size_t bins, struct stat_octave out[STAT_OCTAVES])
{
	double *smooth = mg_malloc((bins + 1) * sizeof(*smooth));
	int found = 0;

	if (!smooth)
		return -ENOMEM;
	memcpy(smooth, bin, bins * sizeof(*smooth));
	for (int j = 1; bins / 2 >= COEFFICIENTS && found < STAT_OCTAVES; j++) {
		struct stat_octave o = {.j = j};
		double half;

		bins /= 2;
		for (size_t k = 0; k < bins; k++) {
			double a = smooth[2 * k], b = smooth[2 * k + 1];

			if (!isnan(a - b)) { /* no gap in its support */
				o.energy += (a - b) * (a - b);
				o.n++;
			}
			smooth[k] = a + b; /* not scaled, so that whole numbers stay exact */
		}
		if (o.n < COEFFICIENTS)
			break;
		o.energy = ldexp(o.energy / (double)o.n, -j);
		half = (double)o.n / 2;
		o.y = log2(o.energy) - stat_digamma(half) / M_LN2 + log2(half);
		o.sigma = sqrt(stat_zeta2(half)) / M_LN2;
		out[found++] = o;
	}
	free(smooth);
	return found;
}

struct stat_scaling stat_scaling_between(const struct stat_octave *o, int n, int from, int to)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, chi2 = 0, cut, det;
	struct stat_scaling s = {from, to, NAN, NAN, NAN};
	int used = 0;

	for (int i = 0; i < n; i++) {
		double weight = 1 / (o[i].sigma * o[i].sigma), x = o[i].j;

		if (o[i].j < from || o[i].j > to)
			continue;
		w += weight;
		wx += weight * x;
		wxx += weight * x * x;
		wy += weight * o[i].y;
		wxy += weight * x * o[i].y;
		used++;
	}
	if (used < 3)
		return s;
	det = w * wxx - wx * wx;
	s.alpha = (w * wxy - wx * wy) / det;
	s.error = 1.959963984540054 * sqrt(w / det);
	cut = (wy - s.alpha * wx) / w;
	for (int i = 0; i < n; i++) {
		double off = o[i].y - cut - s.alpha * o[i].j;

		if (o[i].j >= from && o[i].j <= to)
			chi2 += off * off / (o[i].sigma * o[i].sigma);
	}
	s.p = stat_chi2_beyond(chi2, used - 2);
	return s;
}

struct stat_scaling stat_scaling(const struct stat_octave *o, int n)
{
	struct stat_scaling s = {0, 0, NAN, NAN, NAN};
	int last = n;

	while (last && o[last - 1].n < COEFFICIENTS_LINE)
		last--;
	for (int first = 0; first + OCTAVES_LINE <= last; first++) {
		s = stat_scaling_between(o, n, o[first].j, o[last - 1].j);
		if (s.p > 0.05)
			return s;
	}
	s.from = s.to = 0;
	s.alpha = s.error = NAN;
	return s;
}
