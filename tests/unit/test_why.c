/* SPDX-License-Identifier: MIT */
/* Causes of waits in the send buffer: each label by the events it follows from. */
#include "why_scenes.h"

static void range_sent_by_its_own_call_has_no_wait(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, 0);
	copy(&c, 1100, 1000, 500, 1000);
	out_on(&c, 1150, TID, THREAD, 1000, 500, 1);
	leave(&c, 1200, MG_SYS_sendto, 1500, 500);
	acknowledged(&c, 1500);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, 500, 50);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->why->rows, 1);
	feed_end(&c);
}

/* The cause of the wait after that is not known. */
static void a_call_that_slept_in_between_had_a_reason(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, 0);
	copy(&c, 1100, 1000, 500, 1000);
	ev_switch(&c, 1200, 0, TID, SLEEPING, 0);
	ev_waking(&c, 1300, TID);
	ev_switch(&c, 1400, 0, 0, RUNNABLE, TID);
	out_on(&c, 1500, TID, THREAD, 1000, 500, 1);
	leave(&c, 1600, MG_SYS_sendto, 1500, 500);
	acknowledged(&c, 1500);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_OWN_CALL, 500, 400);
	feed_end(&c);
}

/* The first small segment is out and not acknowledged; the second has to wait. */
static void nagle(struct core *c, uint8_t set)
{
	open_core(c);
	enter(c, 1000, MG_SYS_sendto, 1000, 0, set);
	copy(c, 1100, 1000, 100, 1000);
	out_on(c, 1150, TID, THREAD, 1000, 100, 1);
	leave(c, 1200, MG_SYS_sendto, 1100, 100);
	write_only(c, 2000, 1100, 100, 1000, 0, set);
	ack(c, 42000, 1000, 100000, 10);
	out(c, 42100, IN(NET_RX), 1100, 100);
	acknowledged(c, 1200);
}

static void a_small_segment_waits_for_the_acknowledgement_of_another(void **unused)
{
	struct core c;

	(void)unused;
	nagle(&c, 0);
	assert_row(&c, WHY_NAGLE, RELEASE_ACK, 100, 40000);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, 100, 50);
	feed_end(&c);
}

static void not_so_with_nodelay(void **unused)
{
	struct core c;

	(void)unused;
	nagle(&c, NODELAY);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 100, 40000);
	feed_end(&c);
}

/* Minshall: a full segment does not keep a small one waiting. */
static void a_full_segment_does_not_hold_a_small_one(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, 0);
	copy(&c, 1100, 1000, MSS, 1000);
	out_on(&c, 1150, TID, THREAD, 1000, MSS, 1);
	leave(&c, 1200, MG_SYS_sendto, 1000 + MSS, MSS);
	write_only(&c, 2000, 1000 + MSS, 100, 1000, 0, 0);
	ack(&c, 3000, 1000, 100000, 10);
	out(&c, 3100, IN(NET_RX), 1000 + MSS, 100);
	acknowledged(&c, 1100 + MSS);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 100, 1000);
	feed_end(&c);
}

static void a_corked_segment_leaves_by_a_timer(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, MORE, NODELAY);
	out(&c, 201100, IN(TIMER), 1000, 100);
	acknowledged(&c, 1100);
	assert_row(&c, WHY_CORK, RELEASE_TIMER, 100, 200000);
	feed_end(&c);
}

static void corked_bytes_leave_when_the_cork_is_removed(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, 0, CORK);
	enter(&c, 3000, MG_SYS_setsockopt, 1100, 0, CORK);
	out_on(&c, 3100, TID, THREAD, 1000, 100, 1);
	leave(&c, 3200, MG_SYS_setsockopt, 1100, 0);
	acknowledged(&c, 1100);
	assert_row(&c, WHY_CORK, RELEASE_LATER_CALL, 100, 2000);
	feed_end(&c);
}

/* The second call sends the bytes of both: the first call's setting held the first's bytes. */
static void corked_bytes_leave_with_the_next_call(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, MORE, 0);
	enter(&c, 3000, MG_SYS_sendto, 1100, 0, 0);
	copy(&c, 3100, 1100, 100, 1000);
	out_on(&c, 3200, TID, THREAD, 1000, 200, 1);
	leave(&c, 3300, MG_SYS_sendto, 1200, 100);
	acknowledged(&c, 1200);
	assert_row(&c, WHY_CORK, RELEASE_LATER_CALL, 100, 2100);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, 100, 100);
	feed_end(&c);
}

