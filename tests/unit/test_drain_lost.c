/* SPDX-License-Identifier: MIT */
/* drain.c again: every loss is counted, and reported where it occurred. */
#include <unistd.h>

#include "clock.h"
#include "rings.h"

static void a_loss_stands_between_its_neighbours(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 3); /* the last three find no room */
	drain_pass(drain);
	produce_many(0, 50, 2);
	drain_pass(drain);
	assert_int_equal(drain_lost(drain), 3);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS + 1 + 2);
	assert_number(&t.event[SLOTS - 1], SLOTS - 1);
	l = lost_event(&t.event[SLOTS]);
	assert_number(&t.event[SLOTS + 1], 50);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.cpu, 0);
	assert_int_equal(l.reason, 1);
	assert_string_equal(l.producer, "ring");
	assert_int_equal(l.from_ns, t.event[SLOTS - 1].ts);
	assert_int_equal(l.to_ns, t.event[SLOTS + 1].ts);
	assert_int_equal(t.packet[0].discarded, 3);
	trace_free(&t);
}

static void each_loss_has_its_own_place(void **unused)
{
	struct trace_file t;
	uint64_t sum = 0;
	size_t places = 0;

	(void)unused;
	begin();
	for (uint64_t i = 0; i < 10; i++) { /* SLOTS fit, i do not */
		produce_many(0, 100 * i, SLOTS + i);
		drain_pass(drain);
	}
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 45);
	finish(&t, "cpu0");
	for (size_t i = 0; i < t.events; i++) {
		if (t.event[i].id != MG_EVENT_lost)
			continue;
		sum += lost_event(&t.event[i]).count;
		places++;
	}
	assert_int_equal(sum, 45);
	assert_int_equal(places, 9);
	assert_int_equal(t.events, 10 * SLOTS + 9);
	trace_free(&t);
}

/* A full ring loses events in the middle too, as soon as a reader makes room for some. */
static void a_loss_in_the_middle_of_a_pass_is_placed_as_well(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 1);
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(1, 0, 4);
	r->lost += 7;
	produce_many(1, 4, 3);
	drain_pass(drain);
	finish(&t, "cpu1");
	assert_int_equal(t.events, 8);
	l = lost_event(&t.event[4]);
	assert_int_equal(l.count, 7);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.from_ns, t.event[3].ts);
	assert_int_equal(l.to_ns, t.event[5].ts);
	trace_free(&t);
}

/* The count in a slot has 32 bits. */
static void the_count_of_losses_may_wrap(void **unused)
{
	struct mg_ring *r = hooks_ring(&hooks, 0);
	struct trace_file t;

	(void)unused;
	r->lost = 0xfffffffe;
	begin();
	r->lost += 5;
	produce(0, 1);
	drain_pass(drain);
	r->lost += 2;
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 7);
	finish(&t, "cpu0");
	assert_int_equal(lost_event(&t.event[0]).count, 5);
	assert_number(&t.event[1], 1);
	assert_int_equal(lost_event(&t.event[2]).count, 2);
	trace_free(&t);
}

/* Losses after the last recorded event show in no slot. */
static void trailing_losses_are_told_at_the_end(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 6);
	drain_pass(drain);
	assert_int_equal(drain_lost(drain), 0);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 6);
	assert_int_equal(drain_skipped(drain), 0);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS + 1);
	l = lost_event(&t.event[SLOTS]);
	assert_int_equal(l.count, 6);
	assert_int_equal(l.from_ns, t.event[SLOTS - 1].ts);
	assert_true(l.to_ns >= l.from_ns);
	trace_free(&t);
}

static void a_pass_and_another_a_while_later(void)
{
	drain_pass(drain);
	usleep(12000);
	drain_pass(drain);
}

/* A recorder that stops here, or is killed, has reported them. */
static void on_a_quiet_cpu_they_are_told_a_while_later(void **unused)
{
	struct trace_file t;
	struct mg_lost l;
	uint64_t before;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 6);
	before = mg_monotonic_ns();
	a_pass_and_another_a_while_later();
	assert_int_equal(drain_lost(drain), 6);
	a_pass_and_another_a_while_later();
	assert_int_equal(drain_lost(drain), 6);
	produce_later(0, 50, mg_monotonic_ns());
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 6);
	finish(&t, "cpu0");
	assert_int_equal(t.events, SLOTS + 1 + 1);
	l = lost_event(&t.event[SLOTS]);
	assert_int_equal(l.count, 6);
	assert_int_equal(l.from_ns, t.event[SLOTS - 1].ts);
	assert_in_range(l.to_ns, before, t.event[SLOTS + 1].ts);
	assert_number(&t.event[SLOTS + 1], 50);
	trace_free(&t);
}

/* Events in progress belong before the loss; those that come later have their own place. */
static void while_a_slot_is_being_filled_no_cpu_is_quiet(void **unused)
{
	struct trace_file t;
	struct mg_slot *s;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, 3);
	s = take(0, &word);
	hooks_ring(&hooks, 0)->lost += 2;
	a_pass_and_another_a_while_later();
	assert_int_equal(drain_lost(drain), 0);
	memset(s->payload, 0, sizeof(s->payload));
	publish(s, word);
	a_pass_and_another_a_while_later();
	assert_int_equal(drain_lost(drain), 2);
	hooks_ring(&hooks, 0)->lost += 3;
	produce_later(0, 7, mg_monotonic_ns());
	drain_pass(drain);
	assert_int_equal(drain_lost(drain), 5);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 3 + 1 + 1 + 1 + 1);
	assert_int_equal(lost_event(&t.event[4]).count, 2);
	assert_int_equal(lost_event(&t.event[5]).count, 3);
	assert_int_equal(lost_event(&t.event[5]).from_ns, lost_event(&t.event[4]).to_ns);
	assert_number(&t.event[6], 7);
	trace_free(&t);
}

