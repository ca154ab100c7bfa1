/* SPDX-License-Identifier: MIT */
/*
 * Distributions that share a pool: packed bins give the same results as a hash table, and keep the
 * limit.
 */
#include "sums/dist.h"
#include "sums/dist_bins.h"
#include "unit.h"

#define SAMPLES 3000

static struct dist_pool roomy(void)
{
	return (struct dist_pool){.limit = SIZE_MAX, .tables_limit = 1 << 20};
}

/* Returns a pool without hash tables. */
static struct dist_pool packing(void)
{
	return (struct dist_pool){.limit = SIZE_MAX};
}

/* Checks that distributions have given all of it back. */
static void end(struct dist_pool *p)
{
	assert_int_equal(p->used + p->tables, 0);
	dist_pool_free(p);
}

static void assert_same(const struct dist *a, const struct dist *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->max, b->max);
	assert_true(a->sum == b->sum);
	for (int p = 1; p <= 1000; p += 9)
		assert_true(dist_quantile(a, p / 1000.0) == dist_quantile(b, p / 1000.0));
	assert_true(dist_mean_abs_dev(a) == dist_mean_abs_dev(b));
	assert_near(dist_w1(a, b), 0, 0);
}

/* Fills all with the same values; those with weights from 2^31 and from 2^32 go in at once. */
static void fill(struct dist *d[], size_t count, size_t n, uint64_t seed, bool near)
{
	static const uint64_t limits[] = {3, 3000, 1 << 20, 1ull << 31, 1ull << 40};

	for (size_t i = 0; i < n; i++) {
		uint64_t v = unit_random_below(&seed, limits[unit_random_below(&seed, 5)]);
		uint64_t weight = 1 + (unit_random_below(&seed, 1500) << (i % 50 ? 0 : 40));

		for (size_t k = 0; k < count; k++)
			if (near)
				dist_add_near(d[k], (1ull << 41) + v - 1500, weight);
			else
				dist_add(d[k], v, weight);
	}
}

static void packed_bins_tell_the_same_as_a_hash_table(void **unused)
{
	(void)unused;
	for (size_t n = 1; n <= SAMPLES; n += n / 2 + 1)
		for (int near = 0; near < 2; near++) {
			struct dist_pool always = packing(), until_busy = roomy();
			struct dist table = {0}, packed = {.pool = &always},
				    both = {.pool = &until_busy};

			fill((struct dist *[]){&table, &packed, &both}, 3, n, n, near);
			assert_same(&table, &packed);
			assert_same(&table, &both);
			assert_true(!packed.size || packed.is_packed);
			if (n < 60 || n > 200)
				assert_int_equal(both.size && !both.is_packed, n > 200);
			until_busy.tables_limit = 0; /* the others have taken all of it by now */
			dist_trim(&both);
			assert_true(!both.size || both.is_packed);
			assert_same(&table, &both);
			dist_free(&table);
			dist_free(&packed);
			dist_free(&both);
			end(&always);
			end(&until_busy);
		}
}

/* Most values wait without their weights, which are the same, until one has another weight. */
static void a_weight_may_change_at_any_time(void **unused)
{
	(void)unused;
	for (uint64_t same = 0; same < 130; same++)
		for (int pooled = 0; pooled < 2; pooled++) {
			struct dist_pool pool = packing();
			struct dist table = {0}, d = {.pool = pooled ? &pool : NULL};

			for (uint64_t i = 0; i < same + 70; i++) {
				uint64_t weight = i < same ? 64 : i % 3 ? 1 : 64;

				dist_add(&d, i * i % 5000, weight);
				/* never waits */
				dist_add(&table, i * i % 5000, weight);
				dist_settle(&table);
			}
			assert_same(&table, &d);
			dist_free(&table);
			dist_free(&d);
			end(&pool);
		}
}

static void queries_and_trimming_change_nothing(void **unused)
{
	struct dist_pool pool = roomy();
	struct dist asked = {.pool = &pool}, left = {.pool = &pool};
	uint64_t seed = 9;

	(void)unused;
	for (int i = 0; i < SAMPLES; i++) {
		fill((struct dist *[]){&asked, &left}, 2, 1, (uint64_t)i + 1, false);
		if (unit_random_below(&seed, 10) == 0)
			dist_quantile(&asked, 0.5);
		if (unit_random_below(&seed, 100) == 0)
			dist_trim(&asked);
	}
	assert_same(&asked, &left);
	assert_int_equal(dist_weight_of_zero(&asked), dist_weight_of_zero(&left));
	dist_free(&asked);
	dist_free(&left);
	end(&pool);
}

