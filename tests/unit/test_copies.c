/* SPDX-License-Identifier: MIT */
/* Bytes that pass more than once: which of them TCP counts, and which times belong to one copy. */
#include <errno.h>

#include "feed.h"

#define SENDER   10
#define RECEIVER 20
#define A        1
#define B        2

static void both(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
}

/* Feeds one more segment on its way out, from the softirq. */
static void leave(struct core *c, uint64_t at, uint32_t seq, uint32_t len)
{
	ev_packet(c, at, 0, MG_EVENT_ip_out, A, seq, len);
	ev_packet(c, at + 1, 0, MG_EVENT_ip_post, A, seq, len);
	ev_packet(c, at + 2, 0, MG_EVENT_dev_queue, A, seq, len);
	ev_packet(c, at + 3, 0, MG_EVENT_dev_xmit, A, seq, len);
	ev_done(c, at + 4, 0, A, seq, len);
}

static const struct copies *sent(const struct core *c)
{
	return &tx_of(c, A)->copies;
}

static void assert_sent(const struct core *c, uint64_t retransmitted, uint64_t resent)
{
	assert_int_equal(sent(c)->retransmitted, retransmitted);
	assert_int_equal(sent(c)->resent + sent(c)->pending, resent);
}

static void tcps_own_retransmission_is_reported_by_tcp(void **unused)
{
	struct core c;

	(void)unused;
	both(&c, ALL_HOOKS);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	leave(&c, 9000, 1000, 500);
	ev_retransmit(&c, 9010, A, 1000, 500);
	assert_sent(&c, 500, 0);
	assert_int_equal(sent(&c)->ambiguous, 0); /* the first copy had left long before */
	feed_end(&c);
}

/*
 * Dropped in netfilter or in a queue: TCP sends it again as if for the first time, and counts
 * nothing.
 */
static void local_drop_is_resent_not_retransmitted(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c, ALL_HOOKS);
	ev_enter(&c, 1100, SENDER, A, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, SENDER, A, 1000, 1500, 1000);
	leave(&c, 1300, 1000, 500);
	ev_packet(&c, 1400, SENDER, MG_EVENT_ip_out, A, 1500, 1000); /* dropped behind this point */
	ev_exit(&c, 1500, SENDER, A, MG_SYS_sendto, 2500, 1500);
	ev_app(&c, SENDER, MG_FN_send, 1000, 1600, 1500);
	leave(&c, 3000, 1500, 400); /* sent anew, cut differently */
	leave(&c, 3100, 1900, 600);
	f = tx_of(&c, A);
	assert_sent(&c, 0, 1000);
	assert_int_equal(f->complete, 1500);
	assert_int_equal(f->copies.ambiguous, 1000);
	assert_int_equal(measures_in(f)->residence.weight, 500);
	assert_int_equal(measures_in(f)->units[TX_IP_OUT].again, 1000);
	assert_int_equal(measures_in(f)->units[TX_XMIT].again, 0);
	feed_end(&c);
}

/*
 * The kernel refuses the packet (a rule drops it): by its own event, it was TCP's retransmission.
 */
static void a_retransmission_that_was_dropped_is_none_of_the_others(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_retransmit, 9010, 0);
	struct core c;

	(void)unused;
	both(&c, ALL_HOOKS);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	ev_packet(&c, 9000, 0, MG_EVENT_ip_out, A, 1000, 500);
	e.tcp_retransmit = (struct mg_tcp_retransmit){
		.sock = A, .seq = 1000, .len = 500, .segs = 1, .err = -EPERM};
	feed(&c, &e);
	assert_sent(&c, 500, 0);
	leave(&c, 20000, 1000, 500);
	ev_retransmit(&c, 20010, A, 1000, 500);
	assert_sent(&c, 1000, 0);
	feed_end(&c);
}

static void retransmission_refused_in_a_queue_does_not_count(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_retransmit, 9010, 0);
	struct core c;

	(void)unused;
	both(&c, ALL_HOOKS);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	e.tcp_retransmit = (struct mg_tcp_retransmit){
		.sock = A, .seq = 1000, .len = 500, .segs = 1, .err = -EBUSY};
	feed(&c, &e);
	assert_sent(&c, 0, 0);
	feed_end(&c);
}

/* Sends at 1000 and again at 9000; the receiver gets one copy, at `arrives`. */
static void sent_twice(struct core *c, const char *hooks, uint64_t arrives)
{
	both(c, hooks);
	feed_send(c, SENDER, A, 1000, 500, 1000, 1);
	feed_send(c, SENDER, A, 1500, 500, 1100, 1);
	if (arrives < 9000)
		feed_segment(c, B, 1000, 500, arrives, 1);
	leave(c, 9000, 1000, 500);
	ev_retransmit(c, 9010, A, 1000, 500);
	if (arrives >= 9000)
		feed_segment(c, B, 1000, 500, arrives, 1);
	feed_segment(c, B, 1500, 500, 9500, 1);
	feed_recv(c, RECEIVER, B, 1000, 1000, 9900, 1); /* U1 9904 */
}

