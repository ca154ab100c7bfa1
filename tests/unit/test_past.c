/* SPDX-License-Identifier: MIT */
#include "task/past.h"

#include "event_table.h"
#include "feed.h"
#include "task/thread.h"

#define THREAD 7
#define MOST   65536 /* waits that are kept at least, once there are so many */

/* Keeps waits up to number `n`; every tenth ends before the one before it. */
static void keep_to(struct core *c, uint64_t n)
{
	struct thread *t = thread_get(c, THREAD, 0);

	for (uint64_t i = c->tasks.past.next + 1; i <= n; i++) {
		struct fact_wait f = {.begin = i, .woken = i, .waker = FACT_NONE};

		f.end = i * 100 - (i % 10 == 0 ? 150 : 0);
		f.woken_by = f.descriptor = FACT_NONE;
		past_keep(c, t, &f);
	}
}

/* Each of the latest is there, and no other; none is forgotten untold. */
static void check(const struct core *c, uint64_t n)
{
	uint64_t missing = 0;

	assert_int_equal(c->tasks.past.next, n);
	for (uint64_t i = 1; i <= n; i++) {
		const struct past_wait *p = past_wait(c, i);

		assert_true(p || i + MOST <= n);
		if (!p) {
			missing = i;
			continue;
		}
		assert_int_equal(p->begin, i);
		assert_int_equal(p->before, i - 1);
		assert_ptr_equal(p->thread, thread_of((struct core *)(uintptr_t)c, THREAD));
	}
	assert_null(past_wait(c, 0));
	assert_null(past_wait(c, n + 1));
	assert_int_equal(c->tasks.past.forgotten == 0, missing == 0);
	for (uint64_t i = missing > 20 ? missing - 20 : 1; i <= missing; i++)
		assert_true(c->tasks.past.forgotten >= i * 100 - (i % 10 == 0 ? 150 : 0));
	/* what is told as forgotten is not later than what is there */
	assert_true(c->tasks.past.forgotten <= missing * 100);
}

static void the_latest_are_kept(void **unused)
{
	static const uint64_t numbers[] = {1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 288, 289, 1000,
		65536, 65568, 65569, 200003};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		keep_to(&c, numbers[i]);
		check(&c, numbers[i]);
	}
	feed_end(&c);
}

static void the_first_after_a_time_is_found(void **unused)
{
	static const uint64_t numbers[] = {1, 64, 65, 300, 70001};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (size_t k = 0; k < COUNT(numbers); k++) {
		uint64_t n = numbers[k], oldest = 1;

		keep_to(&c, n);
		while (!past_wait(&c, oldest))
			oldest++;
		for (uint64_t i = oldest; i <= n; i += i + 200 < n ? 97 : 1)
			if (i % 10 != 0 && i % 10 != 9) { /* those in order of time */
				assert_int_equal(past_first(&c, i * 100), i);
				assert_int_equal(past_first(&c, i * 100 - 49), i);
			}
		assert_int_equal(past_first(&c, 0), oldest);
		assert_int_equal(past_first(&c, n * 100 + 1), n + 1);
	}
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_are_kept),
		cmocka_unit_test(the_first_after_a_time_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