/* If some tables fit, the others stay packed. */
static void tables_keep_their_limit(void **unused)
{
	struct dist_pool pool = {.limit = SIZE_MAX, .tables_limit = 300000};
	struct dist d[8] = {0};
	int tables = 0;

	(void)unused;
	for (size_t i = 0; i < COUNT(d); i++)
		d[i].pool = &pool;
	for (uint64_t seed = 1; seed < 20; seed++)
		for (size_t i = 0; i < COUNT(d); i++) {
			fill((struct dist *[]){&d[i]}, 1, SAMPLES / 10, seed, false);
			assert_true(pool.tables <= pool.tables_limit);
		}
	for (size_t i = 0; i < COUNT(d); i++) {
		tables += !d[i].is_packed;
		dist_free(&d[i]);
	}
	assert_true(tables > 0 && tables < (int)COUNT(d));
	end(&pool);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Bins are 1/(1024 / 2^coarse) wide, whenever they were widened; means and sums stay exact. */
static void wider_bins_err_by_less_than_their_width(void **unused)
{
	static uint64_t v[SAMPLES];

	(void)unused;
	for (unsigned int coarse = 1; coarse <= DIST_COARSEST; coarse++)
		for (int when = 0; when < 2; when++) {
			struct dist_pool pool = packing();
			struct dist d = {.pool = &pool};
			uint64_t seed = coarse, sum = 0;

			for (size_t i = 0; i < SAMPLES; i++) {
				if (i == SAMPLES / 2 && when)
					pool.coarse = (uint8_t)coarse;
				v[i] = unit_random_below(&seed, 1ull << (10 + i % 20));
				sum += v[i];
				dist_add(&d, v[i], 1);
			}
			dist_quantile(&d, 0.5);
			dist_coarsen(&d, coarse);
			assert_int_equal(d.coarse, coarse);
			assert_true(d.sum == sum);
			qsort(v, SAMPLES, sizeof(*v), by_value);
			for (size_t p = 1; p <= 100; p++) {
				double exact = (double)v[(SAMPLES * p + 99) / 100 - 1];

				assert_near(dist_quantile(&d, (double)p / 100), exact,
					exact / (1024 >> coarse));
			}
			assert_true(d.used <= (1024u >> coarse) * 32);
			dist_free(&d);
			end(&pool);
		}
}

static void few_bins_are_not_made_wider(void **unused)
{
	struct dist_pool pool = packing();
	struct dist d = {.pool = &pool};

	(void)unused;
	pool.coarse = DIST_COARSEST;
	for (uint64_t i = 0; i < DIST_FEW * 20; i++)
		dist_add(&d, 100001 + i % DIST_FEW * 100, 1);
	dist_coarsen(&d, DIST_COARSEST);
	assert_near(dist_quantile(&d, 0.5), 100001 + (DIST_FEW / 2 - 1) * 100, 0);
	dist_free(&d);
	end(&pool);
}

/* Flows of one program are summed: from those with wider bins each bin's mean. */
static void all_of_one_with_wider_bins_err_by_no_more_than_these(void **unused)
{
	struct dist_pool pool = packing();
	struct dist wide = {.pool = &pool}, exact = {0}, sum = {0};
	uint64_t seed = 5;

	(void)unused;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t v = 10000 + unit_random_below(&seed, 1000000);

		dist_add(&wide, v, 3);
		dist_add(&exact, v, 3);
		dist_add(&exact, v / 2, 1);
		dist_add(&sum, v / 2, 1);
	}
	dist_quantile(&wide, 0.5);
	dist_coarsen(&wide, 4);
	dist_add_all(&sum, &wide);
	assert_true(sum.sum == exact.sum);
	assert_int_equal(sum.weight, exact.weight);
	for (int p = 1; p <= 100; p++)
		assert_near(dist_quantile(&sum, p / 100.0), dist_quantile(&exact, p / 100.0),
			dist_quantile(&exact, p / 100.0) / 64);
	dist_free(&wide);
	dist_free(&exact);
	dist_free(&sum);
	end(&pool);
}

/* Values that wait take memory while they do, and others get it again. */
static void waiting_values_use_memory_again(void **unused)
{
	struct dist_pool pool = packing();
	struct dist d[100] = {0};
	const struct dist_block *first = NULL;

	(void)unused;
	for (size_t i = 0; i < COUNT(d); i++) {
		uint64_t values = i % 2 ? 40 : 20; /* with weights of their own they take more */

		d[i].pool = &pool;
		for (uint64_t v = 1; v <= values; v++)
			dist_add(&d[i], v, i % 2 ? 1 : v);
		assert_int_equal(pool.used, 3 * sizeof(struct dist_cell));
		dist_trim(&d[i]);
		assert_int_equal(d[i].used, values);
		first = first ? first : pool.block;
		assert_ptr_equal(pool.block, first);
		dist_free(&d[i]);
	}
	end(&pool);
}

/* Values that waited are missing where memory was short when they were unpacked. */
static void values_that_were_not_unpacked_are_freed(void **unused)
{
	struct dist_pool pool = packing();
	struct dist d = {.pool = &pool, .n = 20, .late_n = 40, .late_left = 3};

	(void)unused;
	pool.used = 3 * sizeof(struct dist_cell);
	dist_free(&d);
	end(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_bins_tell_the_same_as_a_hash_table),
		cmocka_unit_test(a_weight_may_change_at_any_time),
		cmocka_unit_test(queries_and_trimming_change_nothing),
		cmocka_unit_test(tables_keep_their_limit),
		cmocka_unit_test(wider_bins_err_by_less_than_their_width),
		cmocka_unit_test(few_bins_are_not_made_wider),
		cmocka_unit_test(all_of_one_with_wider_bins_err_by_no_more_than_these),
		cmocka_unit_test(waiting_values_use_memory_again),
		cmocka_unit_test(values_that_were_not_unpacked_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
