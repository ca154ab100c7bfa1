/* SPDX-License-Identifier: MIT */
/* Jain's fairness index (Jain, Chiu & Hawe, DEC-TR-301, 1984). */
#include <math.h>

#include "stats.h"

double stat_jain(const double *x, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : NAN;
}
