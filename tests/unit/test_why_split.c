/* SPDX-License-Identifier: MIT */
/* The wait in the send buffer divided in time, at each change of what holds the queue. */
#include "why_scenes.h"

/* A reader that does not read until 5000, then pacing: not all of the wait was pacing. */
static void the_window_until_it_opens_then_pacing(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 4 * MSS, 2 * MSS);
	ack(&c, 2000, 1000, 2 * MSS, 10);
	ack(&c, 5000, 1000 + 2 * MSS, 0, 10);
	out(&c, 5400, IN(HRTIMER), 1000 + 2 * MSS, 2 * MSS);
	acknowledged(&c, 1000 + 4 * MSS);
	assert_row(&c, WHY_PACING, RELEASE_PACER, 2 * MSS, 4300);
	assert_held(&c, WHY_IMMEDIATE, 4 * MSS, 4 * MSS * 100, 100);
	assert_held(&c, WHY_WINDOW, 2 * MSS, 2 * MSS * 3800, 3800);
	assert_held(&c, WHY_PACING, 2 * MSS, 2 * MSS * 400, 400);
	feed_end(&c);
}

/* The cause that holds the first unsent byte holds those behind it, from when they were written. */
static void bytes_wait_for_what_holds_the_first(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_send, 3100, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 2 * MSS, MSS);
	enter(&c, 3000, MG_SYS_sendto, 1000 + 2 * MSS, 0, NODELAY);
	e.tcp_send = (struct mg_tcp_send){.sock = SOCK,
		.seq = 1000 + 2 * MSS,
		.left = MSS,
		.snd_una = 1000,
		.snd_nxt = 1000 + MSS,
		.snd_wnd = 100000,
		.cwnd = 10};
	feed(&c, &e);
	leave(&c, 3200, MG_SYS_sendto, 1000 + 3 * MSS, MSS);
	ack(&c, 4100, 1000, 100000, 1);
	out(&c, 4200, IN(NET_RX), 1000 + MSS, MSS);
	ack(&c, 6200, 1000 + MSS, 100000, 1);
	out(&c, 6300, IN(NET_RX), 1000 + 2 * MSS, MSS);
	acknowledged(&c, 1000 + 3 * MSS);
	assert_held(&c, WHY_IMMEDIATE, 2 * MSS, 2 * MSS * 100, 100);
	/*
	 * when the second call wrote, the window was large: what held the bytes until then is not
	 * known
	 */
	assert_held(&c, WHY_NOT_KNOWN, MSS, MSS * 1900, 1900);
	assert_held(&c, WHY_CWND, 2 * MSS, MSS * (4200 - 3100) + MSS * (6300 - 3100), 3200);
	feed_end(&c);
}

/* No event says what held it before the next segment: only that time is unknown. */
static void cause_is_unknown_only_while_events_are_lost(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 2 * MSS, MSS);
	ack(&c, 2000, 1000, MSS, 10);
	ev_lost(&c, 2500, 3, 2100, 2500);
	ack(&c, 3000, 1000, MSS, 10);
	ack(&c, 4000, 1000, MSS, 10);
	out(&c, 4100, IN(NET_RX), 1000 + MSS, MSS);
	acknowledged(&c, 1000 + 2 * MSS);
	assert_held(&c, WHY_WINDOW, MSS, MSS * (800 + 1100), 1900);
	assert_held(&c, WHY_NOT_KNOWN, MSS, MSS * 1000, 1000);
	feed_end(&c);
}

