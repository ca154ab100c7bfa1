/* SPDX-License-Identifier: MIT */
#include "bytes/held.h"
#include "unit.h"

#define TIME 4000

/* Model of held.c: a cause for each cycle from BEGIN on. */
#define BEGIN 100
struct model {
	uint8_t reason[BEGIN + TIME];
	uint64_t end;
};

static void add(struct held_time *h, struct model *m, enum why_reason reason, uint64_t until)
{
	for (; m->end < until; m->end++)
		m->reason[m->end] = (uint8_t)reason;
	held_add(h, reason, until);
}

static void assert_same(const struct model *m, uint64_t from, uint64_t to, const uint64_t got[WHYS])
{
	uint64_t by[WHYS] = {0};

	for (uint64_t t = from; t < to; t++)
		by[t >= BEGIN && t < m->end ? m->reason[t] : WHY_NOT_KNOWN]++;
	for (int i = 0; i < WHYS; i++)
		assert_int_equal(got[i], by[i]);
}

/* Ranges sorted by begin; their ends come in any order. */
static void ranges_are_divided_as_cycle_by_cycle(void **unused)
{
	uint64_t by[WHYS], from = BEGIN, state = 1;
	struct held_time h = {0};
	struct model m = {.end = BEGIN};
	enum why_reason one = WHYS;
	unsigned int ones = 0;
	bool is_one;

	(void)unused;
	held_skip(&h, BEGIN);
	while (m.end < BEGIN + TIME - 50) {
		state = state * 6364136223846793005 + 1442695040888963407;
		add(&h, &m, state >> 33 & 3 ? WHY_WINDOW : (state >> 40) % WHYS,
			m.end + (state >> 50) % 40);
		from += (state >> 20) % 30;
		memset(by, 0, sizeof(by));
		held_sum(&h, from, from + (state >> 10) % 300, by);
		assert_same(&m, from, from + (state >> 10) % 300, by);
		is_one = held_one(&h, from, from + (state >> 10) % 300, &one);
		held_divide(&h, from, from + (state >> 10) % 300, by);
		assert_same(&m, from, from + (state >> 10) % 300, by);
		if (is_one)
			assert_int_equal(by[one], (state >> 10) % 300);
		ones += is_one;
	}
	assert_true(ones > 10);
	held_free(&h);
}

static void bytes_outside_the_ranges_are_unknown(void **unused)
{
	uint64_t by[WHYS];
	struct held_time h = {0};

	(void)unused;
	held_divide(&h, 10, 30, by);
	assert_int_equal(by[WHY_NOT_KNOWN], 20);
	held_skip(&h, 100);
	held_add(&h, WHY_CWND, 200);
	held_divide(&h, 50, 250, by);
	assert_int_equal(by[WHY_NOT_KNOWN], 100);
	assert_int_equal(by[WHY_CWND], 100);
	held_divide(&h, 150, 180, by);
	assert_int_equal(by[WHY_CWND], 30);
	held_divide(&h, 120, 180, by); /* before the last one */
	assert_int_equal(by[WHY_NOT_KNOWN], 30);
	assert_int_equal(by[WHY_CWND], 30);
	held_divide(&h, 180, 170, by);
	for (int i = 0; i < WHYS; i++)
		assert_int_equal(by[i], 0);
	held_free(&h);
}

/* Bytes that never get through take no more memory than that. */
static void memory_of_a_stalled_queue_is_bounded(void **unused)
{
	uint64_t by[WHYS], changes = 3 * HELD_SPANS_MAX;
	struct held_time h = {0};

	(void)unused;
	held_skip(&h, 1000);
	for (uint64_t i = 1; i <= changes; i++)
		held_add(&h, i % 2 ? WHY_CWND : WHY_PACING, 1000 + 10 * i);
	assert_int_equal(h.cap, HELD_SPANS_MAX);
	held_divide(&h, 1000, 1000 + 10 * changes, by);
	assert_int_equal(by[WHY_CWND], 5 * HELD_SPANS_MAX);
	assert_int_equal(by[WHY_PACING], 5 * HELD_SPANS_MAX);
	assert_int_equal(by[WHY_NOT_KNOWN], 20 * HELD_SPANS_MAX);
	held_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_divided_as_cycle_by_cycle),
		cmocka_unit_test(bytes_outside_the_ranges_are_unknown),
		cmocka_unit_test(memory_of_a_stalled_queue_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
