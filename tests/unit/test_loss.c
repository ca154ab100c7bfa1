/* SPDX-License-Identifier: MIT */
/*
 * A recording repeated without some events, as a full ring drops them: what is still complete has
 * the same values, and the coverage is the complete share of the bytes that passed.
 */
#include "feed.h"

#define SENDER   10
#define RECEIVER 20
#define A        1
#define B        2
#define N        200 /* each with a step of its own, so that its values are unique */
#define BYTES    100
#define APART    20000

static struct mg_event all[N * 32];
static size_t all_n;

static void keep(void *arg, const struct mg_event *e, const struct annotation *a)
{
	(void)arg;
	(void)a;
	assert_true(all_n < COUNT(all));
	all[all_n++] = *e;
}

static void scene(struct core *c)
{
	ev_fork(c, 5, 1, RECEIVER, "receiver");
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t at = 10000 + (uint64_t)i * APART, step = i + 1;
		uint32_t seq = 1000 + i * BYTES;

		feed_send(c, SENDER, A, seq, BYTES, at, step);
		feed_segment(c, B, seq, BYTES, at + 3000, step);
		feed_recv(c, RECEIVER, B, seq, BYTES, at + 4000 + 10 * step, step);
		ev_switch(c, at + 8000, 0, RECEIVER, SLEEPING, 0);
		ev_waking(c, at + 9000, RECEIVER);
		ev_switch(c, at + 9000 + step, 0, 0, RUNNABLE, RECEIVER);
	}
	ev_ack(c, 10000 + N * APART, A, 1000 + N * BYTES);
}

/* Returns value number `k`: all have the same weight, and are small enough to be kept exactly. */
static double value(const struct dist *d, uint64_t k)
{
	return dist_quantile(d, ((double)k + 0.5) / (double)d->n);
}

/* Checks that all values in `some` are in `whole`. */
static void assert_part_of(const struct dist *some, const struct dist *whole)
{
	uint64_t at = 0;

	for (uint64_t k = 0; k < some->n; k++, at++) {
		while (at < whole->n && value(whole, at) < value(some, k) - 0.1)
			at++;
		assert_true(at < whole->n);
		assert_near(value(whole, at), value(some, k), 0.1);
	}
}

static void assert_flow_part_of(const struct flow *some, const struct flow *whole, int stages)
{
	for (int i = 0; i < stages; i++)
		assert_part_of(&measures_in(some)->stage[i], &measures_in(whole)->stage[i]);
	assert_part_of(&measures_in(some)->residence, &measures_in(whole)->residence);
	assert_int_equal(measures_in(some)->residence.weight, some->complete);
	assert_int_equal(some->complete + some->incomplete, some->total);
}

static bool is_lossy(const struct mg_event *e)
{
	return MG_IS_RING(e->id) && e->id != MG_EVENT_sock_state && e->id != MG_EVENT_task_fork;
}

/* Repeats the recording without what a ring had no room for; returns how many events that were. */
static uint64_t again(struct core *c, uint64_t *seed)
{
	uint64_t lost = 0, run = 0, from = 0, last = 0;

	feed_begin(c, ALL_HOOKS);
	for (size_t i = 0; i < all_n; i++) {
		const struct mg_event *e = &all[i];

		if (e->id == MG_EVENT_hook)
			continue;
		/* the last segment is kept, so that the stream's length is known */
		if (!run && i + 60 < all_n && unit_random_below(seed, 150) == 0) {
			run = 1 + unit_random_below(seed, 25);
			from = last;
		}
		if (run && is_lossy(e)) {
			lost++;
			if (--run == 0)
				ev_lost(c, e->time_ns + 1, 1, from, e->time_ns + 1);
			continue;
		}
		last = e->time_ns;
		feed(c, e);
	}
	core_finish(c);
	return lost;
}

static void complete_bytes_keep_their_values(void **unused)
{
	struct core whole, part;
	uint64_t seed = 42;

	(void)unused;
	feed_begin(&whole, ALL_HOOKS);
	core_listen(&whole, keep, NULL);
	scene(&whole);
	core_finish(&whole);
	assert_int_equal(tx_of(&whole, A)->complete, N * BYTES);
	assert_int_equal(rx_of(&whole, B)->complete, N * BYTES);
	for (int turn = 0; turn < 8; turn++) {
		uint64_t lost = again(&part, &seed);
		const struct call_stats *send = calls_of(&part, MG_FN_send);
		const struct call_stats *recv = calls_of(&part, MG_FN_recv);

		assert_true(lost > 0);
		assert_int_equal(tx_of(&part, A)->total, N * BYTES);
		assert_int_equal(rx_of(&part, B)->total, N * BYTES);
		assert_in_range(tx_of(&part, A)->complete, 1, N * BYTES - 1);
		assert_in_range(rx_of(&part, B)->complete, 1, N * BYTES - 1);
		assert_flow_part_of(tx_of(&part, A), tx_of(&whole, A), TX_STAGES);
		assert_flow_part_of(rx_of(&part, B), rx_of(&whole, B), RX_STAGES);
		assert_part_of(&send->overhead, &calls_of(&whole, MG_FN_send)->overhead);
		assert_part_of(&recv->overhead, &calls_of(&whole, MG_FN_recv)->overhead);
		assert_true(send->complete > 0 && send->complete < N);
		assert_int_equal(send->overhead.n + send->overhead_blocked.n, send->complete);
		assert_true(send->complete <= send->joined);
		feed_end(&part);
	}
	feed_end(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete_bytes_keep_their_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
