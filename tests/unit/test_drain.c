/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "drop_numbers.h"
#include "rings.h"

static void events_come_out_in_the_order_they_went_in(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 100, 5);
	produce_many(1, 200, 3);
	assert_int_equal(drain_pass(drain), 5 * 100 / SLOTS);
	assert_int_equal(drain_pass(drain), 0);
	assert_int_equal(drain_lost(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_number(&t.event[i], 100 + i);
	trace_free(&t);
	trace_read(&t, dir, "cpu1");
	assert_int_equal(t.events, 3);
	trace_free(&t);
}

static void the_ring_is_used_round_and_round(void **unused)
{
	struct trace_file t;
	uint64_t next = 0;

	(void)unused;
	begin();
	for (int pass = 0; pass < 100; pass++) {
		produce_many(0, next, (uint64_t)pass % SLOTS + 1);
		next += (uint64_t)pass % SLOTS + 1;
		assert_true(drain_pass(drain) >= 0);
	}
	finish(&t, "cpu0");
	assert_int_equal(t.events, next);
	for (uint64_t i = 0; i < next; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

/* A lap has 16 bits: after 65,536 laps it begins again, and 0 is a lap like any other. */
static void laps_may_begin_again(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 0);
	struct trace_file t;

	(void)unused;
	r->head = r->tail = 65533ull * SLOTS; /* lap 65,534 is next */
	begin();
	for (uint64_t i = 0; i < 5 * SLOTS; i++) {
		assert_true(produce(0, i));
		if (i % 3 == 2)
			drain_pass(drain);
	}
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5 * SLOTS);
	for (uint64_t i = 0; i < t.events; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

/* Near and far slots in every order, for more laps than there are numbers. */
static void near_and_far_places_keep_the_order(void **unused)
{
	uint64_t next = 0, seed = 1;
	struct trace_file t;

	(void)unused;
	begin();
	while (next < 70000ull * NEAR) {
		uint64_t some = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33;
		uint64_t more = some % (SLOTS + 1);

		for (uint64_t i = 0; i < more && produce(0, next); i++)
			next++;
		if (some & 1ull << 20) {
			uint64_t word;
			struct mg_slot *s = take(0, &word);

			drain_pass(drain); /* finds a slot that is taken but not filled */
			if (s) {
				struct mg_tcp_ready e = {.sock = next++};

				memcpy(s->payload, &e, MG_PAYLOAD_SIZE(TCP_READY));
				publish(s, word);
			} else {
				hooks_ring(&hooks, 0)->lost--; /* it was only an attempt */
			}
		}
		if (some & 1ull << 21)
			drain_pass(drain);
	}
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_true(t.events >= next);
	for (uint64_t i = 0, n = 0; i < t.events; i++)
		if (t.event[i].id == MG_EVENT_tcp_ready)
			assert_number(&t.event[i], n++);
	trace_free(&t);
}

static void a_slot_that_is_not_published_stops_the_reader(void **unused)
{
	struct mg_tcp_ready e = {.sock = 2};
	struct trace_file t;
	struct mg_slot *s;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, 2);
	s = take(0, &word);    /* a program interrupted before it was done ... */
	produce_many(0, 3, 2); /* ... by others that complete */
	drain_pass(drain);
	assert_int_equal(hooks_ring(&hooks, 0)->tail, 2);
	assert_int_equal(ctf_events(writer), 2);
	memcpy(s->payload, &e, MG_PAYLOAD_SIZE(TCP_READY));
	publish(s, word);
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_number(&t.event[i], i);
	trace_free(&t);
}

/* The slot's content of the lap before is complete, but not the one wanted. */
static void a_slot_of_the_lap_before_stops_it_too(void **unused)
{
	struct trace_file t;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS);
	drain_pass(drain);
	assert_non_null(take(0, &word));
	drain_pass(drain);
	assert_int_equal(ctf_events(writer), SLOTS);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS);
	trace_free(&t);
}

