/* SPDX-License-Identifier: MIT */
#include <complex.h>

#include "stats.h"
#include "unit.h"

static void tau_is_the_sum_of_its_definition(void **unused)
{
	uint64_t state = 5;

	(void)unused;
	for (size_t n = 1; n <= 64; n *= 2) {
		double complex x[64], out[64];

		for (size_t i = 0; i < n; i++)
			out[i] = x[i] = CMPLX((double)unit_random_below(&state, 2000) - 1000,
				(double)unit_random_below(&state, 2000) - 1000);
		assert_int_equal(stat_fft(out, n), 0);
		for (size_t k = 0; k < n; k++) {
			double complex sum = 0;

			for (size_t i = 0; i < n; i++)
				sum += x[i] *
				       cexp(CMPLX(0, -2 * M_PI * (double)(i * k % n) / (double)n));
			assert_near(creal(out[k]), creal(sum), 1e-9);
			assert_near(cimag(out[k]), cimag(sum), 1e-9);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tau_is_the_sum_of_its_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