/* Which copy arrived is not known (Karn & Partridge): the time from call to call is. */
static void the_way_of_a_byte_sent_twice_is_not_known(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	sent_twice(&c, ALL_HOOKS, 9400);
	f = rx_of(&c, B);
	assert_int_equal(f->copies.transit_ambiguous, 500);
	assert_int_equal(f->copies.ambiguous, 0); /* it came once */
	assert_int_equal(measures_in(f)->transit.weight, 500);
	assert_true(measures_in(f)->transit.sum == (9500 - 1106) * 500);
	assert_true(measures_in(f)->shift.sum == (8904 + 8804) * 500);
	feed_end(&c);
}

/* Bytes that arrived before the second copy left were of the first. */
static void arrival_before_the_second_copy_is_the_first(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	sent_twice(&c, ALL_HOOKS, 8000);
	f = rx_of(&c, B);
	assert_int_equal(f->copies.transit_ambiguous, 0);
	assert_true(measures_in(f)->transit.sum == (8000 - 1006 + 9500 - 1106) * 500);
	feed_end(&c);
}

static void without_the_ip_layer_tcps_event_tells(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	sent_twice(
		&c, "sys_enter,sys_exit,tcp_send,dev_xmit,tcp_retransmit,dev_recv,tcp_ready", 9400);
	f = rx_of(&c, B);
	assert_int_equal(f->copies.transit_ambiguous, 500);
	assert_int_equal(measures_in(f)->transit.weight, 500);
	feed_end(&c);
}

/* Two copies reach the device; the first is dropped there, or the second comes too late. */
static void arrives_twice(struct core *c, bool first_is_dropped)
{
	both(c, ALL_HOOKS);
	ev_packet(c, 2000, 0, MG_EVENT_dev_recv, B, 1000, 500);
	if (!first_is_dropped) {
		ev_packet(c, 2001, 0, MG_EVENT_ip_in, B, 1000, 500);
		ev_tcp(c, 2002, B, 1000, 500);
		ev_ready(c, 2003, B, 1500);
	}
	feed_segment(c, B, 1000, 500, 7000, 1);
	feed_segment(c, B, 1500, 500, 7100, 1);
	feed_recv(c, RECEIVER, B, 1000, 1000, 9000, 1);
}

static void bytes_received_twice_before_they_are_readable_have_no_stages(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	arrives_twice(&c, true);
	f = rx_of(&c, B);
	assert_int_equal(f->complete, 1000);
	assert_int_equal(f->copies.ambiguous, 500);
	assert_int_equal(measures_in(f)->residence.weight, 500);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 500);
	feed_end(&c);
}

static void a_duplicate_of_what_was_readable_changes_nothing(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	arrives_twice(&c, false);
	f = rx_of(&c, B);
	assert_int_equal(f->copies.ambiguous, 0);
	assert_int_equal(measures_in(f)->residence.weight, 1000);
	assert_int_equal(measures_in(f)->units[RX_DEV].again, 500);
	feed_end(&c);
}

/* Nothing is kept for ever for a connection whose other end is elsewhere. */
static void memory_of_copies_is_bounded(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, A, 999, 4999);
	for (uint32_t i = 0; i < 20000; i++) {
		feed_send(&c, SENDER, A, 1000 + i * 200, 100, 10000 + i * 100, 1);
		feed_send(&c, SENDER, A, 1100 + i * 200, 100, 10020 + i * 100, 1);
		leave(&c, 10050 + i * 100, 1000 + i * 200, 100);
	}
	assert_true(sent(&c)->again.len <= 2000);
	assert_true(tx_of(&c, A)->paired.call.len <= 2000);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcps_own_retransmission_is_reported_by_tcp),
		cmocka_unit_test(local_drop_is_resent_not_retransmitted),
		cmocka_unit_test(a_retransmission_that_was_dropped_is_none_of_the_others),
		cmocka_unit_test(retransmission_refused_in_a_queue_does_not_count),
		cmocka_unit_test(the_way_of_a_byte_sent_twice_is_not_known),
		cmocka_unit_test(arrival_before_the_second_copy_is_the_first),
		cmocka_unit_test(without_the_ip_layer_tcps_event_tells),
		cmocka_unit_test(bytes_received_twice_before_they_are_readable_have_no_stages),
		cmocka_unit_test(a_duplicate_of_what_was_readable_changes_nothing),
		cmocka_unit_test(memory_of_copies_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