/* Each part of the trace reports all losses of its time. */
static void where_the_trace_is_cut_they_are_told_at_once(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 0, SLOTS + 6);
	hooks_ring(&hooks, 1)->lost += 4;
	assert_int_equal(drain_cut(drain), 0);
	assert_int_equal(drain_lost(drain), 10);
	assert_int_equal(drain_cut(drain), 0);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 10);
	finish(&t, "cpu1");
	assert_int_equal(t.events, 1);
	assert_int_equal(lost_event(&t.event[0]).count, 4);
	trace_free(&t);
}

static void a_cpu_that_lost_everything_has_a_place_for_it(void **unused)
{
	uint64_t before = mg_monotonic_ns();
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	hooks_ring(&hooks, 1)->lost += 4;
	assert_int_equal(drain_finish(drain), 0);
	finish(&t, "cpu1");
	assert_int_equal(t.events, 1);
	l = lost_event(&t.event[0]);
	assert_int_equal(l.count, 4);
	assert_in_range(l.from_ns, before, l.to_ns);
	trace_free(&t);
}

/* Each program's own loss; while they occur they are checked more often. */
static void skipped_programs_become_losses_of_the_tracer(void **unused)
{
	struct trace_file t;
	struct mg_lost l;
	int64_t seldom;

	(void)unused;
	begin();
	seldom = drain_check_misses(drain);
	misses = 9;
	assert_in_range(drain_check_misses(drain), 1, seldom - 1);
	assert_int_equal(drain_check_misses(drain), seldom);
	assert_int_equal(drain_lost(drain), 10);
	assert_int_equal(drain_skipped(drain), 10);
	finish(&t, "tracer");
	assert_int_equal(t.events, 2);
	l = lost_event(&t.event[0]);
	assert_int_equal(l.count, 9);
	assert_int_equal(l.cpu, -1);
	assert_int_equal(l.reason, MG_LOST_SKIPPED);
	assert_string_equal(l.producer, "tcp_send");
	assert_true(l.from_ns <= l.to_ns);
	assert_int_equal(lost_event(&t.event[1]).count, 1);
	assert_string_equal(lost_event(&t.event[1]).producer, "dev_recv");
	trace_free(&t);
}

/* Events during a pause are no losses, and neither are slots taken as it began. */
static void a_pause_is_a_gap_and_no_loss(void **unused)
{
	struct trace_file t, own;
	struct mg_lost l;
	struct mg_slot *s;
	uint64_t word;

	(void)unused;
	begin();
	produce_many(0, 0, 3);
	s = take(1, &word);
	assert_int_equal(drain_pause(drain), 0);
	assert_int_equal(drain_pause(drain), 0);
	produce_many(0, 100, 20);
	produce_many(1, 100, 4);
	memset(s->payload, 0, sizeof(s->payload));
	publish(s, word);
	assert_int_equal(drain_pass(drain), 0);
	assert_int_equal(drain_resume(drain), 0);
	assert_int_equal(drain_resume(drain), 0);
	produce_many(0, 3, SLOTS + 2);
	drain_pass(drain);
	produce_many(0, 50, 1);
	produce_many(1, 60, 1);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_not_recorded(drain), 24);
	assert_int_equal(drain_lost(drain), 2);
	assert_int_equal(drain_lost_on(drain, 0), 2);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 3 + SLOTS + 1 + 1);
	for (uint64_t i = 0; i < 3 + SLOTS; i++)
		assert_number(&t.event[i], i);
	assert_int_equal(lost_event(&t.event[3 + SLOTS]).count, 2);
	trace_read(&own, dir, "tracer");
	assert_int_equal(own.events, 1);
	l = lost_event(&own.event[0]);
	assert_int_equal(l.count, 24);
	assert_int_equal(l.reason, MG_LOST_PAUSED);
	assert_true(l.from_ns < l.to_ns);
	trace_free(&own);
	trace_free(&t);
	trace_read(&t, dir, "cpu1");
	assert_int_equal(t.events, 2);
	assert_number(&t.event[1], 60);
	trace_free(&t);
}

static void the_end_of_the_recording_ends_a_pause(void **unused)
{
	struct trace_file t;

	(void)unused;
	begin();
	produce_many(0, 0, 2);
	assert_int_equal(drain_pause(drain), 0);
	produce_many(0, 0, 7);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 0);
	finish(&t, "tracer");
	assert_int_equal(lost_event(&t.event[0]).count, 7);
	trace_free(&t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rings_setup, rings_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_loss_stands_between_its_neighbours),
		TEST(each_loss_has_its_own_place),
		TEST(a_loss_in_the_middle_of_a_pass_is_placed_as_well),
		TEST(the_count_of_losses_may_wrap),
		TEST(trailing_losses_are_told_at_the_end),
		TEST(on_a_quiet_cpu_they_are_told_a_while_later),
		TEST(while_a_slot_is_being_filled_no_cpu_is_quiet),
		TEST(where_the_trace_is_cut_they_are_told_at_once),
		TEST(a_cpu_that_lost_everything_has_a_place_for_it),
		TEST(skipped_programs_become_losses_of_the_tracer),
		TEST(a_pause_is_a_gap_and_no_loss),
		TEST(the_end_of_the_recording_ends_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
