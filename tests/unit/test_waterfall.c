/* SPDX-License-Identifier: MIT */
/* The stages at a quantile of their total. */
#include "unit.h"
#include "sums/waterfall.h"

static void nothing_has_no_waterfall(void **unused)
{
	struct waterfall w = {0};
	double bar[2], total;

	(void)unused;
	assert_true(waterfall_at(&w, 0.99, bar, &total) == 0);
	waterfall_free(&w);
}

/* One in a hundred takes ten times as long, in another stage: medians would never show it. */
static void the_slowest_have_stages_of_their_own(void **unused)
{
	struct waterfall w = {0};
	double bar[2], total;

	(void)unused;
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t slow = i % 50 == 0, b[] = {100, slow ? 9900 : 900};

		waterfall_add(&w, 2, b, b[0] + b[1], 10);
	}
	assert_near(waterfall_at(&w, 0.99, bar, &total), 20, 1e-6); /* 1 % of the samples */
	assert_near(bar[0], 100, 1e-9);
	assert_near(bar[1], 9900, 1e-9);
	assert_near(total, 10000, 1e-9);
	waterfall_at(&w, 0.5, bar, &total);
	assert_near(bar[1], 900, 1e-9);
	waterfall_free(&w);
}

/* The stages sum to the total at every quantile, and the total is near the quantile. */
static void bars_sum_to_the_total(void **unused)
{
	struct waterfall w = {0};
	double bar[3], total;

	(void)unused;
	for (uint64_t i = 1; i <= 10000; i++) {
		uint64_t b[] = {i * 7 % 1000, i * 13 % 77, i};

		waterfall_add(&w, 3, b, b[0] + b[1] + b[2], 1 + i % 3);
	}
	for (double q = 0.05; q < 1; q += 0.05) {
		assert_true(waterfall_at(&w, q, bar, &total) > 0);
		assert_near(bar[0] + bar[1] + bar[2], total, 1e-6 * total);
		assert_near(total, q * 10000 + 540, 0.02 * (q * 10000 + 540));
	}
	waterfall_free(&w);
}

/* Half of a byte's weight lies within the window: it counts half. */
static void weights_count(void **unused)
{
	struct waterfall w = {0};
	uint64_t few[] = {100}, many[] = {200};
	double bar[1], total;

	(void)unused;
	waterfall_add(&w, 1, few, 100, 10);
	waterfall_add(&w, 1, many, 200, 990);
	waterfall_at(&w, 0.01, bar, &total); /* ranks 0.5 % to 1.5 %: half of either */
	assert_near(bar[0], 150, 1e-6);
	waterfall_free(&w);
}

static void all_of_another_is_as_if_added_one_by_one(void **unused)
{
	struct waterfall one = {0}, other = {0}, both = {0};
	double x[2], y[2], total_x, total_y;

	(void)unused;
	for (uint64_t i = 1; i <= 5000; i++) {
		uint64_t b[] = {i * 7 % 1000, i};

		waterfall_add(i % 4 ? &one : &other, 2, b, b[0] + b[1], 1 + i % 3);
		waterfall_add(&both, 2, b, b[0] + b[1], 1 + i % 3);
	}
	waterfall_add_all(&one, &other);
	waterfall_free(&other);
	waterfall_add_all(&one, &other);
	for (double q = 0.05; q < 1; q += 0.05) {
		assert_near(waterfall_at(&one, q, x, &total_x), waterfall_at(&both, q, y, &total_y),
			1e-6);
		assert_near(total_x, total_y, 1e-6);
		assert_near(x[0], y[0], 1e-6);
		assert_near(x[1], y[1], 1e-6);
	}
	waterfall_free(&one);
	waterfall_free(&both);
}

/* Adds a sample of seven stages; some are large, or do not sum to the total. */
static void add_any(struct waterfall *w[2], uint64_t i)
{
	uint64_t b[7] = {i * 37 % 5000, i % 3 ? 0 : i, i % 101, 0, i % 2 * 70000, i % 11, 0};
	uint64_t total = 0, weight = i % 40 ? 1 + i % 3 * 64 : 1ull << 23;

	if (i % 50 == 7)
		b[3] = 1ull << 33;
	for (int k = 0; k < 7; k++)
		total += b[k];
	total += i % 60 == 9;
	for (int k = 0; k < 2; k++)
		waterfall_add(w[k], 7, b, total, weight);
}

static void assert_same(const struct waterfall *a, const struct waterfall *b)
{
	double x[7], y[7], total_x, total_y;

	for (double q = 0.05; q < 1; q += 0.05) {
		assert_near(waterfall_at(a, q, x, &total_x), waterfall_at(b, q, y, &total_y), 1e-6);
		assert_near(total_x, total_y, 1e-6 * total_y);
		for (int k = 0; k < 7; k++)
			assert_near(x[k], y[k], 1e-6 * total_y);
	}
}

/* With a pool samples wait; that changes no result. */
static void samples_that_wait_count(void **unused)
{
	(void)unused;
	for (uint64_t n = 1; n < 400; n += 1 + n / 3) {
		struct dist_pool pool = {.limit = SIZE_MAX};
		struct waterfall waits = {.pool = &pool}, bins = {0}, sums[2] = {{0}, {0}};

		for (uint64_t i = 1; i <= n; i++)
			add_any((struct waterfall *[]){&waits, &bins}, i);
		assert_int_equal(pool.used, waterfall_memory(&waits));
		waterfall_add_all(&sums[0], &waits);
		waterfall_add_all(&sums[1], &bins);
		assert_same(&sums[0], &sums[1]);
		assert_same(&waits, &bins); /* asking leaves them waiting */
		assert_int_equal(pool.used, waterfall_memory(&waits));
		assert_true(waits.late || n > 50);
		waterfall_free(&waits);
		waterfall_free(&bins);
		waterfall_free(&sums[0]);
		waterfall_free(&sums[1]);
		assert_int_equal(pool.used, 0);
		dist_pool_free(&pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_waterfall),
		cmocka_unit_test(samples_that_wait_count),
		cmocka_unit_test(the_slowest_have_stages_of_their_own),
		cmocka_unit_test(bars_sum_to_the_total),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(all_of_another_is_as_if_added_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
