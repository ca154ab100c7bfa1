/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "figures/causes.h"
#include "figures/in_program.h"
#include "unit.h"

static struct fact_range range(bool rx, uint64_t offset, uint64_t length, uint64_t begin)
{
	struct fact_range f = {.offset = offset, .length = length, .begin = begin};

	f.flow.rx = rx;
	f.outcome = OUTCOME_FOLLOWED;
	return f;
}

static uint64_t sum(const struct exchange_causes *e)
{
	uint64_t all = 0;

	for (int i = 0; i < CAUSES; i++)
		all += e->cause[END_OWN][i] + e->cause[END_FAR][i];
	return all;
}

/* A server read a request that waited 300 for it, worked for 1000, and Nagle held the reply for
 * 400. */
static void a_servers_time_is_divided(void **unused)
{
	struct fact_exchange f = {.role = ROLE_SERVER, .request_bytes = 10, .reply_bytes = 20};
	struct fact_range in = range(true, 0, 10, 1000), out = range(false, 0, 20, 2350);
	struct fact_unsent held = {.begin = 2360, .end = 2760};
	uint32_t count = 0;
	struct recent_bytes *request = recent_new(&count), *reply = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	in.stage[TX_STAGES + RX_STAGE_ABSENT] = 300;
	in.stage[TX_STAGES + RX_STAGE_COPY] = 40;
	in.total = in.elapsed = 350;
	recent_range_add(request, &in);
	out.stage[TX_STAGE_SNDBUF] = 400;
	out.total = out.elapsed = 430;
	held.held[WHY_NAGLE] = 400;
	recent_unsent_add(reply, &held);
	recent_range_add(reply, &out);
	f.arrived = 1000;
	f.request_first = f.request_last = 1350;
	f.reply_first = f.reply_last = 2350;
	causes_divide(&f, request, reply, &e);
	assert_int_equal(e.begin, 1000);
	assert_int_equal(e.end, 2780);
	assert_int_equal(e.cause[END_OWN][CAUSE_READER], 300);
	assert_int_equal(e.cause[END_OWN][CAUSE_RECEIVE], 50);
	assert_int_equal(e.cause[END_OWN][CAUSE_PROGRAM], 1000);
	assert_int_equal(e.cause[END_OWN][CAUSE_NAGLE], 400);
	assert_int_equal(e.cause[END_OWN][CAUSE_STACK], 30);
	assert_int_equal(sum(&e), e.end - e.begin);
	recent_free(request);
	recent_free(reply);
	assert_int_equal(count, 0);
}

/* A client on another host waits until the reply departs, and receives during the rest. */
static void a_servers_time_is_divided_in_parts(void **unused)
{
	struct fact_exchange f = {.role = ROLE_SERVER,
		.request_bytes = 10,
		.reply_bytes = 20,
		.arrived = 1000,
		.request_first = 1350,
		.request_last = 1350,
		.reply_first = 2350,
		.reply_last = 2350,
		.departed = 2400};
	struct fact_unsent held = {.begin = 2360, .end = 2760};
	struct fact_range out = range(false, 0, 20, 2350);
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count);
	struct exchange_causes part[CAUSE_PARTS], whole;

	(void)unused;
	out.stage[TX_STAGE_SNDBUF] = 400;
	out.total = out.elapsed = 430;
	held.held[WHY_CWND] = 400;
	recent_unsent_add(reply, &held);
	recent_range_add(reply, &out);
	causes_divide(&f, NULL, reply, &whole);
	causes_divide_in_parts(&f, NULL, reply, part);
	assert_int_equal(part[UNTIL_READ].begin, 1000);
	assert_int_equal(part[UNTIL_READ].end, 1350);
	assert_int_equal(part[UNTIL_READ].cause[END_OWN][CAUSE_RECEIVE], 350);
	assert_int_equal(part[UNTIL_DEPARTURE].end, 2400);
	assert_int_equal(part[UNTIL_DEPARTURE].cause[END_OWN][CAUSE_PROGRAM], 1000);
	assert_int_equal(part[UNTIL_DEPARTURE].cause[END_OWN][CAUSE_CWND], 40);
	assert_int_equal(sum(&part[UNTIL_DEPARTURE]), 1050);
	assert_int_equal(part[AFTER_DEPARTURE].end, 2780);
	assert_int_equal(part[AFTER_DEPARTURE].cause[END_OWN][CAUSE_CWND], 360);
	assert_int_equal(sum(&part[AFTER_DEPARTURE]), 380);
	assert_int_equal(sum(&part[0]) + sum(&part[1]) + sum(&part[2]), sum(&whole));

	f.unseen = true;
	causes_divide_in_parts(&f, NULL, reply, part);
	assert_int_equal(part[UNTIL_READ].begin, 0);
	recent_free(reply);
}

