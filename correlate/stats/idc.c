/* SPDX-License-Identifier: MIT */
/* Index of dispersion for counts (Gusella 1991): Var N_t / E N_t. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "stats.h"

/* Computes means, then squares about them in a second pass: counts may be large and vary little. */
static struct stat_idc dispersion(const double *count, size_t n, size_t bins)
{
	struct stat_idc d = {.bins = bins};
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(count[i])) {
			sum += count[i];
			d.windows++;
		}
	d.mean = sum / (double)d.windows;
	for (size_t i = 0; i < n; i++)
		if (!isnan(count[i]))
			square += (count[i] - d.mean) * (count[i] - d.mean);
	d.idc = square / (double)(d.windows - 1) / d.mean;
	return d;
}

int stat_idc(const double *bin, size_t bins, struct stat_idc out[STAT_OCTAVES])
{
	double *count = mg_malloc((bins + 1) * sizeof(*count));
	size_t n = bins;
	int k = 0;

	if (!count)
		return -ENOMEM;
	memcpy(count, bin, bins * sizeof(*count));
	for (size_t width = 1; n >= STAT_IDC_WINDOWS && k < STAT_OCTAVES; width *= 2) {
		out[k] = dispersion(count, n, width);
		if (out[k].windows < STAT_IDC_WINDOWS || !(out[k].mean > 0))
			break;
		k++;
		n /= 2;
		for (size_t i = 0; i < n; i++)
			count[i] = count[2 * i] + count[2 * i + 1];
	}
	free(count);
	return k;
}
