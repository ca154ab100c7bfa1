/* SPDX-License-Identifier: MIT */
/* Causes of waits in the send buffer: the windows, from TCP's events. */
#include "why_scenes.h"

/* Ten segments are in flight and ten are allowed; an acknowledgement of two lets two more go. */
static void the_congestion_window_is_full(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 12 * MSS, 10 * MSS);
	ack(&c, 5000, 1000, 100000, 10);
	out(&c, 5100, IN(NET_RX), 1000 + 10 * MSS, MSS);
	out(&c, 5100, IN(NET_RX), 1000 + 11 * MSS, MSS);
	acknowledged(&c, 1000 + 12 * MSS);
	assert_row(&c, WHY_CWND, RELEASE_ACK, 2 * MSS, 4000);
	feed_end(&c);
}

/* The peer offers three segments, of which two are in flight: a segment of two more is too long. */
static void the_peers_window_is_full(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 4 * MSS, 2 * MSS);
	ack(&c, 5000, 1000, 3 * MSS, 10);
	out(&c, 5100, IN(NET_RX), 1000 + 2 * MSS, 2 * MSS);
	acknowledged(&c, 1000 + 4 * MSS);
	assert_row(&c, WHY_WINDOW, RELEASE_ACK, 2 * MSS, 4000);
	feed_end(&c);
}

/* When the call releases the socket, it processes the backlog. */
static void an_acknowledgement_may_be_processed_in_a_call(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	enter(&c, 1000, MG_SYS_sendto, 1000, 0, NODELAY);
	copy(&c, 1100, 1000, 12 * MSS, 1000);
	out_on(&c, 1200, TID, THREAD, 1000, 10 * MSS, 10);
	ack_on(&c, 5000, TID, 1000, 100000, 10);
	out_on(&c, 5100, TID, THREAD, 1000 + 10 * MSS, 2 * MSS, 2);
	leave(&c, 5200, MG_SYS_sendto, 1000 + 12 * MSS, 12 * MSS);
	acknowledged(&c, 1000 + 12 * MSS);
	assert_row(&c, WHY_CWND, RELEASE_ACK, 2 * MSS, 4000);
	assert_row(&c, WHY_IMMEDIATE, RELEASE_OWN_CALL, 10 * MSS, 100);
	feed_end(&c);
}

/* The windows before a segment are known in established connections only. */
static void without_tcps_word_on_a_segment_no_window_is_blamed(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 3 * MSS, 1000, 0, NODELAY);
	ack(&c, 3000, 1000, 0, 10);
	ev_packet(&c, 5000, 0, MG_EVENT_ip_in, SOCK, 5000, 0);
	out(&c, 5100, IN(NET_RX), 1000, 3 * MSS);
	acknowledged(&c, 1000 + 3 * MSS);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 3 * MSS, 4000);
	feed_end(&c);
}

static void room(
	struct core *c, uint64_t t, uint32_t una, uint32_t window, uint32_t cwnd, uint32_t out)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_room, t, 0);

	e.tcp_room = (struct mg_tcp_room){SOCK, una, window, cwnd, out};
	feed(c, &e);
}

/*
 * There the windows are recorded as segments leave: the next segment waits for what the last one
 * left.
 */
static void windows_are_recorded_as_segments_leave_after_a_close(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_only(&c, 1000, 1000, 7 * MSS, 1000, 0, NODELAY);
	ev_shut(&c, 2000, SOCK, 1000 + 7 * MSS);
	ev_packet(&c, 3000, 0, MG_EVENT_ip_in, SOCK, 5000, 0);
	out(&c, 3100, IN(NET_RX), 1000, 2 * MSS);
	room(&c, 3101, 1000, 100000, 2, 0);
	ev_packet(&c, 5000, 0, MG_EVENT_ip_in, SOCK, 5000, 0);
	out(&c, 5100, IN(NET_RX), 1000 + 2 * MSS, MSS);
	room(&c, 5101, 1000 + 2 * MSS, 100000, 4, 0);
	out(&c, 5100, IN(NET_RX), 1000 + 3 * MSS, 2 * MSS);
	room(&c, 5101, 1000 + 2 * MSS, 3 * MSS, 4, 1);
	ev_packet(&c, 7000, 0, MG_EVENT_ip_in, SOCK, 5000, 0);
	out(&c, 7100, IN(NET_RX), 1000 + 5 * MSS, 2 * MSS);
	acknowledged(&c, 1000 + 7 * MSS);
	assert_row(&c, WHY_NOT_KNOWN, RELEASE_ACK, 2 * MSS, 2000); /* nothing had been recorded */
	assert_row(&c, WHY_CWND, RELEASE_ACK, 3 * MSS, 4000);
	assert_row(&c, WHY_WINDOW, RELEASE_ACK, 2 * MSS, 6000);
	feed_end(&c);
}

/*
 * The same at the close: what was sent until then is in flight. A thread that writes the
 * acknowledgement to a tun device processes it.
 */
static void windows_are_recorded_when_an_end_closes(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 12 * MSS, 10 * MSS);
	ack(&c, 5000, 1000, 100000, 10);
	out(&c, 5100, IN(NET_RX), 1000 + 10 * MSS, MSS);
	ev_shut(&c, 6000, SOCK, 1000 + 12 * MSS);
	room(&c, 6001, 1000 + MSS, 10 * MSS, 11, 10);
	ev_packet(&c, 7000, OTHER, MG_EVENT_ip_in, SOCK, 5000, 0);
	out_on(&c, 7100, OTHER, THREAD, 1000 + 11 * MSS, MSS, 1);
	acknowledged(&c, 1000 + 12 * MSS);
	assert_row(&c, WHY_CWND, RELEASE_ACK, MSS, 4000);
	assert_row(&c, WHY_WINDOW, RELEASE_ACK, MSS, 6000);
	feed_end(&c);
}

/* The same when a call writes: nothing changes until the next segment comes. */
static void windows_are_recorded_by_calls_too_after_a_close(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	write_and_send(&c, 100, 100);
	for (uint32_t i = 1; i < 4; i++)
		write_only(&c, 1000 + 1000 * i, 1000 + 100 * i, 100, 1000, 0, 0);
	ev_packet(&c, 5000, 0, MG_EVENT_ip_in, SOCK, 5000, 0);
	out(&c, 5100, IN(NET_RX), 1100, 300);
	acknowledged(&c, 1400);
	assert_row(&c, WHY_NAGLE, RELEASE_ACK, 300, 2000);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_congestion_window_is_full),
		cmocka_unit_test(the_peers_window_is_full),
		cmocka_unit_test(an_acknowledgement_may_be_processed_in_a_call),
		cmocka_unit_test(without_tcps_word_on_a_segment_no_window_is_blamed),
		cmocka_unit_test(windows_are_recorded_as_segments_leave_after_a_close),
		cmocka_unit_test(windows_are_recorded_when_an_end_closes),
		cmocka_unit_test(windows_are_recorded_by_calls_too_after_a_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