static struct fact_exchange asked(void)
{
	return (struct fact_exchange){.role = ROLE_CLIENT,
		.request_bytes = 10,
		.reply_bytes = 20,
		.request_first = 1000,
		.request_last = 1000,
		.departed = 1030,
		.arrived = 5000,
		.reply_first = 5050,
		.reply_last = 6000};
}

/* Without the server, network and peer are one cause, but for what the client sent again. */
static void a_clients_time_is_divided(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_resent again = {.begin = 1030, .end = 3030};
	uint32_t count = 0;
	struct recent_bytes *request = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	recent_resent_add(request, &again);
	causes_divide(&f, request, NULL, &e);
	assert_int_equal(e.cause[END_OWN][CAUSE_STACK], 30);
	assert_int_equal(e.cause[END_OWN][CAUSE_LOST], 2000);
	assert_int_equal(e.cause[END_OWN][CAUSE_AWAY], 1970);
	assert_int_equal(e.cause[END_OWN][CAUSE_RECEIVE], 50);
	assert_int_equal(e.cause[END_OWN][CAUSE_ARRIVING], 950);
	assert_int_equal(sum(&e), 5000);
	recent_free(request);
}

/* With the server's times it is known what happened there; its memory outlives its flow. */
static void a_client_knows_what_held_the_reply_at_the_server(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_unsent held = {.begin = 4000, .end = 4900};
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count), *sent = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	f.server_request_last = 1200;
	f.server_reply_first = 4000;
	f.in_program = 2800;
	held.held[WHY_WINDOW] = 900;
	recent_unsent_add(sent, &held);
	recent_join(sent, reply);
	recent_free(sent);
	causes_divide(&f, NULL, reply, &e);
	assert_int_equal(e.cause[END_FAR][CAUSE_PROGRAM], 2800);
	assert_int_equal(e.cause[END_FAR][CAUSE_WINDOW], 900);
	assert_int_equal(e.cause[END_OWN][CAUSE_NETWORK], 170 + 100);
	assert_int_equal(sum(&e), 5000);
	recent_free(reply);
	assert_int_equal(count, 0);
}

/* A call that waits for the whole reply (MSG_WAITALL) waits for what holds the rest of it. */
static void one_call_waits_for_all_of_the_reply(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_range first = range(true, 0, 10, 5000), rest = range(true, 10, 10, 5900);
	struct fact_resent again = {.begin = 5010, .end = 5890};
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count), *sent = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	f.reply_calls = 1;
	f.reply_first = f.reply_last = 6000;
	first.stage[TX_STAGES + RX_STAGE_RETURN] = first.total = first.elapsed = 1000;
	rest.stage[TX_STAGES + RX_STAGE_COPY] = rest.total = rest.elapsed = 100;
	recent_range_add(reply, &first);
	recent_range_add(reply, &rest);
	recent_resent_add(sent, &again);
	recent_join(sent, reply);
	causes_divide(&f, NULL, reply, &e);
	assert_int_equal(e.cause[END_OWN][CAUSE_RECEIVE], 100);
	assert_int_equal(e.cause[END_OWN][CAUSE_LOST], 880);
	assert_int_equal(e.cause[END_OWN][CAUSE_ARRIVING], 20);
	assert_int_equal(sum(&e), 5000);
	recent_free(sent);
	recent_free(reply);
}

/* The last bytes lay unread for a while, and so did those before: neither time counts twice. */
static void a_slow_readers_time_counts_once(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_range early = range(true, 5, 5, 5100), last = range(true, 10, 10, 5600);
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	f.reply_calls = 2;
	early.stage[TX_STAGES + RX_STAGE_ABSENT] = early.total = early.elapsed = 100;
	last.stage[TX_STAGES + RX_STAGE_ABSENT] = last.total = last.elapsed = 400;
	recent_range_add(reply, &early);
	recent_range_add(reply, &last);
	causes_divide(&f, NULL, reply, &e);
	assert_int_equal(e.cause[END_OWN][CAUSE_READER], 100 + 400);
	assert_int_equal(e.cause[END_OWN][CAUSE_ARRIVING], 450);
	assert_int_equal(sum(&e), 5000);
	recent_free(reply);
}