/* Bytes of two threads may be interleaved. */
static void each_byte_has_the_reason_of_its_call(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, MORE, 0);
	enter(&c, 3000, MG_SYS_sendto, 1100, 0, 0);
	copy(&c, 3100, 1100, 300, 1000); /* 100 of its bytes, then 50 of another's */
	copy(&c, 3150, 1250, 200, 1000); /* then the rest */
	out_on(&c, 3200, TID, THREAD, 1000, 450, 1);
	leave(&c, 3300, MG_SYS_sendto, 1450, 300);
	assert_int_equal(tx_of(&c, SOCK)->why->label.len, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(RELEASE_OF(ranges_at(&tx_of(&c, SOCK)->why->label, i)->t),
			i % 2 ? RELEASE_OWN_CALL : RELEASE_LATER_CALL);
	feed_end(&c);
}

static void a_timer_of_its_own_paces(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 2 * MSS, 1000, 0, 0);
	out(&c, 3100, IN(HRTIMER), 1000, 2 * MSS);
	acknowledged(&c, 1000 + 2 * MSS);
	assert_row(&c, WHY_PACING, RELEASE_PACER, 2 * MSS, 2000);
	feed_end(&c);
}

static void device_completion_releases_the_next(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 2 * MSS + 10, 1000, 0, NODELAY);
	out(&c, 3100, IN(TASKLET), 1000, 2 * MSS);
	out(&c, 3100, IN(TASKLET), 1000 + 2 * MSS, 10); /* behind those, not corked */
	write_only(&c, 4000, 1010 + 2 * MSS, 20, 1000, 0, NODELAY);
	out(&c, 7100, IN(TASKLET), 1010 + 2 * MSS, 20);
	acknowledged(&c, 1030 + 2 * MSS);
	assert_row(&c, WHY_TSQ, RELEASE_TX_DONE, 2 * MSS + 10, 2000);
	assert_row(&c, WHY_AUTOCORK, RELEASE_TX_DONE, 20, 3000);
	feed_end(&c);
}

/* The acknowledgement of a segment is processed before the release that its departure causes. */
static void an_acknowledgement_may_come_before_the_devices_word(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, HOOKS ",dev_xmit");
	ev_opened(&c, 10, SOCK, 999, 4999);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, NODELAY);
	copy(&c, 1100, 1000, 3 * MSS, 1000);
	out_on(&c, 1200, TID, THREAD, 1000, MSS, 1);
	out_on(&c, 1200, TID, THREAD, 1000 + MSS, MSS, 1);
	leave(&c, 1300, MG_SYS_sendto, 1000 + 3 * MSS, 3 * MSS);
	ev_packet(&c, 5000, 0, MG_EVENT_dev_xmit, SOCK, 1000, MSS);
	ack(&c, 5050, 1000, 100000, 10);
	out(&c, 5100, IN(NET_RX), 1000 + 2 * MSS, MSS);
	write_only(&c, 5200, 1000 + 3 * MSS, 10, 1000, 0, NODELAY);
	ack(&c, 6050, 1000, 100000, 10);
	out(&c, 6300, IN(NET_RX), 1000 + 3 * MSS, 10);
	ev_packet(&c, 7000, 0, MG_EVENT_dev_xmit, SOCK, 1000 + MSS, 2 * MSS + 10);
	acknowledged(&c, 1010 + 3 * MSS);
	assert_row(&c, WHY_TSQ, RELEASE_ACK, MSS, 4000);
	assert_row(&c, WHY_AUTOCORK, RELEASE_ACK, 10, 1000);
	feed_end(&c);
}

/* All of the queue has left, and the kernel has not yet told TCP. */
static void an_acknowledgement_may_come_as_the_queue_is_empty(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, HOOKS ",dev_xmit");
	ev_opened(&c, 10, SOCK, 999, 4999);
	write_and_send(&c, 3 * MSS, 2 * MSS);
	ev_packet(&c, 5000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 2 * MSS);
	ack(&c, 5050, 1000, 100000, 10);
	out(&c, 5100, IN(NET_RX), 1000 + 2 * MSS, MSS);
	ev_packet(&c, 5150, 0, MG_EVENT_dev_xmit, SOCK, 1000 + 2 * MSS, MSS);
	write_only(&c, 5200, 1000 + 3 * MSS, 10, 1000, 0, NODELAY); /* nothing lay before these */
	ack(&c, 6050, 1000, 100000, 10);
	out(&c, 6300, IN(NET_RX), 1000 + 3 * MSS, 10);
	ev_packet(&c, 7000, 0, MG_EVENT_dev_xmit, SOCK, 1000 + 3 * MSS, 10);
	acknowledged(&c, 1010 + 3 * MSS);
	assert_row(&c, WHY_TSQ, RELEASE_ACK, MSS, 4000);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 10, 1000);
	feed_end(&c);
}

