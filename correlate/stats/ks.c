/* SPDX-License-Identifier: MIT */
/* Distance of two distributions as an effect size; no test, as spacings depend on each other. */
#include <math.h>
#include <stdlib.h>

#include "stats.h"

struct stat_ks stat_ks(double *a, size_t an, double *b, size_t bn)
{
	struct stat_ks ks = {0, NAN};
	size_t i = 0, j = 0;

	qsort(a, an, sizeof(*a), stat_ascending);
	qsort(b, bn, sizeof(*b), stat_ascending);
	while (i < an && j < bn) {
		double x = a[i] < b[j] ? a[i] : b[j], d;

		while (i < an && a[i] == x)
			i++;
		while (j < bn && b[j] == x)
			j++;
		d = fabs((double)i / (double)an - (double)j / (double)bn);
		if (d > ks.sup) {
			ks.sup = d;
			ks.at = x;
		}
	}
	return ks;
}
