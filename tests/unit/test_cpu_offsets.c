/* SPDX-License-Identifier: MIT */
#include "clock/cpu_offsets.h"
#include "unit.h"

static void without_a_measurement_nothing_is_corrected(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	assert_int_equal(cpu_offsets_correction(&o, 0), 0);
	assert_int_equal(cpu_offsets_correction(&o, -1), 0);
	assert_near(cpu_offsets_error(&o), 0, 0);
}

/* Without a correction an interval may be off by the farther bound. */
static void counters_that_may_agree_are_left_alone(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	cpu_offsets_add(&o, 1, -356, 148);
	assert_int_equal(cpu_offsets_correction(&o, 1), 0);
	assert_near(cpu_offsets_error(&o), 356, 0);
	cpu_offsets_free(&o);
}

static void an_offset_that_excludes_0_is_corrected(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	cpu_offsets_add(&o, 1, 1000, 1200);
	cpu_offsets_add(&o, 3, -500, -200);
	assert_int_equal(cpu_offsets_correction(&o, 1), 1100);
	assert_int_equal(cpu_offsets_correction(&o, 3), -350);
	assert_int_equal(cpu_offsets_correction(&o, 0), 0);
	assert_int_equal(cpu_offsets_correction(&o, 2), 0);
	assert_int_equal(cpu_offsets_correction(&o, 1000), 0);
	assert_near(cpu_offsets_error(&o), 100 + 150, 0); /* from CPU 1 to CPU 3 */
	cpu_offsets_free(&o);
}

static void measurements_that_agree_narrow_each_other(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	cpu_offsets_add(&o, 1, -700, 150);
	cpu_offsets_add(&o, 1, -180, 650);
	assert_near(cpu_offsets_error(&o), 180, 0);
	assert_int_equal(o.known, 1);
	cpu_offsets_free(&o);
}

static void contradicting_offsets_widen_the_bound(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	cpu_offsets_add(&o, 1, 100, 200);
	cpu_offsets_add(&o, 1, 500, 700); /* it drifts */
	assert_int_equal(cpu_offsets_correction(&o, 1), 400);
	assert_near(cpu_offsets_error(&o), 300, 0);
	cpu_offsets_free(&o);
}

static void nonsense_is_ignored(void **unused)
{
	struct cpu_offsets o = {0};

	(void)unused;
	cpu_offsets_add(&o, 1, 200, 100);
	cpu_offsets_add(&o, UINT32_MAX, 100, 200);
	assert_int_equal(o.known, 0);
	cpu_offsets_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_measurement_nothing_is_corrected),
		cmocka_unit_test(counters_that_may_agree_are_left_alone),
		cmocka_unit_test(an_offset_that_excludes_0_is_corrected),
		cmocka_unit_test(measurements_that_agree_narrow_each_other),
		cmocka_unit_test(contradicting_offsets_widen_the_bound),
		cmocka_unit_test(nonsense_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
