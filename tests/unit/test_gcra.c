/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

static void packets_fill_cells_with_their_trailer(void **unused)
{
	(void)unused;
	assert_near(stat_cells(0), 1, 0);
	assert_near(stat_cells(40), 1, 0);
	assert_near(stat_cells(41), 2, 0);
	assert_near(stat_cells(1500), 32, 0);
}

/* Computes tau as I.371 defines it, cell by cell. */
static double by_cells(const struct stat_unit *u, size_t n, double line, double rate)
{
	double tat = -INFINITY, free_at = -INFINITY, tau = 0;

	for (size_t i = 0; i < n; i++) {
		double t = u[i].t_ns > free_at ? u[i].t_ns : free_at;

		for (double c = 0; c < stat_cells(u[i].bytes); c++, t += 1e9 / line) {
			tau = tat - t > tau ? tat - t : tau;
			tat = (t > tat ? t : tat) + 1e9 / rate;
		}
		free_at = t;
	}
	return tau;
}

static void tau_is_that_of_every_cell(void **unused)
{
	uint64_t state = 3;
	struct stat_unit u[200];
	double t = 0;

	(void)unused;
	for (int i = 0; i < 200; i++) {
		t += (double)unit_random_below(&state, 200000);
		u[i] = (struct stat_unit){t, (double)(40 + unit_random_below(&state, 1461))};
	}
	for (double rate = 1e4; rate < 1e7; rate *= 1.7)
		assert_near(
			stat_gcra_tau(u, 200, 366792, rate), by_cells(u, 200, 366792, rate), 1e-3);
}

/* 32 cells back to back at 100 a second are a burst of 32 at any lower rate. */
static void a_packet_is_a_burst_of_its_cells(void **unused)
{
	const struct stat_unit one = {0, 1500};

	(void)unused;
	for (double scr = 10; scr < 100; scr *= 1.3) {
		double tau = stat_gcra_tau(&one, 1, 100, scr);

		assert_near(tau, 31 * (1e9 / scr - 1e7), 1);
		assert_near(stat_gcra_mbs(tau, scr, 100), 32, 0);
	}
	assert_near(stat_gcra_tau(&one, 1, 100, 100), 0, 1e-3);
	assert_true(isnan(stat_gcra_mbs(0, 100, 100)));
	assert_near(stat_gcra_mbs(0, 50, 100), 1, 0);
	assert_near(stat_gcra_mbs(1e7 + 1, 50, 100), 3, 0); /* more than two cells need */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_fill_cells_with_their_trailer),
		cmocka_unit_test(tau_is_that_of_every_cell),
		cmocka_unit_test(a_packet_is_a_burst_of_its_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
