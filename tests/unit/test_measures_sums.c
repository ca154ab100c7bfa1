/* SPDX-License-Identifier: MIT */
/* Measures of many flows added by two threads are those added one after the other. */
#include "figures/measures_sums.h"

#include <stdlib.h>

#include "unit.h"

#define MOST_GROUPS 5

static struct flow_measures *flow_of(uint64_t *seed)
{
	struct flow_measures *m = measures_new();

	assert_non_null(m);
	for (uint64_t n = unit_random_below(seed, 30); n; n--) {
		uint64_t bar[2] = {unit_random_below(seed, 90000), unit_random_below(seed, 5)};

		dist_add(&m->residence, bar[0] + bar[1], 1 + n % 2);
		dist_add(&m->stage[n % STAGES_MAX], bar[0], 64);
		waterfall_add(&m->waterfall, 2, bar, bar[0] + bar[1], 64);
		m->units[TX_CALL].n++;
	}
	return m;
}

static void assert_same_dist(const struct dist *a, const struct dist *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->max, b->max);
	assert_true(a->sum == b->sum);
	for (int p = 1; p < 100; p++)
		assert_true(dist_quantile(a, p / 100.0) == dist_quantile(b, p / 100.0));
}

static void assert_same(const struct flow_measures *a, const struct flow_measures *b)
{
	double x[2] = {0}, y[2] = {0}, total_x, total_y;

	assert_int_equal(a->units[TX_CALL].n, b->units[TX_CALL].n);
	assert_same_dist(&a->residence, &b->residence);
	for (int i = 0; i < STAGES_MAX; i++)
		assert_same_dist(&a->stage[i], &b->stage[i]);
	assert_true(waterfall_at(&a->waterfall, 0.5, x, &total_x) ==
		    waterfall_at(&b->waterfall, 0.5, y, &total_y));
	assert_true(total_x == total_y && x[0] == y[0] && x[1] == y[1]);
}

/* Adds `n` flows to `groups` groups, of which the first has half of them. */
static void add(size_t n, size_t groups)
{
	struct flow_measures *sum[MOST_GROUPS], *together[MOST_GROUPS];
	struct measures_addend *all = calloc(n + 1, sizeof(*all));
	struct flow_measures **flow = calloc(n + 1, sizeof(*flow));
	uint64_t seed = n + groups;

	assert_true(all && flow);
	for (size_t g = 0; g < groups; g++) {
		sum[g] = measures_new();
		together[g] = measures_new();
	}
	for (size_t i = 0; i < n; i++) {
		size_t g = unit_random_below(&seed, 2) ? 0 : unit_random_below(&seed, groups);

		flow[i] = flow_of(&seed);
		all[i] = (struct measures_addend){flow[i], together[g], g};
		measures_add(sum[g], flow[i]);
	}
	measures_add_groups(all, n, groups);
	for (size_t g = 0; g < groups; g++) {
		assert_same(sum[g], together[g]);
		measures_free(sum[g]);
		measures_free(together[g]);
	}
	for (size_t i = 0; i < n; i++)
		measures_free(flow[i]);
	free(flow);
	free(all);
}

static void two_threads_add_what_one_does(void **unused)
{
	(void)unused;
	for (size_t groups = 1; groups <= MOST_GROUPS; groups++) {
		add(0, groups);
		add(100, groups);
		add(1000, groups);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_add_what_one_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
