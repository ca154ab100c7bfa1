/* SPDX-License-Identifier: MIT */
/*
 * Special functions: asymptotic series (DLMF 5.11, 5.15, 25.11) and the incomplete gamma function.
 */
#include <float.h>
#include <math.h>

#include "stats.h"

#define LARGE 16 /* from here on the series below are exact to the last digits */

double stat_digamma(double x)
{
	double sum = 0, z;

	for (; x < LARGE; x++)
		sum -= 1 / x;
	z = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       z * (1. / 12 - z * (1. / 120 -
					  z * (1. / 252 -
						      z * (1. / 240 -
								  z * (1. / 132 -
									      z * 691. / 32760)))));
}

/* Returns the sum of 1/(a+k)^2 by Euler-Maclaurin. */
double stat_zeta2(double a)
{
	double sum = 0, z;

	for (; a < LARGE; a++)
		sum += 1 / (a * a);
	z = 1 / (a * a);
	return sum + 1 / a + 0.5 * z +
	       z / a *
		       (1. / 6 -
			       z * (1. / 30 -
					   z * (1. / 42 -
						       z * (1. / 30 -
								   z * (5. / 66 -
									       z * 691. / 2730)))));
}

/* Returns the regularised lower incomplete gamma function by its series, for x < a + 1. */
static double gamma_p(double a, double x)
{
	double term = 1 / a, sum = term;

	for (double n = a + 1; fabs(term) > fabs(sum) * DBL_EPSILON / 4; n++)
		sum += term *= x / n;
	return sum * exp(a * log(x) - x - lgamma(a));
}

/* Returns the upper one by its continued fraction (Lentz), for x >= a + 1. */
static double gamma_q(double a, double x)
{
	const double tiny = DBL_MIN / DBL_EPSILON;
	double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d, step = 0;

	for (int i = 1; i < 10000 && fabs(step - 1) > DBL_EPSILON; i++) {
		double an = -i * (i - a);

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + an / c;
		c = fabs(c) < tiny ? tiny : c;
		h *= step = c * d;
	}
	return h * exp(a * log(x) - x - lgamma(a));
}

double stat_chi2_beyond(double x, double k)
{
	double a = k / 2;

	x /= 2;
	if (!(x > 0)) /* NAN stays NAN */
		return isnan(x) ? x : 1;
	return x < a + 1 ? 1 - gamma_p(a, x) : gamma_q(a, x);
}
