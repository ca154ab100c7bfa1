/* SPDX-License-Identifier: MIT */
/* Spacings and bins of packets. */
#include <math.h>

#include "stats.h"

/* Returns whether [from, to] touches a gap; `at` is the first gap that may, and moves along. */
static bool touches(struct stat_gaps gaps, size_t *at, double from, double to)
{
	while (*at < gaps.n && gaps.v[*at].to_ns < from)
		(*at)++;
	return *at < gaps.n && gaps.v[*at].from_ns <= to;
}

size_t stat_spacings(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double *out)
{
	size_t at = 0, kept = 0;

	for (size_t i = 1; i < n; i++)
		if (!touches(gaps, &at, u[i - 1].t_ns, u[i].t_ns))
			out[kept++] = u[i].t_ns - u[i - 1].t_ns;
	return kept;
}

void stat_bins(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double from_ns,
	double width_ns, bool count, double *bin, size_t bins)
{
	for (size_t b = 0; b < bins; b++)
		bin[b] = 0;
	for (size_t i = 0; i < n; i++) {
		double place = floor((u[i].t_ns - from_ns) / width_ns);

		if (place >= 0 && place < (double)bins)
			bin[(size_t)place] += count ? 1 : u[i].bytes;
	}
	for (size_t g = 0; g < gaps.n; g++) {
		double first = floor((gaps.v[g].from_ns - from_ns) / width_ns);
		double last = floor((gaps.v[g].to_ns - from_ns) / width_ns);

		for (double b = first < 0 ? 0 : first; b <= last && b < (double)bins; b++)
			bin[(size_t)b] = NAN;
	}
}

int stat_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stat_quantile(const double *sorted, size_t n, double q)
{
	size_t rank = (size_t)ceil(q * (double)n - 1e-9);

	return n ? sorted[rank > 0 ? rank - 1 : 0] : NAN;
}
