/* SPDX-License-Identifier: MIT */
/* The leaky bucket that lets all packets pass (Tang & Tai 1999). */
#include <math.h>

#include "stats.h"

double stat_bucket(const struct stat_unit *u, size_t n, double bytes_per_s)
{
	double q = 0, most = 0, rate_ns = bytes_per_s / 1e9;

	for (size_t i = 0; i < n; i++) {
		if (i)
			q -= rate_ns * (u[i].t_ns - u[i - 1].t_ns);
		q = (q > 0 ? q : 0) + u[i].bytes;
		most = q > most ? q : most;
	}
	return most;
}

/* Finds the rate by bisection, as b* falls when the rate grows. */
double stat_rate(const struct stat_unit *u, size_t n, double bucket_bytes)
{
	double low = 0, high = 1;

	if (!n || stat_bucket(u, n, 0) <= bucket_bytes)
		return 0;
	while (stat_bucket(u, n, high) > bucket_bytes) {
		low = high;
		high *= 2;
		if (high > 1e15) /* more than a byte per picosecond */
			return INFINITY;
	}
	while (high - low > high * 1e-12) {
		double middle = (low + high) / 2;

		if (stat_bucket(u, n, middle) > bucket_bytes)
			low = middle;
		else
			high = middle;
	}
	return high;
}
