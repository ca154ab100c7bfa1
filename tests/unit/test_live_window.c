/* SPDX-License-Identifier: MIT */
/* Connections over a sliding window, from facts. */
#include "live/window_figures.h"
#include "feed.h"
#include "unit.h"

#define HZ 1000000000ull

static int setup(void **state)
{
	struct live *l = calloc(1, sizeof(*l));
	struct core *c = core_new();

	assert_non_null(l);
	core_give_clock(c, 1, 1, 0); /* the counter ticks once per nanosecond */
	core_give_clock(c, 1000 * HZ, 1000 * HZ, 0);
	assert_true(live_listen(l, c));
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct live *l = *state;

	live_free(l);
	core_delete(l->core);
	free(l);
	return 0;
}

static void call(struct live *l, uint64_t sock, bool rx, uint64_t bytes, uint64_t begin)
{
	struct fact_call f = {.flow = {.sock = sock, .rx = rx}, .bytes = bytes, .begin = begin};

	emit_call(core_facts(l->core), &f);
}

static const struct live_connection *connection(const struct live *l, uint64_t sock)
{
	const struct live_connection *c = NULL;

	HASH_FIND(hh, l->connections, &sock, sizeof(sock), c);
	assert_non_null(c);
	return c;
}

static struct live_sums window(const struct live *l, uint64_t sock, uint32_t slots)
{
	struct live_sums s;

	live_sum(l, connection(l, sock), slots, &s);
	return s;
}

static void intervals_add_up(void **state)
{
	struct live *l = *state;
	uint64_t sent = 0;

	for (uint64_t i = 1; i <= 100; i++) {
		struct live_sums s;

		call(l, 5, false, i, i * 10);
		call(l, 5, true, 1, i * 10);
		live_turn(l, i * HZ);
		assert_int_equal(live_ended(l)->number, i);
		assert_int_equal(live_ended(l)->to_ns, i * HZ);
		assert_int_equal(l->total.bytes[0], i);
		s = window(l, 5, 1);
		sent += s.n.bytes[0];
		live_sums_free(&s);
	}
	assert_int_equal(sent, 5050);
	assert_int_equal(connection(l, 5)->whole.bytes[0], 5050);
	assert_int_equal(connection(l, 5)->whole.bytes[1], 100);
}

/* Feeds that calls are recorded, and an event that is none of their hooks. */
static void record_calls(struct live *l)
{
	ev_hook(l->core, 1, "sys_enter", 0, 0);
	ev_opened(l->core, 2, 9, 0, 0);
}

static void window_has_its_intervals_only(void **state)
{
	struct live *l = *state;
	struct live_sums s;

	record_calls(l);
	call(l, 5, false, 1000, 10);
	live_turn(l, 1 * HZ);
	call(l, 5, false, 100, 10);
	live_turn(l, 2 * HZ);
	call(l, 5, false, 10, 10);
	live_turn(l, 4 * HZ);
	call(l, 5, false, 1, 10); /* the interval has not ended */
	s = window(l, 5, 2);
	assert_int_equal(s.n.bytes[0], 110);
	assert_int_equal(live_span_ns(l, 2), 3 * HZ);
	live_sums_free(&s);
	s = window(l, 5, 1000);
	assert_int_equal(s.n.bytes[0], 1110);
	live_sums_free(&s);
	for (uint64_t i = 0; i < 2 * LIVE_SLOTS; i++)
		live_turn(l, (5 + i) * HZ);
	s = window(l, 5, LIVE_SLOTS);
	assert_int_equal(s.n.bytes[0], 0);
	live_sums_free(&s);
	assert_int_equal(connection(l, 5)->whole.bytes[0], 1111);
}

static void exchange(struct live *l, uint64_t to_reply, bool sure)
{
	struct fact_exchange f = {.request = {.sock = 5},
		.reply = {.sock = 5, .rx = true},
		.answer = ANSWERED,
		.to_reply = to_reply,
		.overlaps = !sure};

	emit_exchange(core_facts(l->core), &f);
}