static void cause_without_evidence_is_not_known(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, 0, 0);
	out(&c, 1600, IN(RCU), 1000, 50);
	out_on(&c, 2100, OTHER, THREAD, 1050, 50, 1);
	acknowledged(&c, 1100);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_NOT_KNOWN, 100, 750);
	feed_end(&c);
}

/* Softirqs on top of traced threads have events of their own. */
static void a_trace_without_contexts_has_those_of_traced_threads(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_softirq_entry, 1500, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, NODELAY);
	copy(&c, 1100, 1000, 4 * MSS, 1000);
	out_on(&c, 1200, TID, 0, 1000, 2 * MSS, 2);
	e.softirq.vec = HRTIMER;
	feed(&c, &e);
	out_on(&c, 1600, TID, 0, 1000 + 2 * MSS, 2 * MSS, 2);
	e = feed_event(MG_EVENT_softirq_exit, 1700, TID);
	feed(&c, &e);
	leave(&c, 1800, MG_SYS_sendto, 1000 + 4 * MSS, 4 * MSS);
	acknowledged(&c, 1000 + 4 * MSS);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, 2 * MSS, 100);
	assert_row(&c, WHY_PACING, RELEASE_PACER, 2 * MSS, 500);
	feed_end(&c);
}

/* A copy of bytes that have left does not change why they waited. */
static void the_first_time_counts(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, MSS, MSS);
	out(&c, 200000, IN(TIMER), 1000, MSS);
	acknowledged(&c, 1000 + MSS);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, MSS, 100);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->why->rows, 1);
	feed_end(&c);
}

/* Two segments in flight are in the flow's own memory, more in a ring. */
static void all_segments_in_flight_are_known(void **unused)
{
	struct core c;
	struct why *w;

	(void)unused;
	open_core(&c);
	for (uint32_t round = 0, seq = 1000, una = 1000; round < 60; round++) {
		for (uint32_t i = 0; i <= round % 20; i++, seq += 100) {
			uint64_t t = 100000 * (round + 1) + 1000 * i;

			ev_send(&c, t, TID, SOCK, seq, 100, una);
			ev_packet(&c, t + 10, TID, MG_EVENT_ip_out, SOCK, seq, 100);
		}
		w = tx_of(&c, SOCK)->why;
		assert_int_equal(w->len, (seq - una) / 100);
		assert_int_equal(w->segs_out, w->len);
		for (uint32_t i = 0; i < w->len; i++)
			assert_int_equal(
				why_in_flight(w, i)->end, una - 1000 + (uint64_t)100 * (i + 1));
		una = round % 3 ? seq : seq - 100; /* the last one stays in flight at times */
	}
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_sent_by_its_own_call_has_no_wait),
		cmocka_unit_test(a_call_that_slept_in_between_had_a_reason),
		cmocka_unit_test(a_small_segment_waits_for_the_acknowledgement_of_another),
		cmocka_unit_test(not_so_with_nodelay),
		cmocka_unit_test(a_full_segment_does_not_hold_a_small_one),
		cmocka_unit_test(a_corked_segment_leaves_by_a_timer),
		cmocka_unit_test(corked_bytes_leave_when_the_cork_is_removed),
		cmocka_unit_test(corked_bytes_leave_with_the_next_call),
		cmocka_unit_test(each_byte_has_the_reason_of_its_call),
		cmocka_unit_test(a_timer_of_its_own_paces),
		cmocka_unit_test(device_completion_releases_the_next),
		cmocka_unit_test(an_acknowledgement_may_come_before_the_devices_word),
		cmocka_unit_test(an_acknowledgement_may_come_as_the_queue_is_empty),
		cmocka_unit_test(cause_without_evidence_is_not_known),
		cmocka_unit_test(a_trace_without_contexts_has_those_of_traced_threads),
		cmocka_unit_test(the_first_time_counts),
		cmocka_unit_test(all_segments_in_flight_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