/* Calibration uses the rings before the recording begins. */
static void events_before_the_trace_are_not_part_of_it(void **unused)
{
	struct trace_file t;

	(void)unused;
	produce_many(0, 1000, SLOTS + 5);
	begin();
	produce_many(0, 0, 3);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 3);
	assert_number(&t.event[0], 0);
	assert_int_equal(t.packet[0].discarded, 0);
	trace_free(&t);
}

static void the_fullest_ring_is_told_in_percent(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 0, 2);
	produce_many(1, 0, SLOTS);
	assert_int_equal(drain_pass(drain), 100);
	produce_many(0, 0, SLOTS / 2);
	assert_int_equal(drain_pass(drain), 50);
	finish(&t, "cpu0");
	trace_free(&t);
}

static void a_note_has_the_time_of_now(void **unused)
{
	struct mg_trace_end e = {.events = 3};
	uint64_t before = mg_monotonic_ns();
	struct trace_file t;

	(void)unused;
	begin();
	assert_int_equal(drain_note(drain, MG_EVENT_trace_end, &e, MG_PAYLOAD_SIZE(TRACE_END)), 0);
	finish(&t, "tracer");
	assert_in_range(t.event[0].ts, before, mg_monotonic_ns());
	assert_memory_equal(t.event[0].payload, &e, MG_PAYLOAD_SIZE(TRACE_END));
	trace_free(&t);
}

static void produce_drop(int cpu, uint32_t reason)
{
	struct mg_drop_raw e = {.reason = reason};
	struct mg_slot *s;
	uint64_t word;

	s = take(cpu, &word);
	assert_non_null(s);
	memcpy(s->payload, &e, MG_PAYLOAD_SIZE(DROP_RAW));
	publish(s, (word & ~(0xffffull << 48)) | (uint64_t)MG_EVENT_drop_raw << 48);
}

/* Reading the names takes long: meanwhile the other rings are emptied, and this one fills. */
static void a_drop_waits_in_its_ring_for_its_names(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	drop_names_are_known = false;
	produce(0, 1);
	produce_drop(0, 2);
	produce(0, 3);
	produce(1, 4);
	assert_int_equal(drain_pass(drain), 100 / SLOTS); /* as if there were nothing behind it */
	assert_int_equal(hooks_ring(&hooks, 0)->tail, 1);
	assert_int_equal(hooks_ring(&hooks, 1)->tail, 1);
	assert_int_equal(drain_pass(drain), 0);
	drop_names_are_known = true;
	drain_pass(drain);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 3);
	assert_number(&t.event[0], 1);
	assert_int_equal(t.event[1].id, MG_EVENT_drop);
	assert_number(&t.event[2], 3);
	trace_free(&t);
}

static void no_events_are_lost_for_names(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	drop_names_are_known = false;
	produce_drop(0, 2);
	drain_pass(drain);
	produce_many(0, 1, SLOTS / 2 - 1);
	assert_int_equal(drain_pass(drain), 50);
	assert_int_equal(hooks_ring(&hooks, 0)->tail, SLOTS / 2);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS / 2);
	trace_free(&t);
}

static void where_the_trace_is_cut_nothing_waits(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	drop_names_are_known = false;
	produce_drop(0, 2);
	produce(0, 3);
	assert_int_equal(drain_cut(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 2);
	trace_free(&t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rings_setup, rings_teardown)
	const struct CMUnitTest tests[] = {
		TEST(events_come_out_in_the_order_they_went_in),
		TEST(the_ring_is_used_round_and_round),
		TEST(laps_may_begin_again),
		TEST(near_and_far_places_keep_the_order),
		TEST(a_slot_that_is_not_published_stops_the_reader),
		TEST(a_slot_of_the_lap_before_stops_it_too),
		TEST(events_before_the_trace_are_not_part_of_it),
		TEST(the_fullest_ring_is_told_in_percent),
		TEST(a_note_has_the_time_of_now),
		TEST(a_drop_waits_in_its_ring_for_its_names),
		TEST(no_events_are_lost_for_names),
		TEST(where_the_trace_is_cut_nothing_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