static void percentiles_need_exchanges_beyond_them(void **state)
{
	struct live *l = *state;
	struct live_sums s;
	double ns;

	for (uint64_t i = 1; i <= 19; i++)
		exchange(l, i * 1000, true);
	exchange(l, 999999, false); /* counted, but not known to be one */
	live_turn(l, HZ);
	s = window(l, 5, 1);
	assert_int_equal(s.n.exchanges, 20);
	assert_true(isnan(live_quantile_ns(l, &s.to_reply, 0.5)));
	assert_near(live_highest(l, &s.to_reply, &ns), 1, 0);
	assert_near(ns, 19000, 20);
	live_sums_free(&s);
	for (uint64_t i = 1; i <= 81; i++)
		exchange(l, 1000, true);
	live_turn(l, 2 * HZ);
	s = window(l, 5, 2);
	assert_near(live_quantile_ns(l, &s.to_reply, 0.5), 1000, 2);
	assert_true(isnan(live_quantile_ns(l, &s.to_reply, 0.99)));
	assert_near(live_highest(l, &s.to_reply, &ns), 0.9, 1e-9);
	live_sums_free(&s);
}

static void range(struct live *l, int stage, uint64_t time, uint64_t begin, uint64_t length)
{
	struct fact_range f = {.flow = {.sock = 5},
		.length = length,
		.outcome = OUTCOME_FOLLOWED,
		.begin = begin,
		.total = time,
		.transmitted = begin + time};

	for (int i = 0; i < STAGES_BOTH; i++)
		f.stage[i] = i < TX_STAGES ? 0 : FACT_NONE;
	f.stage[stage] = time;
	emit_range(core_facts(l->core), &f);
}

static void bytes_wait_where_they_spend_most_time(void **state)
{
	struct live *l = *state;
	struct live_sums s;
	double share;

	range(l, TX_STAGE_SNDBUF, 300, 1000, 100);
	range(l, TX_STAGE_QDISC, 1000, 2000, 10);
	call(l, 5, false, 100, 1000);
	call(l, 5, false, 10, 2000);
	live_turn(l, HZ);
	s = window(l, 5, 1);
	assert_int_equal(live_stage(&s, &share), TX_STAGE_SNDBUF);
	assert_string_equal(live_stage_name(TX_STAGE_SNDBUF), "send_buffer");
	assert_near(share, 0.75, 1e-9);
	/* J: the median delay is 300, 10 of 110 bytes are 700 off; tau: 1000 */
	assert_near(live_modulation(&s), 7000.0 / 110 / 1000, 1e-3);
	live_sums_free(&s);
	live_turn(l, 2 * HZ);
	s = window(l, 5, 1);
	assert_int_equal(live_stage(&s, &share), -1);
	assert_true(isnan(live_modulation(&s)));
	live_sums_free(&s);
}

static void timed_send(struct live *l, uint64_t bytes, uint64_t network)
{
	struct fact_timed_send f = {.flow = {.sock = 5},
		.bytes = bytes,
		.begin = 2 * HZ,
		.stage = {50, 50, network},
		.total = FACT_NONE,
		.at_most = 100 + network};

	emit_timed_send(core_facts(l->core), &f);
}

static void sends_by_timestamps_wait_in_their_own_stages(void **state)
{
	struct fact_timed_send again = {.flow = {.sock = 5},
		.stage = {1000000, FACT_NONE, FACT_NONE},
		.total = FACT_NONE,
		.at_most = FACT_NONE};
	struct live *l = *state;
	struct live_sums s;
	double share, ns;

	timed_send(l, 1000, 300);
	emit_timed_send(core_facts(l->core), &again); /* where it waited is not known */
	timed_send(l, 500, 500);
	live_turn(l, HZ);
	s = window(l, 5, 1);
	assert_string_equal(live_stage_name(live_stage(&s, &share)), "network");
	assert_true(live_stage_is_sent(live_stage(&s, &share)));
	assert_near(share, 0.8, 1e-9);
	assert_near(live_highest(l, &s.to_ack, &ns), 1, 0);
	assert_near(ns, 600, 6);
	assert_int_equal(s.n.bytes[0], 1500);
	live_sums_free(&s);
	/* bytes that are followed tell more */
	range(l, TX_STAGE_SNDBUF, 1, 1000, 1);
	live_turn(l, 2 * HZ);
	s = window(l, 5, 2);
	assert_int_equal(live_stage(&s, &share), TX_STAGE_SNDBUF);
	assert_near(share, 1, 1e-9);
	live_sums_free(&s);
}