/* A timeout reduces the congestion window: it did not hold the earlier bytes before. */
static void a_timeout_is_a_change(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_cong, 3000, 0);
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 3 * MSS, 2 * MSS);
	ack(&c, 2000, 1000, 2 * MSS, 10);
	e.tcp_cong = (struct mg_tcp_cong){.sock = SOCK,
		.snd_una = 1000,
		.snd_cwnd = 10,
		.packets_out = 2,
		.old = 0,
		.now = 4};
	feed(&c, &e);
	ack(&c, 4000, 1000, 100000, 1);
	out(&c, 4100, IN(NET_RX), 1000 + 2 * MSS, MSS);
	acknowledged(&c, 1000 + 3 * MSS);
	/* with lost segments in flight their number is not known without level full */
	assert_held(&c, WHY_NOT_KNOWN, MSS, MSS * (4100 - 2000), 2100);
	assert_held(&c, WHY_WINDOW, MSS, MSS * (2000 - 1200), 800);
	feed_end(&c);
}

static void sampled(struct core *c, uint64_t t, uint32_t out, uint16_t lost)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_state, t, 0);

	e.tcp_state = (struct mg_tcp_state){.sock = SOCK, .packets_out = out, .retrans_out = 1};
	feed(c, &e);
	e = feed_event(MG_EVENT_tcp_limits, t, 0);
	e.tcp_limits = (struct mg_tcp_limits){.sock = SOCK, .lost_out = lost};
	feed(c, &e);
}

/* At level full the number of segments in flight is TCP's own. */
static void samples_tell_what_is_in_flight(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_cong, 1500, 0);
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 6 * MSS, 5 * MSS);
	e.tcp_cong = (struct mg_tcp_cong){
		.sock = SOCK, .snd_una = 1000, .snd_cwnd = 5, .packets_out = 5, .old = 0, .now = 3};
	feed(&c, &e);
	ack(&c, 3000, 1000, 5 * MSS, 3);
	sampled(&c, 3001, 5, 5); /* 1 in flight, of 3: the peer's window holds */
	ack(&c, 4000, 1000, 100000, 3);
	sampled(&c, 4001, 5, 2); /* 4 in flight */
	out(&c, 4100, IN(NET_RX), 1000 + 5 * MSS, MSS);
	acknowledged(&c, 1000 + 6 * MSS);
	assert_held(&c, WHY_WINDOW, MSS, MSS * 1800, 1800);
	assert_held(&c, WHY_CWND, MSS, MSS * 1100, 1100);
	feed_end(&c);
}

static void a_call_takes_along_what_was_corked(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 100, 1000, 0, CORK);
	enter(&c, 3000, MG_SYS_setsockopt, 1100, 0, CORK);
	out_on(&c, 3100, TID, THREAD, 1000, 100, 1);
	leave(&c, 3200, MG_SYS_setsockopt, 1100, 0);
	acknowledged(&c, 1100);
	assert_held(&c, WHY_CORK, 100, 100 * 1900, 1900);
	assert_held(&c, WHY_IMMEDIATE, 100, 100 * 100, 100);
	feed_end(&c);
}

/* The first of two small ones is acknowledged at 3000, and then the device holds. */
static void after_nagle_the_device(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, 0);
	copy(&c, 1100, 1000, 100, 1000);
	out_on(&c, 1150, TID, THREAD, 1000, 100, 1);
	leave(&c, 1200, MG_SYS_sendto, 1100, 100);
	write_only(&c, 2000, 1100, 100, 1000, 0, 0);
	ack(&c, 3000, 1000, 100000, 10);
	out(&c, 3500, IN(TASKLET), 1100, 100);
	acknowledged(&c, 1200);
	assert_held(&c, WHY_NAGLE, 100, 100 * 900, 900);
	assert_held(&c, WHY_AUTOCORK, 100, 100 * 500, 500);
	feed_end(&c);
}

/* The window has room for less than a segment: a probe sends that much. */
static void a_probe_is_cut_off_where_the_window_ends(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 3 * MSS, MSS);
	ack(&c, 2000, 1000, MSS, 10);
	out(&c, 9000, IN(TIMER), 1000 + MSS, 300);
	ack(&c, 9500, 1000 + MSS, 300, 10);
	out(&c, 9600, IN(NET_RX), 1300 + MSS, 2 * MSS - 300);
	acknowledged(&c, 1000 + 3 * MSS);
	assert_held(&c, WHY_WINDOW, 2 * MSS, 300 * (9000 - 1200) + (2 * MSS - 300) * (9600 - 1200),
		9600 - 1200);
	feed_end(&c);
}

