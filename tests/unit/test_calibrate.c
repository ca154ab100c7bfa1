/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c: the cost of one event, from the times of a call without hooks and with copies of
 * them.
 */
#include <errno.h>

#include "hooks/calibrate.h"
#include "unit.h"

/* the times are given by the tests: there are no hooks to copy */
int hooks_copy_calls(struct hooks *h)
{
	(void)h;
	return -EEXIST;
}

void hooks_drop_copy(struct hooks *h)
{
	(void)h;
}

int hooks_mark_task(struct hooks *h, pid_t pid, bool on, int again)
{
	(void)h;
	(void)pid;
	(void)on;
	(void)again;
	return 0;
}

/* Two events take 400 cycles, attaching takes 50, one event scatters by 10. */
static void the_slope_is_what_two_events_cost(void **unused)
{
	struct calibration c = {.cycles = {248}, .scatter = {20}};
	struct mg_calibration p;

	(void)unused;
	for (int m = 1; m < 6; m++) {
		c.cycles[m] = 298 + 400 * m;
		c.scatter[m] = sqrt(20 * 20 + 2 * m * 10 * 10);
	}
	calibrate_result(&p, &c);
	assert_int_equal(p.event_cycles, 200);
	assert_int_equal(p.event_spread, 0);
	assert_int_equal(p.event_scatter, 10);
	assert_int_equal(p.system_cycles, 50);
	assert_int_equal(p.copies, 5);
	assert_in_range(p.read_cycles, p.counter_hz > 1500000000, 2000); /* less than a slow tick */
}

/*
 * Measured on a real machine: 248 bare, then 552, 954, 1306, 1652, 2016: 362.6 per pair, s.e. 5.6;
 * 39.8 left.
 */
static void times_that_were_measured(void **unused)
{
	struct calibration c = {.cycles = {248, 552, 954, 1306, 1652, 2016}};
	struct mg_calibration p;

	(void)unused;
	calibrate_result(&p, &c);
	assert_int_equal(p.event_cycles, 181);
	assert_int_equal(p.event_spread, 3);
	assert_int_equal(p.event_scatter, 0);
	assert_int_equal(p.system_cycles, 40);
}

static void one_copy_gives_the_difference(void **unused)
{
	struct calibration c = {.cycles = {248, 552}, .scatter = {30, 40}};
	struct mg_calibration p;

	(void)unused;
	calibrate_result(&p, &c);
	assert_int_equal(p.event_cycles, 152);
	assert_int_equal(p.event_spread, 2);
	assert_int_equal(p.system_cycles, 0);
	assert_int_equal(p.copies, 1);
}

static void without_times_nothing_is_known(void **unused)
{
	struct calibration c = {.cycles = {0}};
	struct mg_calibration p;

	(void)unused;
	calibrate_result(&p, &c);
	assert_int_equal(p.event_cycles, 0);
	assert_true(p.counter_hz > 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slope_is_what_two_events_cost),
		cmocka_unit_test(times_that_were_measured),
		cmocka_unit_test(one_copy_gives_the_difference),
		cmocka_unit_test(without_times_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
