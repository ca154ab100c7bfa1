/* SPDX-License-Identifier: MIT */
/* Sizes and spacings of packets at a layer (method: Table III of the seeds). */
#include "sums/units.h"

#include <math.h>
#include <string.h>

#include "sums/dist.h"
#include "sums/series.h"

void unit_add(struct unit_stats *u, uint64_t t, uint64_t size)
{
	if (u->n == 0) {
		u->first_t = t;
	} else if (u->last_t >= u->gap_to || t <= u->gap_from) {
		/* two CPUs' clocks may differ by less than the bound: then the spacing is 0 */
		uint64_t gap = t > u->last_t ? t - u->last_t : 0;

		dist_add(&u->gaps, gap, 1);
		u->gap_sum2 += (double)gap * (double)gap;
	}
	if (t > u->last_t)
		u->last_t = t;
	u->n++;
	u->bytes += size;
	u->size_sum2 += (double)size * (double)size;
	if (u->series)
		series_add(u->series, t, size, false);
}

void unit_more(struct unit_stats *u, uint64_t bytes)
{
	u->bytes += bytes;
	if (u->series)
		series_add_bytes(u->series, bytes);
}

void unit_repeat(struct unit_stats *u, uint64_t t, uint64_t len)
{
	u->again_n++;
	if (u->series)
		series_add(u->series, t, len, true);
}

void unit_gap(struct unit_stats *u, uint64_t from, uint64_t to)
{
	if (u->last_t < u->gap_to && u->gap_from < from) /* the packet before is still to come */
		from = u->gap_from;
	if (to < u->gap_to)
		to = u->gap_to;
	u->gap_from = from;
	u->gap_to = to;
}

static double cov(double sum, double sum2, double n)
{
	double mean = sum / n, variance = sum2 / n - mean * mean;

	return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

double unit_mean_size(const struct unit_stats *u)
{
	return u->n ? (double)u->bytes / (double)u->n : 0;
}

double unit_cov_size(const struct unit_stats *u)
{
	return u->n ? cov((double)u->bytes, u->size_sum2, (double)u->n) : 0;
}

double unit_mean_gap(const struct unit_stats *u)
{
	return u->gaps.n ? (double)u->gaps.sum / (double)u->gaps.n : 0;
}

double unit_cov_gap(const struct unit_stats *u)
{
	return u->gaps.n ? cov((double)u->gaps.sum, u->gap_sum2, (double)u->gaps.n) : 0;
}

void unit_free(struct unit_stats *u)
{
	dist_free(&u->gaps);
}