/* The same while a call waits for room in the send buffer, which has copied more than was sent. */
static void a_probe_is_cut_off_also_while_a_call_writes(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_send, 1600, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 3 * MSS, MSS);
	enter(&c, 1500, MG_SYS_sendto, 1000 + 3 * MSS, 0, 0);
	e.tcp_send = (struct mg_tcp_send){.sock = SOCK,
		.seq = 1000 + 3 * MSS,
		.left = MSS,
		.snd_una = 1000,
		.snd_nxt = 1000 + MSS,
		.snd_wnd = MSS + 300,
		.cwnd = 10};
	feed(&c, &e);
	out(&c, 9000, IN(TIMER), 1000 + MSS, 300);
	ack(&c, 9500, 1000 + MSS, 300, 10);
	out(&c, 9600, IN(NET_RX), 1300 + MSS, 2 * MSS - 300);
	leave(&c, 9700, MG_SYS_sendto, 1000 + 4 * MSS, MSS);
	ack(&c, 9800, 1000 + 3 * MSS, 100000, 10);
	out(&c, 9900, IN(NET_RX), 1000 + 3 * MSS, MSS);
	acknowledged(&c, 1000 + 4 * MSS);
	assert_row(&c, WHY_WINDOW, RELEASE_TIMER, 300, 9000 - 1100);
	feed_end(&c);
}

/* Where pacing has held before, and none of the kernel's other tests applies. */
static void an_acknowledgement_may_come_before_the_pacing_timer(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 4 * MSS, MSS);
	ack(&c, 2000, 1000, 100000, 10);
	out(&c, 3200, IN(HRTIMER), 1000 + MSS, MSS);
	ack(&c, 5000, 1000, 100000, 10);
	out(&c, 5200, IN(NET_RX), 1000 + 2 * MSS, 2 * MSS);
	acknowledged(&c, 1000 + 4 * MSS);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 2 * MSS, 4100);
	assert_held(&c, WHY_PACING, 3 * MSS, 2000 * MSS + 4000 * 2 * MSS, 4000);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->why->bytes[WHY_NOT_KNOWN], 0);
	feed_end(&c);
}

/* Once an end has closed TCP has no event for segments; their headers show a zero window. */
static void a_zero_window_after_a_close(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_ip_in, 2000, 0);
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 2 * MSS, MSS);
	ev_shut(&c, 1400, SOCK, 1000 + 2 * MSS);
	e.packet =
		(struct mg_packet){.sock = SOCK, .seq = 5000, .ack = 1000 + MSS, .zero_window = 1};
	feed(&c, &e);
	e.packet.zero_window = 0;
	e.time_ns = e.cycles = 6000;
	feed(&c, &e);
	out(&c, 6100, IN(NET_RX), 1000 + MSS, MSS);
	acknowledged(&c, 1000 + 2 * MSS);
	assert_held(&c, WHY_WINDOW, MSS, MSS * (6100 - 2000), 4100);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_until_it_opens_then_pacing),
		cmocka_unit_test(bytes_wait_for_what_holds_the_first),
		cmocka_unit_test(cause_is_unknown_only_while_events_are_lost),
		cmocka_unit_test(a_timeout_is_a_change),
		cmocka_unit_test(samples_tell_what_is_in_flight),
		cmocka_unit_test(a_call_takes_along_what_was_corked),
		cmocka_unit_test(after_nagle_the_device),
		cmocka_unit_test(a_probe_is_cut_off_where_the_window_ends),
		cmocka_unit_test(a_probe_is_cut_off_also_while_a_call_writes),
		cmocka_unit_test(an_acknowledgement_may_come_before_the_pacing_timer),
		cmocka_unit_test(a_zero_window_after_a_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