/* Bytes may lie unread while the link brings more: the time is that of the link. */
static void a_reader_that_pauses_does_not_slow_a_link(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_range early = range(true, 5, 5, 5100), queued = range(false, 5, 15, 5100);
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count), *sent = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	f.reply_calls = 2;
	early.stage[TX_STAGES + RX_STAGE_ABSENT] = early.total = early.elapsed = 800;
	queued.stage[TX_STAGE_QDISC] = queued.total = queued.elapsed = 700;
	recent_range_add(reply, &early);
	recent_range_add(sent, &queued);
	recent_join(sent, reply);
	causes_divide(&f, NULL, reply, &e);
	assert_int_equal(e.cause[END_FAR][CAUSE_QDISC], 700);
	assert_int_equal(e.cause[END_OWN][CAUSE_READER], 950 - 700);
	assert_int_equal(sum(&e), 5000);
	recent_free(sent);
	recent_free(reply);
}

/* Where the server is not recorded, a window that was closed shows that it waited for the reader.
 */
static void a_closed_window_tells_that_the_reader_was_waited_for(void **unused)
{
	struct fact_exchange f = asked();
	struct fact_range early = range(true, 5, 5, 5100);
	uint32_t count = 0;
	struct recent_bytes *reply = recent_new(&count), *request = recent_new(&count);
	struct exchange_causes e;

	(void)unused;
	f.reply_calls = 2;
	early.stage[TX_STAGES + RX_STAGE_ABSENT] = early.total = early.elapsed = 800;
	recent_range_add(reply, &early);
	causes_divide(&f, request, reply, &e);
	assert_int_equal(e.cause[END_OWN][CAUSE_READER], 0);
	assert_int_equal(e.cause[END_OWN][CAUSE_ARRIVING], 950);
	request->closed = 5400;
	causes_divide(&f, request, reply, &e);
	assert_int_equal(e.cause[END_OWN][CAUSE_READER], 800);
	recent_free(request);
	recent_free(reply);
}

/*
 * Waits that are short beside those in the send buffer count if the queue is never empty between
 * them, and not alone.
 */
static void short_waits_in_a_busy_queue_count(void **unused)
{
	uint64_t held[CAUSES] = {0};
	uint32_t count = 0;
	struct recent_bytes *r = recent_new(&count);

	(void)unused;
	for (uint64_t i = 0; i < 100; i++) {
		struct fact_range f = range(false, i, 1, 10000 + 40 * i);

		f.stage[TX_STAGE_QDISC] = 50;
		f.total = f.elapsed = i ? 5000 : 50;
		recent_range_add(r, &f);
	}
	recent_held(r, 0, 1000000, held);
	assert_int_equal(held[CAUSE_QDISC], 99 * 40 + 50);
	for (uint64_t i = 0; i < 100; i++) {
		struct fact_range f = range(false, i, 1, 20000 + 4000 * i);

		f.stage[TX_STAGE_QDISC] = 50;
		f.total = f.elapsed = 5000;
		recent_range_add(r, &f);
	}
	memset(held, 0, sizeof(held));
	recent_held(r, 0, 1000000, held);
	assert_int_equal(held[CAUSE_QDISC], 99 * 40 + 50);
	recent_free(r);
}

/* The slowest of three is not typical. */
static void the_median_of_few_is_in_the_middle(void **unused)
{
	static const uint64_t took[] = {1000, 1100, 100000};
	struct cause_bins *bins = NULL;
	struct cause_sums sum;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct exchange_causes e = {.begin = 1, .end = 1 + took[i]};

		causes_add(&bins, &e);
	}
	causes_between(bins, 0.45, 0.55, &sum);
	assert_true(sum.n && sum.time / sum.n < 2000);
	causes_between(bins, 1, 1, &sum);
	assert_int_equal(sum.time, 100000);
	causes_free(bins);
}

