/* SPDX-License-Identifier: MIT */
#include "feed.h"

static void without_a_limit_nothing_is_kept(void **unused)
{
	struct series_pool pool = {0};

	(void)unused;
	assert_null(series_new(&pool, 3));
	series_free(NULL, 3);
}

/* Steps forwards and backwards, of all sizes, come out as they went in. */
static void words_come_out_as_they_went_in(void **unused)
{
	static struct series_unit in[5000], out[5000];
	struct series_pool pool = {.limit = 1 << 20};
	struct series *s = series_new(&pool, 2);
	uint64_t state = 7, t = 1ull << 50;

	(void)unused;
	assert_int_equal(series_count(s), 0);
	series_read(s, out);
	for (size_t i = 0; i < COUNT(in); i++) {
		t += (unit_random(&state) >> (24 + i % 40)) - (i % 3 ? 0 : 1000);
		in[i] = (struct series_unit){.t = i == 9 ? 0 : t,
			.size = (uint32_t)(unit_random(&state) >> (32 + i % 32)),
			.frame = (uint32_t)(unit_random(&state) >> (32 + i % 32)),
			.again = i % 5 == 0};
		series_add(s, in[i].t, in[i].size, in[i].again);
		if (in[i].frame)
			series_set_frame(s, in[i].frame);
	}
	assert_int_equal(series_count(s), COUNT(in));
	assert_false(s->cut);
	series_read(s, out);
	for (size_t i = 0; i < COUNT(in); i++) {
		assert_true(in[i].t == out[i].t);
		assert_int_equal(in[i].size, out[i].size);
		assert_int_equal(in[i].frame, out[i].frame);
		assert_int_equal(in[i].again, out[i].again);
	}
	series_free(s, 2);
	assert_int_equal(pool.used, 0);
}

static void overflow_of_the_series_is_marked(void **unused)
{
	struct series_pool pool = {.limit = 4096};
	struct series *s = series_new(&pool, 1);
	struct series_unit out[4096];

	(void)unused;
	for (uint64_t i = 0; i < 4096; i++)
		series_add(s, i * 1000, 1448, false);
	assert_true(s->cut);
	assert_true(pool.used <= pool.limit);
	assert_in_range(series_count(s), 500, 4000);
	series_read(s, out);
	assert_true(out[series_count(s) - 1].t == (series_count(s) - 1) * 1000);
	series_free(s, 1);
	assert_int_equal(pool.used, 0);
}

static void a_flow_keeps_its_units_when_asked_to(void **unused)
{
	struct series_unit out[2];
	const struct series *s;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	figures_keep_series(&c, 1 << 20);
	ev_opened(&c, 10, 1, 999, 4999);
	feed_send(&c, 10, 1, 1000, 500, 10000, 1);
	ev_packet(&c, 20000, 10, MG_EVENT_dev_xmit, 1, 1000, 500); /* once more */
	s = measures_in(tx_of(&c, 1))->units[TX_XMIT].series;
	assert_int_equal(series_count(s), 2);
	series_read(s, out);
	assert_true(out[0].t == 10006 && out[0].size == 500 && !out[0].again);
	assert_true(out[1].t == 20000 && out[1].again);
	s = measures_in(tx_of(&c, 1))->units[TX_CALL].series;
	assert_int_equal(series_count(s), 1);
	series_read(s, out);
	assert_true(out[0].t == 10000 && out[0].size == 500 && out[0].frame == 0);
	feed_end(&c);
}

static void a_flow_keeps_none_otherwise(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 1, 999, 4999);
	feed_send(&c, 10, 1, 1000, 500, 10000, 1);
	assert_null(measures_in(tx_of(&c, 1))->units[TX_XMIT].series);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_nothing_is_kept),
		cmocka_unit_test(words_come_out_as_they_went_in),
		cmocka_unit_test(overflow_of_the_series_is_marked),
		cmocka_unit_test(a_flow_keeps_its_units_when_asked_to),
		cmocka_unit_test(a_flow_keeps_none_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
