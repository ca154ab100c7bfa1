/* SPDX-License-Identifier: MIT */
/* not_run.c, through the drain: packets that no tracing program saw, as process 1 ran. */
#include "clock.h"
#include "rings.h"

#define INIT  1
#define OTHER 5

static uint64_t losses_in(const struct trace_file *t, struct mg_lost *last)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->events; i++)
		if (t->event[i].id == MG_EVENT_lost) {
			*last = lost_event(&t->event[i]);
			n += last->count;
		}
	return n;
}

/* Ends the recording; returns what the trace of CPU 0 says was lost. */
static uint64_t lost_in_all(struct mg_lost *last)
{
	struct trace_file t;
	uint64_t n;

	assert_int_equal(drain_finish(drain), 0);
	finish(&t, "cpu0");
	n = losses_in(&t, last);
	trace_free(&t);
	return n;
}

static void packets_that_only_netfilter_saw_are_a_loss_with_its_place(void **unused)
{
	struct trace_file t;
	struct mg_lost l;

	(void)unused;
	begin();
	produce_as(0, OTHER, MG_EVENT_dev_recv);
	produce_as(0, INIT, MG_EVENT_ip_in);
	produce_as(0, INIT, MG_EVENT_tcp_state); /* recorded by the same program */
	produce_as(0, INIT, MG_EVENT_ip_out);
	produce_as(0, INIT, MG_EVENT_ip_post);
	produce_as(0, OTHER, MG_EVENT_dev_queue);
	assert_int_equal(drain_finish(drain), 0);
	assert_int_equal(drain_lost(drain), 2);
	assert_int_equal(drain_skipped(drain), 2);
	finish(&t, "cpu0");
	assert_int_equal(t.events, 7);
	l = lost_event(&t.event[5]);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.reason, MG_LOST_NOT_RUN);
	assert_int_equal(l.cpu, 0);
	assert_int_equal(l.from_ns, t.event[0].ts);
	assert_int_equal(l.to_ns, t.event[6].ts);
	trace_free(&t);
}

static void where_tracing_programs_run_nothing_is_lost(void **unused)
{
	struct mg_lost l;

	(void)unused;
	begin();
	produce_as(0, INIT, MG_EVENT_dev_recv);
	produce_as(0, INIT, MG_EVENT_ip_in);
	produce_as(0, OTHER, MG_EVENT_dev_recv);
	produce_as(0, INIT, MG_EVENT_ip_in); /* was delivered by another hook's way */
	produce_as(0, OTHER, MG_EVENT_dev_recv);
	assert_int_equal(lost_in_all(&l), 0);
}

/* A packet may wait for an address. */
static void a_packet_that_is_sent_proves_nothing(void **unused)
{
	struct mg_lost l;

	(void)unused;
	begin();
	produce_as(0, INIT, MG_EVENT_ip_out);
	produce_as(0, OTHER, MG_EVENT_dev_recv);
	assert_int_equal(lost_in_all(&l), 0);
}

static void once_it_is_known_sent_packets_count(void **unused)
{
	struct mg_lost l;

	(void)unused;
	begin();
	produce_as(0, INIT, MG_EVENT_ip_in);
	produce_as(0, OTHER, MG_EVENT_dev_recv);
	produce_as(0, INIT, MG_EVENT_ip_out);
	assert_int_equal(lost_in_all(&l), 2);
	assert_int_equal(l.count, 1);
}

static void without_the_layer_device_nothing_is_missing(void **unused)
{
	struct mg_lost l;

	(void)unused;
	traced = false;
	begin();
	produce_as(0, INIT, MG_EVENT_ip_in);
	produce_as(0, OTHER, MG_EVENT_ip_in);
	assert_int_equal(lost_in_all(&l), 0);
	traced = true;
}

/* The ring had no room for the events that the packet lacks: that is told already. */
static void a_full_ring_is_another_loss(void **unused)
{
	struct mg_lost l;

	(void)unused;
	begin();
	produce_as(0, INIT, MG_EVENT_ip_in);
	hooks_ring(&hooks, 0)->lost += 3;
	produce_as(0, OTHER, MG_EVENT_ip_in);
	assert_int_equal(lost_in_all(&l), 3);
	assert_int_equal(l.reason, MG_LOST_RING_FULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rings_setup, rings_teardown)
	const struct CMUnitTest tests[] = {
		TEST(packets_that_only_netfilter_saw_are_a_loss_with_its_place),
		TEST(where_tracing_programs_run_nothing_is_lost),
		TEST(a_packet_that_is_sent_proves_nothing),
		TEST(once_it_is_known_sent_packets_count),
		TEST(without_the_layer_device_nothing_is_missing),
		TEST(a_full_ring_is_another_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
