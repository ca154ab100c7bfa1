/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

/* 1 and -1 alternate: all energy, (1 + 1)^2 / 2 = 2, is in the finest octave. */
static void energy_is_in_the_octave_it_belongs_to(void **unused)
{
	struct stat_octave o[STAT_OCTAVES];
	double bin[64];

	(void)unused;
	for (int i = 0; i < 64; i++)
		bin[i] = i % 2 ? -1 : 1;
	assert_int_equal(stat_wavelet(bin, 64, o), 4);
	assert_int_equal(o[0].j, 1);
	assert_int_equal(o[0].n, 32);
	assert_near(o[0].energy, 2, 1e-15);
	for (int i = 1; i < 4; i++)
		assert_true(o[i].energy == 0 && isinf(o[i].y));
	for (int i = 0; i < 64; i++)
		bin[i] = i / 4 % 2; /* 0 0 0 0 1 1 1 1: octave 3, coefficients -4/sqrt 8 */
	assert_int_equal(stat_wavelet(bin, 64, o), 4);
	assert_int_equal(o[2].j, 3);
	assert_int_equal(o[2].n, 8);
	assert_near(o[2].energy, 2, 1e-14);
	assert_true(o[0].energy == 0 && o[1].energy == 0 && o[3].energy == 0);
}

/* For n = 8 coefficients: psi(4) = 11/6 - gamma, zeta(2,4) = pi^2/6 - 1 - 1/4 - 1/9. */
static void y_and_sigma_are_those_of_the_formula(void **unused)
{
	struct stat_octave o[STAT_OCTAVES];
	double bin[16];

	(void)unused;
	for (int i = 0; i < 16; i++)
		bin[i] = i % 2 ? 0 : 4;
	assert_int_equal(stat_wavelet(bin, 16, o), 2);
	assert_near(o[0].y, 3 - (11. / 6 - 0.57721566490153286) / M_LN2 + 2, 1e-14);
	assert_near(o[0].sigma, sqrt(M_PI * M_PI / 6 - 49. / 36) / M_LN2, 1e-14);
}

static void coefficients_over_a_gap_are_left_out(void **unused)
{
	struct stat_octave o[STAT_OCTAVES];
	double bin[64];

	(void)unused;
	for (int i = 0; i < 64; i++)
		bin[i] = i * i % 17;
	bin[5] = NAN;
	assert_int_equal(stat_wavelet(bin, 64, o), 3);
	assert_int_equal(o[0].n, 31);
	assert_int_equal(o[1].n, 15);
	assert_int_equal(o[2].n, 7);
}

static void octaves(struct stat_octave *o, int n, double alpha)
{
	for (int i = 0; i < n; i++) {
		size_t coefficients = (size_t)8 << (n - 1 - i);

		o[i] = (struct stat_octave){.j = i + 1,
			.n = coefficients,
			.y = 3 + alpha * i,
			.sigma = sqrt(stat_zeta2((double)coefficients / 2)) / M_LN2};
	}
}

static void a_line_is_found_where_it_begins(void **unused)
{
	struct stat_octave o[10];
	struct stat_scaling s;

	(void)unused;
	octaves(o, 10, 0.6);
	s = stat_scaling(o, 10);
	assert_int_equal(s.from, 1);
	assert_int_equal(s.to, 10);
	assert_near(s.alpha, 0.6, 1e-13);
	assert_near(s.p, 1, 1e-12);
	o[0].y += 1;
	o[1].y -= 1;
	s = stat_scaling(o, 10);
	assert_int_equal(s.from, 3);
	assert_near(s.alpha, 0.6, 1e-13);
	for (int i = 0; i < 10; i++)
		o[i].y += i % 2 ? 5 : -5;
	s = stat_scaling(o, 10);
	assert_int_equal(s.from, 0);
	assert_true(isnan(s.alpha) && s.p <= 0.05);
}

static void three_octaves_are_no_line(void **unused)
{
	struct stat_octave o[3];

	(void)unused;
	octaves(o, 3, 0.6);
	assert_int_equal(stat_scaling(o, 3).from, 0);
	assert_int_equal(stat_scaling(o, 0).from, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_is_in_the_octave_it_belongs_to),
		cmocka_unit_test(y_and_sigma_are_those_of_the_formula),
		cmocka_unit_test(coefficients_over_a_gap_are_left_out),
		cmocka_unit_test(a_line_is_found_where_it_begins),
		cmocka_unit_test(three_octaves_are_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
