/* SPDX-License-Identifier: MIT */
#include "core.h"
#include "message/frames.h"
#include "sums/dist.h"
#include "sums/units.h"
#include "unit.h"

static void nothing_has_no_figures(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	assert_near(unit_mean_size(&u), 0, 0);
	assert_near(unit_cov_size(&u), 0, 0);
	assert_near(unit_mean_gap(&u), 0, 0);
	assert_near(unit_cov_gap(&u), 0, 0);
	unit_free(&u);
}

static void one_unit_has_a_size_and_no_spacing(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	unit_add(&u, 500, 1448);
	assert_near(unit_mean_size(&u), 1448, 0);
	assert_near(unit_cov_size(&u), 0, 0);
	assert_near(unit_mean_gap(&u), 0, 0);
	assert_int_equal(u.gaps.n, 0);
	unit_free(&u);
}

/*
 * Sizes 2 4 4 4 5 5 7 9: mean 5, variance 4, so CoV 2/5. Spacings 10 20 30 40 50 60 70: mean 40,
 * variance 400, so CoV 20/40.
 */
static void means_and_variation_are_those_worked_out_by_hand(void **unused)
{
	static const uint64_t sizes[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct unit_stats u = {0};
	uint64_t t = 1000;

	(void)unused;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		t += 10 * i;
		unit_add(&u, t, sizes[i]);
	}
	assert_int_equal(u.n, 8);
	assert_int_equal(u.bytes, 40);
	assert_near(unit_mean_size(&u), 5, 0);
	assert_near(unit_cov_size(&u), 0.4, 1e-12);
	assert_near(unit_mean_gap(&u), 40, 0);
	assert_near(unit_cov_gap(&u), 0.5, 1e-12);
	unit_free(&u);
}

/* Both are counted: packets with new bytes, and all packets. */
static void repeated_packets_are_counted_apart(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	unit_pass(&u, 1000, 2896, 2896);
	unit_wire(&u, 2962, 2);
	unit_pass(&u, 2000, 1448, 0);
	unit_wire(&u, 1514, 1);
	unit_pass(&u, 3000, 2896, 1448);
	unit_wire(&u, 2962, 2);
	assert_int_equal(u.n, 2);
	assert_int_equal(u.again_n, 1);
	assert_int_equal(u.frames, 5);
	assert_int_equal(u.again_frames, 1);
	assert_int_equal(u.again, 1448 + 1448);
	unit_free(&u);
}

static void equal_units_at_equal_distances_do_not_vary(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	for (uint64_t i = 0; i < 1000; i++)
		unit_add(&u, 1ull << 50 | i * 52000000, 1448);
	assert_near(unit_mean_gap(&u), 52000000, 0);
	assert_near(unit_cov_gap(&u), 0, 1e-6);
	assert_near(unit_cov_size(&u), 0, 1e-6);
	unit_free(&u);
}

/* Two CPUs' clocks may disagree by less than their bound: such packets have spacing 0. */
static void units_out_of_order_have_no_negative_spacing(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	unit_add(&u, 1000, 1);
	unit_add(&u, 1100, 1);
	unit_add(&u, 1090, 1);
	unit_add(&u, 1300, 1);
	assert_near(unit_mean_gap(&u), 100, 0);
	assert_true(u.gaps.sum == 300); /* spacings still sum to the whole */
	assert_int_equal(dist_weight_of_zero(&u.gaps), 1);
	unit_free(&u);
}

static void a_spacing_that_a_loss_touches_is_none(void **unused)
{
	struct unit_stats u = {0};

	(void)unused;
	unit_add(&u, 1000, 1);
	unit_gap(&u, 1150, 1160); /* known before its predecessor */
	unit_add(&u, 1100, 1);    /* 100 */
	unit_add(&u, 1190, 1);
	unit_add(&u, 1290, 1); /* 100 */
	unit_gap(&u, 1280, 1500);
	unit_gap(&u, 1600, 1700);
	unit_add(&u, 1550, 1);
	unit_add(&u, 1900, 1);
	unit_add(&u, 2000, 1); /* 100 */
	assert_int_equal(u.n, 7);
	assert_int_equal(u.gaps.n, 3);
	assert_near(unit_mean_gap(&u), 100, 0);
	assert_near(unit_cov_gap(&u), 0, 0);
	unit_free(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_figures),
		cmocka_unit_test(one_unit_has_a_size_and_no_spacing),
		cmocka_unit_test(means_and_variation_are_those_worked_out_by_hand),
		cmocka_unit_test(equal_units_at_equal_distances_do_not_vary),
		cmocka_unit_test(repeated_packets_are_counted_apart),
		cmocka_unit_test(units_out_of_order_have_no_negative_spacing),
		cmocka_unit_test(a_spacing_that_a_loss_touches_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