/* Times that contradict each other are not divided. */
static void impossible_times_have_no_causes(void **unused)
{
	struct fact_exchange f = asked();
	struct cause_bins *bins = NULL;
	struct exchange_causes e;

	(void)unused;
	f.reply_first = 900;
	causes_divide(&f, NULL, NULL, &e);
	assert_int_equal(e.begin, 0);
	causes_add(&bins, &e);
	assert_null(bins);
}

/* More waits than there is room for are joined by cause: their sum stays. */
static void many_waits_are_joined(void **unused)
{
	uint64_t held[CAUSES] = {0};
	uint32_t count = 0;
	struct recent_bytes *r = recent_new(&count);

	(void)unused;
	for (uint64_t i = 0; i < 100; i++) {
		struct fact_unsent f = {.begin = 1000 * (i + 1)};

		f.held[i % 2 ? WHY_NAGLE : WHY_CWND] = 100;
		recent_unsent_add(r, &f);
	}
	recent_held(r, 0, 1000000, held);
	assert_int_equal(held[CAUSE_NAGLE], 5000);
	assert_int_equal(held[CAUSE_CWND], 5000);
	recent_free(r);
}

/* Times that overlap count once. */
static void losses_at_the_same_time_count_once(void **unused)
{
	uint64_t held[CAUSES] = {0};
	uint32_t count = 0;
	struct recent_bytes *r = recent_new(&count);

	(void)unused;
	recent_resent_add(r, &(struct fact_resent){.begin = 100, .end = 300});
	recent_resent_add(r, &(struct fact_resent){.begin = 120, .end = 350});
	recent_held(r, 0, 1000, held);
	assert_int_equal(held[CAUSE_LOST], 250);
	memset(held, 0, sizeof(held));
	recent_held(r, 200, 320, held);
	assert_int_equal(held[CAUSE_LOST], 120);
	memset(held, 0, sizeof(held));
	recent_resent_add(r, &(struct fact_resent){.begin = 50, .end = 200}); /* told later */
	recent_held(r, 0, 1000, held);
	assert_int_equal(held[CAUSE_LOST], 300);
	recent_free(r);
}

/* Waits older than the exchange before take no room. */
static void what_was_divided_is_forgotten(void **unused)
{
	uint64_t held[CAUSES] = {0};
	uint32_t count = 0;
	struct recent_bytes *r = recent_new(&count);

	(void)unused;
	for (uint64_t begin = 1000; begin <= 10000; begin += 1000) {
		for (uint64_t t = begin; t < begin + 1000; t += 100)
			recent_resent_add(r, &(struct fact_resent){.begin = t, .end = t + 50});
		recent_divided(r, begin);
	}
	recent_held(r, 10000, 11000, held);
	assert_int_equal(held[CAUSE_LOST], 500);
	recent_free(r);
}

static void add(struct cause_bins **bins, uint64_t time, enum cause cause)
{
	struct exchange_causes e = {.begin = 1, .end = 1 + time};

	e.cause[END_OWN][cause] = time;
	causes_add(bins, &e);
}

/* Typical and slow exchanges have different causes. */
static void the_median_and_the_slowest_are_apart(void **unused)
{
	struct cause_bins *bins = NULL;
	struct cause_sums at;
	enum cause_end end;

	(void)unused;
	for (int i = 0; i < 90; i++)
		add(&bins, 1000, CAUSE_STACK);
	for (int i = 0; i < 10; i++)
		add(&bins, 50000, CAUSE_LOST);
	causes_between(bins, 0.45, 0.55, &at);
	assert_int_equal(at.n, 11);
	assert_int_equal(at.time, 11000);
	assert_int_equal(causes_largest(&at, &end), CAUSE_STACK);
	causes_between(bins, 0.9, 1, &at);
	assert_int_equal(at.n, 10);
	assert_int_equal(causes_largest(&at, &end), CAUSE_LOST);
	assert_int_equal(end, END_OWN);
	assert_int_equal(at.time, 500000);
	causes_free(bins);
}

/* Nine of the ten slowest are like all others: they count as nine. */
static void the_slowest_are_as_many_as_are_asked_for(void **unused)
{
	struct cause_bins *bins = NULL;
	struct cause_sums at;

	(void)unused;
	for (int i = 0; i < 99; i++)
		add(&bins, 1000, CAUSE_STACK);
	add(&bins, 50000, CAUSE_LOST);
	causes_between(bins, 0.9, 1, &at);
	assert_int_equal(at.n, 10);
	assert_int_equal(at.time, 9 * 1000 + 50000);
	assert_int_equal(at.cause[END_OWN][CAUSE_STACK], 9 * 1000);
	causes_free(bins);
}

