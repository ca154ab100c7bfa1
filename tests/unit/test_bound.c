/* SPDX-License-Identifier: MIT */
/*
 * Memory that the core keeps for many connections, by count, so that the machine's speed does not
 * matter.
 */
#include <malloc.h>

#include "connection.h"
#include "render/report.h"
#include "reported.h"

#define CLIENT(i) (100000 + 2 * (uint64_t)(i))
#define SERVER(i) (CLIENT(i) + 1)

/* Feeds one request of a connection, with a random transit time. */
static void request(struct core *c, uint32_t i, uint32_t nth, uint64_t at, uint64_t *seed)
{
	uint32_t seq = 1000 + nth * 64;

	feed_send(c, SENDER, CLIENT(i), seq, 64, at, 1 + unit_random_below(seed, 3000));
	feed_segment(c, SERVER(i), seq, 64, at + 40000, 1 + unit_random_below(seed, 3000));
	feed_recv(c, RECEIVER, SERVER(i), seq, 64, at + 60000 + unit_random_below(seed, 30000),
		1 + unit_random_below(seed, 300));
}

static void open_both(struct core *c, uint32_t i, uint64_t at)
{
	ev_opened(c, at, CLIENT(i), 999, 4999 + i);
	ev_opened(c, at + 1, SERVER(i), 4999 + i, 999);
}

/* Feeds that many connections at once, with that many requests each. */
static void record(struct core *c, uint32_t connections, uint32_t requests)
{
	uint64_t seed = 7, at = 1000;

	for (uint32_t i = 0; i < connections; i++)
		open_both(c, i, at += 10);
	for (uint32_t nth = 0; nth < requests; nth++)
		for (uint32_t i = 0; i < connections; i++)
			request(c, i, nth, at += 120000, &seed);
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Returns the bytes per socket of 400 connections, with a limit in bytes for distributions. */
static size_t bytes_a_socket(uint32_t requests, size_t limit)
{
	size_t before = in_use(), after;
	struct core *c = malloc(sizeof(*c));

	assert_non_null(c);
	feed_begin(c, ALL_HOOKS);
	memory_of(c)->dists.limit = limit;
	memory_of(c)->dists.tables_limit = limit;
	record(c, 400, requests);
	after = in_use();
	assert_true(memory_of(c)->dists.used + memory_of(c)->dists.tables <= limit);
	feed_end(c);
	free(c);
	return (after - before) / 800;
}

/* Hash tables alone took 50 KiB for 100 requests, and more for longer connections. */
static void a_live_socket_takes_what_the_limit_leaves_it(void **unused)
{
	size_t few = bytes_a_socket(3, 8 << 20), some = bytes_a_socket(100, 8 << 20),
	       many = bytes_a_socket(400, 8 << 20);

	(void)unused;
	print_message("bytes a socket: %zu, %zu, %zu\n", few, some, many);
	assert_true(few < 12000);
	assert_true(some < 22000);
	assert_true(many < 24000);
}

/* The state of what was in flight is freed; the figures stay. */
static void a_closed_socket_takes_a_few_kilobytes(void **unused)
{
	size_t before = in_use(), after;
	struct core *c = malloc(sizeof(*c));
	uint64_t seed = 7, at = 1000;

	(void)unused;
	assert_non_null(c);
	feed_begin(c, ALL_HOOKS);
	for (uint32_t i = 0; i < 1000; i++) {
		open_both(c, i, at += 10);
		for (uint32_t nth = 0; nth < 3; nth++)
			request(c, i, nth, at += 120000, &seed);
		ev_closed(c, at += 120000, CLIENT(i));
		ev_closed(c, at += 10, SERVER(i));
	}
	after = in_use();
	print_message("bytes a closed socket: %zu\n", (after - before) / 2000);
	assert_true((after - before) / 2000 < 11000);
	assert_int_equal(rx_of(c, SERVER(0))->complete, 192);
	feed_end(c);
	free(c);
}

/* A quantile of a flow is off by less than a bin; sums are exact. */
static void figures_of_a_flow_keep_the_bound_of_their_bins(void **unused)
{
	static struct core exact, bound;
	unsigned int coarse;

	(void)unused;
	feed_begin(&exact, ALL_HOOKS);
	feed_begin(&bound, ALL_HOOKS);
	memory_of(&bound)->dists.limit = 200000;
	record(&exact, 5, 500);
	record(&bound, 5, 500);
	coarse = memory_of(&bound)->dists.coarse;
	assert_int_equal(memory_of(&exact)->dists.coarse, 0);
	assert_true(coarse > 0);
	assert_true(memory_of(&bound)->dists.used + memory_of(&bound)->dists.tables <= 200000);
	for (uint32_t i = 0; i < 5; i++) {
		const struct flow *f = rx_of(&exact, SERVER(i)), *g = rx_of(&bound, SERVER(i));

		assert_int_equal(f->complete, g->complete);
		assert_true(measures_in(f)->residence.sum == measures_in(g)->residence.sum);
		for (int s = 0; s < RX_STAGES; s++)
			for (int p = 1; p <= 100; p++) {
				double want = dist_quantile(&measures_in(f)->stage[s], p / 100.0);

				assert_true(measures_in(f)->stage[s].sum ==
					    measures_in(g)->stage[s].sum);
				assert_near(dist_quantile(&measures_in(g)->stage[s], p / 100.0),
					want, want / (1024 >> coarse) + want / 1024);
			}
	}
	feed_end(&exact);
	feed_end(&bound);
}

/* With narrow bins the text does not mention them. */
static void the_report_says_how_wide_bins_became(void **unused)
{
	static struct core c;
	struct report r;
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);
	json_t *j;

	(void)unused;
	assert_non_null(to);
	feed_begin(&c, ALL_HOOKS);
	memory_of(&c)->dists.limit = 200000;
	record(&c, 5, 500);
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	report_text(&r, to, NULL, false);
	fclose(to);
	assert_non_null(strstr(text, "quantiles of a flow are exact within"));
	j = report_json(&r, NULL);
	assert_number_at(j, "quantile_error", (1 << memory_of(&c)->dists.coarse) / 1024.0);
	json_decref(j);
	free(text);
	report_free(&r);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_live_socket_takes_what_the_limit_leaves_it),
		cmocka_unit_test(a_closed_socket_takes_a_few_kilobytes),
		cmocka_unit_test(figures_of_a_flow_keep_the_bound_of_their_bins),
		cmocka_unit_test(the_report_says_how_wide_bins_became),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
