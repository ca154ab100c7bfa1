/* SPDX-License-Identifier: MIT */
/*
 * Variance-time: how the variance of a series falls as it is averaged over longer blocks (Leland et
 * al. 1994).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "stats.h"

static struct stat_vt variance(const double *sum, size_t n, size_t m)
{
	struct stat_vt v = {.m = m};
	double all = 0, square = 0, mean;

	for (size_t i = 0; i < n; i++)
		if (!isnan(sum[i])) {
			all += sum[i];
			v.blocks++;
		}
	mean = all / (double)v.blocks;
	for (size_t i = 0; i < n; i++)
		if (!isnan(sum[i]))
			square += (sum[i] - mean) * (sum[i] - mean);
	v.variance = square / (double)(v.blocks - 1) / ((double)m * (double)m);
	return v;
}

int stat_variance_time(const double *bin, size_t bins, struct stat_vt out[STAT_OCTAVES])
{
	double *sum = mg_malloc((bins + 1) * sizeof(*sum));
	size_t n = bins;
	int k = 0;

	if (!sum)
		return -ENOMEM;
	memcpy(sum, bin, bins * sizeof(*sum));
	for (size_t m = 1; n >= STAT_VT_BLOCKS && k < STAT_OCTAVES; m *= 2) {
		out[k] = variance(sum, n, m);
		if (out[k].blocks < STAT_VT_BLOCKS || !(out[k].variance > 0))
			break;
		k++;
		n /= 2;
		for (size_t i = 0; i < n; i++)
			sum[i] = sum[2 * i] + sum[2 * i + 1];
	}
	free(sum);
	return k;
}

/*
 * More blocks than these do not make a point more certain; the limit keeps the sum over lags short.
 */
#define BLOCKS_COUNTED 65536

/* Returns the autocorrelation of fractional Gaussian noise. */
static double lag_correlation(double h, double lag)
{
	return 0.5 * (pow(lag + 1, 2 * h) - 2 * pow(lag, 2 * h) + pow(lag - 1, 2 * h));
}

/*
 * Computes the standard deviations of the log2 of each variance for fractional Gaussian noise: its
 * squared correlations give the number of independent blocks that the dependent ones are worth. The
 * number of blocks falls from point to point.
 */
static void deviations(const struct stat_vt *v, int n, double h, double *sigma)
{
	double square = 0, weighted = 0, lag = 1;

	for (int i = n - 1; i >= 0; i--) {
		double blocks = v[i].blocks < BLOCKS_COUNTED ? (double)v[i].blocks : BLOCKS_COUNTED;

		for (; lag < blocks; lag++) {
			double r = lag_correlation(h, lag);

			square += r * r;
			weighted += lag * r * r;
		}
		sigma[i] = sqrt(2 / blocks * (1 + 2 * (square - weighted / blocks))) / M_LN2;
	}
}

/*
 * The points depend on each other. The sum of their deviations, each weighted by its effect on the
 * slope, bounds the slope's error whatever the dependence.
 */
struct stat_slope stat_variance_time_slope(const struct stat_vt *v, int n, double h)
{
	struct stat_slope s = {NAN, NAN};
	double x[STAT_OCTAVES], sigma[STAT_OCTAVES], mean = 0, spread = 0;

	if (n < 3)
		return s;
	for (int i = 0; i < n; i++) {
		x[i] = log2((double)v[i].m);
		mean += x[i] / n;
	}
	for (int i = 0; i < n; i++)
		spread += (x[i] - mean) * (x[i] - mean);
	s.slope = s.error = 0;
	for (int i = 0; i < n; i++)
		s.slope += (x[i] - mean) / spread * log2(v[i].variance);
	h = isnan(h) ? 1 + s.slope / 2 : h;
	deviations(v, n, h < 0.5 ? 0.5 : h > 0.99 ? 0.99 : h, sigma);
	for (int i = 0; i < n; i++)
		s.error += fabs(x[i] - mean) / spread * sigma[i];
	s.error *= 1.959963984540054;
	return s;
}