/* The median is the longest of the short ones: no long one is like it. */
static void the_median_of_two_kinds_is_of_one(void **unused)
{
	struct cause_bins *bins = NULL;
	uint32_t first, last;
	struct cause_sums at;

	(void)unused;
	for (int i = 0; i < 21; i++)
		add(&bins, 26000, CAUSE_STACK);
	for (int i = 0; i < 19; i++)
		add(&bins, 80000, CAUSE_RUN_QUEUE);
	causes_between(bins, 0.45, 0.55, &at);
	assert_int_equal(at.time, at.n * 26000);
	assert_true(causes_bins_at(bins, 0.45, 0.55, &first, &last) && first == last);
	causes_free(bins);
}

static struct program_times parts(uint64_t ordinal, enum fact_program_part part, uint64_t time)
{
	struct program_times p = {.n = 1, .ordinal = ordinal};

	p.part[0].key.part = part;
	p.part[0].time = time;
	return p;
}

/* Most time in the program is that of other exchanges than of those which take longest. */
static void what_the_program_did_is_of_the_same_exchanges(void **unused)
{
	struct program_table t = {0};
	struct cause_bins *bins = NULL;
	uint32_t first, last;
	double share;

	(void)unused;
	for (uint64_t i = 0; i < 100; i++) {
		bool slow = i % 10 == 0;
		uint64_t whole = slow ? 1000000 : 100000;
		struct program_times p =
			parts(i, slow ? PROGRAM_ON_CPU : PROGRAM_BLOCKED, slow ? 1000 : 90000);

		add(&bins, whole, slow ? CAUSE_READER : CAUSE_PROGRAM);
		program_table_add(&t, &p, causes_bin(whole));
	}
	program_table_finish(&t);
	assert_true(causes_bins_at(bins, 0.45, 0.55, &first, &last));
	assert_int_equal(program_table_longest(&t, first, last, &share)->key.part, PROGRAM_BLOCKED);
	assert_true(share == 1);
	assert_true(causes_bins_at(bins, 1, 1, &first, &last));
	assert_int_equal(program_table_longest(&t, first, last, &share)->key.part, PROGRAM_ON_CPU);
	assert_null(program_table_longest(&t, 0, 1, &share));
	program_table_free(&t);
	causes_free(bins);
}

/* The slowest is one exchange, also where others are in its bin. */
static void the_slowest_is_alone(void **unused)
{
	struct cause_bins *bins = NULL;
	struct cause_sums at;

	(void)unused;
	for (uint64_t i = 0; i < 50; i++)
		add(&bins, 100000 + 10 * (i * 7 % 50), CAUSE_STACK);
	causes_between(bins, 1, 1, &at);
	assert_int_equal(at.n, 1);
	assert_int_equal(at.time, 100490);
	assert_int_equal(at.cause[END_OWN][CAUSE_STACK], 100490);
	causes_free(bins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_servers_time_is_divided),
		cmocka_unit_test(a_servers_time_is_divided_in_parts),
		cmocka_unit_test(a_clients_time_is_divided),
		cmocka_unit_test(a_client_knows_what_held_the_reply_at_the_server),
		cmocka_unit_test(one_call_waits_for_all_of_the_reply),
		cmocka_unit_test(a_slow_readers_time_counts_once),
		cmocka_unit_test(a_reader_that_pauses_does_not_slow_a_link),
		cmocka_unit_test(a_closed_window_tells_that_the_reader_was_waited_for),
		cmocka_unit_test(short_waits_in_a_busy_queue_count),
		cmocka_unit_test(the_median_of_few_is_in_the_middle),
		cmocka_unit_test(impossible_times_have_no_causes),
		cmocka_unit_test(many_waits_are_joined),
		cmocka_unit_test(losses_at_the_same_time_count_once),
		cmocka_unit_test(what_was_divided_is_forgotten),
		cmocka_unit_test(the_median_and_the_slowest_are_apart),
		cmocka_unit_test(the_slowest_are_as_many_as_are_asked_for),
		cmocka_unit_test(the_median_of_two_kinds_is_of_one),
		cmocka_unit_test(what_the_program_did_is_of_the_same_exchanges),
		cmocka_unit_test(the_slowest_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
