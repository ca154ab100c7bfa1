/* SPDX-License-Identifier: MIT */
#include "figures/slow_ranges.h"

#include <stdlib.h>

#include "unit.h"

static void add(struct slow_ranges **s, uint32_t most, uint64_t offset, uint64_t total)
{
	struct fact_range r = {.flow = {.sock = 7},
		.offset = offset,
		.length = 10,
		.begin = 1000 + offset,
		.total = total,
		.outcome = OUTCOME_FOLLOWED};

	slow_ranges_add(s, most, &r);
}

static void the_slowest_are_kept_whatever_their_order(void **unused)
{
	struct slow_ranges *s = NULL;

	(void)unused;
	for (uint64_t i = 0; i < 1000; i++)
		add(&s, 5, i, i * 7919 % 1000); /* each total once */
	assert_int_equal(s->n, 5);
	qsort(s->of, s->n, sizeof(*s->of), slow_range_order);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(s->of[i].total, 999 - i);
	slow_ranges_free(s);
}

static void of_two_as_slow_the_earlier_is_kept(void **unused)
{
	struct slow_ranges *s = NULL;

	(void)unused;
	for (uint64_t i = 0; i < 20; i++)
		add(&s, 2, 19 - i, 100);
	qsort(s->of, s->n, sizeof(*s->of), slow_range_order);
	assert_int_equal(s->of[0].offset, 0);
	assert_int_equal(s->of[1].offset, 1);
	slow_ranges_free(s);
}

static void a_range_without_all_its_times_is_left_out(void **unused)
{
	struct fact_range r = {.total = 100, .length = 1, .outcome = OUTCOME_INCOMPLETE};
	struct slow_ranges *s = NULL;

	(void)unused;
	slow_ranges_add(&s, 5, &r);
	assert_null(s);
}

static void a_flow_that_is_answered_has_none(void **unused)
{
	struct slow_ranges *s = NULL;

	(void)unused;
	add(&s, 5, 0, 100);
	slow_ranges_answered(&s);
	add(&s, 5, 1, 200);
	assert_int_equal(s->n, 0);
	slow_ranges_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slowest_are_kept_whatever_their_order),
		cmocka_unit_test(of_two_as_slow_the_earlier_is_kept),
		cmocka_unit_test(a_range_without_all_its_times_is_left_out),
		cmocka_unit_test(a_flow_that_is_answered_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
