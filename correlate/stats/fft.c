/* SPDX-License-Identifier: MIT */
/* Discrete Fourier transform of a power of two of values (Cooley & Tukey 1965). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "complex_numbers.h"
#include "stats.h"

static void reverse_bits(double complex *x, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			double complex swap = x[i];

			x[i] = x[j];
			x[j] = swap;
		}
	}
}

int stat_fft(double complex *x, size_t n)
{
	double complex *root;

	if (n < 2)
		return 0;
	root = mg_malloc(n / 2 * sizeof(*root));
	if (!root)
		return -ENOMEM;
	for (size_t k = 0; k < n / 2; k++) {
		double angle = -2 * M_PI * (double)k / (double)n;

		root[k] = CMPLX(cos(angle), sin(angle));
	}
	reverse_bits(x, n);
	for (size_t half = 1; half < n; half *= 2)
		for (size_t begin = 0; begin < n; begin += 2 * half)
			for (size_t k = 0; k < half; k++) {
				double complex a = x[begin + k];
				double complex b = x[begin + k + half],
					       r = root[k * (n / 2 / half)];
				/*
				 * written out: the compiler's product checks for infinities, and is
				 * slow
				 */
				double complex p = CMPLX(creal(b) * creal(r) - cimag(b) * cimag(r),
					creal(b) * cimag(r) + cimag(b) * creal(r));

				x[begin + k] = a + p;
				x[begin + k + half] = a - p;
			}
	free(root);
	return 0;
}