/* Figures without a hook are not known, instead of 0; they are if they had one for a part of the
 * time. */
static void what_is_not_recorded_is_not_0(void **state)
{
	struct live *l = *state;
	struct live_counts n;
	struct live_sums s;

	live_turn(l, HZ);
	assert_int_equal(l->total.bytes[0], FACT_NONE);
	assert_int_equal(l->total.retransmits, FACT_NONE);
	record_calls(l);
	call(l, 5, false, 1, 10);
	live_turn(l, 2 * HZ);
	assert_int_equal(l->total.bytes[0], 1);
	assert_int_equal(l->total.bytes[1], 0);
	assert_int_equal(l->total.retransmits, FACT_NONE);
	ev_hook(l->core, 3, "sys_enter", -ENOLINK, 0);
	ev_hook(l->core, 3, "stamp_send", 0, 0);
	timed_send(l, 1000, 300);
	live_turn(l, 3 * HZ);
	assert_int_equal(l->total.bytes[0], 1000);
	assert_int_equal(l->total.bytes[1], 0); /* calls were recorded when it began */
	live_turn(l, 4 * HZ);
	assert_int_equal(l->total.bytes[0], 0);
	assert_int_equal(l->total.bytes[1], FACT_NONE);
	assert_int_equal(l->total.exchanges, FACT_NONE);
	n = live_whole(l, connection(l, 5));
	assert_int_equal(n.bytes[0], 1001);
	assert_int_equal(n.bytes[1], 0);
	assert_int_equal(n.drops, FACT_NONE);
	s = window(l, 5, 1);
	assert_int_equal(s.n.calls[0], FACT_NONE);
	live_sums_free(&s);
	s = window(l, 5, 3);
	assert_int_equal(s.n.calls[0], 1);
	assert_int_equal(s.n.bytes[0], 1001);
	live_sums_free(&s);
}

static void idle_connections_give_room(void **state)
{
	struct live *l = *state;
	const struct live_connection *c = NULL;
	uint64_t sock = 1;

	call(l, 1, false, 1, 10);
	live_turn(l, HZ);
	for (uint64_t i = 2; i <= LIVE_CONNECTIONS + 1; i++)
		call(l, i, false, 1, 10);
	assert_int_equal(HASH_COUNT(l->connections), LIVE_CONNECTIONS);
	assert_int_equal(l->left_out, 1);
	HASH_FIND(hh, l->connections, &sock, sizeof(sock), c);
	assert_null(c);
}

static void scope_has_the_points_of_one(void **state)
{
	struct live *l = *state;
	struct scope_column column[10];

	scope_watch(&l->scope, 5);
	call(l, 5, false, 100, 1 * HZ);
	call(l, 5, true, 50, 1 * HZ);
	call(l, 6, false, 999, 1 * HZ);
	call(l, 5, false, 200, 9 * HZ + 1);
	assert_near(scope_columns(&l->scope, SCOPE_SIZE, 0, 10 * HZ, column, 10), 200, 0);
	assert_near(column[1].most[0], 100, 0);
	assert_near(column[1].most[1], 50, 0);
	assert_near(column[9].most[0], 200, 0);
	assert_true(isnan(column[5].most[0]));
	range(l, TX_STAGE_SNDBUF, 300, 2 * HZ, 100);
	assert_near(scope_columns(&l->scope, SCOPE_DELAY, 0, 10 * HZ, column, 10), 300, 1);
	scope_watch(&l->scope, 6);
	assert_near(scope_columns(&l->scope, SCOPE_SIZE, 0, 10 * HZ, column, 10), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(intervals_add_up),
		TEST(window_has_its_intervals_only),
		TEST(percentiles_need_exchanges_beyond_them),
		TEST(bytes_wait_where_they_spend_most_time),
		TEST(sends_by_timestamps_wait_in_their_own_stages),
		TEST(what_is_not_recorded_is_not_0),
		TEST(idle_connections_give_room),
		TEST(scope_has_the_points_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
