/* SPDX-License-Identifier: MIT */
/* Losses of all connections and of groups: in JSON, and in the text's head. */
#include <stdlib.h>

#include "feed.h"
#include "report.h"
#include "reported.h"
#include "table.h"

#define TID   10
#define UDP   ((1ull << 62) + 7)
#define HOOKS ALL_HOOKS ",drop,tcp_reset sent,tcp_reset received"

static void ev_drop(struct core *c, uint64_t sock, bool rx, const char *reason,
	const char *location, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_drop, 50000, 0);

	e.drop = (struct mg_drop){.sock = sock, .len = len, .segs = 1, .proto = 6, .rx = rx};
	memcpy(e.drop.reason, reason, strnlen(reason, sizeof(e.drop.reason)));
	memcpy(e.drop.location, location, strnlen(location, sizeof(e.drop.location)));
	feed(c, &e);
}

static void ev_timeout(struct core *c, uint64_t sock, uint16_t count)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_timeout, 50000, 0);

	e.tcp_timeout = (struct mg_tcp_timeout){.sock = sock, .count = count};
	feed(c, &e);
}

static void ev_reset(struct core *c, uint64_t sock, bool sent)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_reset, 50000, 0);

	e.tcp_reset = (struct mg_tcp_reset){.sock = sock, .sent = sent};
	feed(c, &e);
}

static void ev_listen(struct core *c, uint32_t drops)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_listen, 50000, 0);

	e.tcp_listen = (struct mg_tcp_listen){.drops = drops, .lport = 80};
	feed(c, &e);
}

/* Records three connections, two of them with losses, one that never opens, and a UDP socket. */
static void record(struct core *c, const char *hooks)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 20, 0);

	feed_begin(c, hooks);
	ev_fork(c, 1, 1, TID, "sender");
	for (uint64_t sock = 1; sock <= 3; sock++) {
		ev_opened(c, 10, sock, 999, 4999);
		feed_send(c, TID, sock, 1000, 300, 10000 * sock, 100);
	}
	e.sock_state = (struct mg_sock_state){.sock = 4, .now = 2, .rport = 80, .family = 2};
	feed(c, &e);
	e = feed_event(MG_EVENT_sock_new, 30, 0);
	e.sock_new =
		(struct mg_sock_new){.sock = UDP, .lport = 53, .family = 2, .kind = MG_KIND_udp};
	feed(c, &e);
}

static void lose(struct core *c)
{
	ev_packet(c, 50300, 0, MG_EVENT_ip_out, 1, 1000, 300); /* first sent at 10300 */
	ev_retransmit(c, 50400, 1, 1000, 300);
	ev_timeout(c, 1, 2);
	ev_drop(c, 1, false, "QDISC_DROP", "__dev_queue_xmit", 300);
	ev_drop(c, 2, false, "QDISC_DROP", "__dev_queue_xmit", 300);
	ev_drop(c, 3, true, "NOT_SPECIFIED", "tcp_v4_rcv", 0); /* came when everything was over */
	ev_retransmit(c, 50400, 4, 0, 0);
	ev_reset(c, 4, false);
	ev_listen(c, 5);
	ev_listen(c, 2);
	ev_drop(c, UDP, true, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", 100);
}

static void losses_are_counted_over_all_connections(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	record(&c, HOOKS);
	lose(&c);
	j = reported(&c);
	assert_number_at(j, "losses.connections", 4);
	assert_number_at(j, "losses.connections_hit", 3);
	assert_number_at(j, "losses.sockets", 1);
	assert_number_at(j, "losses.sockets_hit", 1);
	assert_number_at(j, "losses.retransmits", 2);
	assert_number_at(j, "losses.retransmitted_bytes", 300);
	assert_number_at(j, "losses.resent_wait_ns.mean", 40000);
	assert_number_at(j, "losses.syn_retries", 1);
	assert_number_at(j, "losses.timeouts", 2);
	assert_number_at(j, "losses.listen_drops", 7);
	assert_number_at(j, "losses.resets_sent", 0);
	assert_number_at(j, "losses.resets_received", 1);
	assert_number_at(j, "losses.dropped", 3);
	assert_int_equal(json_array_size(at(j, "losses.drops")), 3);
	assert_string_equal(json_string_value(at(j, "losses.drops.0.reason")), "QDISC_DROP");
	assert_string_equal(json_string_value(at(j, "losses.drops.0.layer")), "qdisc");
	assert_number_at(j, "losses.drops.0.segments", 2);
	assert_number_at(j, "losses.drops.1.discarded", 1); /* NOT_SPECIFIED: TCP's own doing */
	assert_true(json_is_false(at(j, "losses.at_least")));
	json_decref(j);
}

static void unobserved_losses_are_null(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	record(&c, "sys_enter,sys_exit");
	j = reported(&c);
	assert_null_at(j, "losses.retransmits");
	assert_null_at(j, "losses.timeouts");
	assert_null_at(j, "losses.resets_sent");
	assert_null_at(j, "losses.dropped");
	assert_null_at(j, "losses.drops");
	json_decref(j);
}

static void with_lost_events_there_may_be_more(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	record(&c, HOOKS);
	ev_retransmit(&c, 50400, 1, 1000, 300);
	ev_lost(&c, 60000, 5, 55000, 60000);
	j = reported(&c);
	assert_number_at(j, "losses.retransmits", 1);
	assert_null_at(j, "losses.timeouts"); /* none was seen */
	assert_true(json_is_true(at(j, "losses.at_least")));
	json_decref(j);
}

static void groups_have_the_losses_of_their_flows(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	record(&c, HOOKS);
	lose(&c);
	j = reported(&c);
	assert_number_at(j, "together.0.flows", 3);
	assert_number_at(j, "together.0.retransmits", 1);
	assert_number_at(j, "together.0.retransmitted_bytes", 300);
	assert_number_at(j, "together.0.resent_wait_ns.mean", 40000);
	assert_number_at(j, "together.0.tcp.timeouts", 2);
	assert_int_equal(json_array_size(at(j, "together.0.drops")), 1);
	assert_number_at(j, "together.0.drops.0.segments", 2);
	json_decref(j);
}

static void ev_synack(struct core *c, uint64_t request, uint32_t seq)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_retransmit, 60000, 0);

	e.tcp_retransmit = (struct mg_tcp_retransmit){
		.sock = MG_REQUEST_ID | request, .seq = seq, .segs = 1, .syn_ack = 1};
	feed(c, &e);
}

/* Repeats two SYN-ACKs of a connection that is accepted later, and one of a request that is not. */
static void send_synacks_again(struct core *c)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 61000, 0);

	record(c, HOOKS ",tcp_retransmit synack");
	ev_synack(c, 70, 8999);
	ev_synack(c, 80, 77);
	ev_synack(c, 70, 8999);
	e.sock_state = (struct mg_sock_state){.sock = 9,
		.write_seq = 9000,
		.snd_una = 9000,
		.rcv_nxt = 5000,
		.copied_seq = 5000,
		.old = 3, /* SYN_RECV */
		.now = 1, /* ESTABLISHED */
		.family = 2,
		.opener = 2};
	feed(c, &e);
	feed_send(c, TID, 9, 9000, 100, 70000, 100);
}

static void synacks_sent_again_are_of_the_connection_they_open(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	send_synacks_again(&c);
	assert_int_equal(tx_of(&c, 9)->retried.synack, 2);
	assert_int_equal(tx_of(&c, 9)->retried.segments, 0);
	j = reported(&c);
	assert_number_at(j, "losses.syn_ack_retries", 3);
	assert_number_at(j, "losses.retransmits", 3);
	assert_number_at(j, "losses.syn_retries", 0);
	assert_number_at(j, "losses.connections_hit", 1);
	json_decref(j);
	record(&c, HOOKS); /* a recording without their hook */
	j = reported(&c);
	assert_null_at(j, "losses.syn_ack_retries");
	assert_null_at(j, "flows.0.syn_ack_retries");
	json_decref(j);
}

static void assert_text(struct core *c, bool losses, const char *expected)
{
	struct report r;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	core_finish(c);
	text_set_unicode(true);
	assert_int_equal(report_init(&r, c, NULL, "a trace"), 0);
	r.detail.all = true;
	if (losses)
		text_losses(&r, f, false);
	else
		report_text(&r, f, NULL, false);
	fclose(f);
	if (losses)
		assert_string_equal(text, expected);
	else if (!strstr(text, expected))
		fail_msg("no \"%s\" in:\n%s", expected, text);
	free(text);
	report_free(&r);
	feed_end(c);
}

static void the_head_names_them(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	lose(&c);
	assert_text(&c, true,
		"Losses, most at a full listen queue, 3 of 4 connections, 1 of 1 other socket "
		"hit:\n"
		"  1 segment retransmitted (300 B); their bytes waited 40.0 µs on average;\n"
		"  3 packets dropped: 2 sent, at qdisc (QDISC_DROP in __dev_queue_xmit),\n"
		"  1 received, at socket: the receive buffer was full (SOCKET_RCVBUFF in "
		"udp_queue_rcv_one_skb);\n"
		"  2 retransmission timeouts; 1 SYN retransmitted;\n"
		"  7 packets dropped by listening sockets, whose queues were full; 1 reset "
		"received\n");
}

static void without_losses_it_says_nothing(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	ev_drop(&c, 3, true, "NOT_SPECIFIED", "tcp_v4_rcv", 0);
	assert_text(&c, true, "");
	record(&c, HOOKS);
	ev_drop(&c, 1, false, "NOT_SPECIFIED", "tcp_v4_rcv", 0);
	ev_drop(&c, 1, false, "NOT_SPECIFIED", "tcp_v4_rcv", 300);
	assert_text(&c, false,
		"  dropped: 1 (300 B): NOT_SPECIFIED in tcp_v4_rcv (tcp)\n"
		"  discarded by TCP, no loss: 1 segment without payload: NOT_SPECIFIED in "
		"tcp_v4_rcv (tcp)\n");
}

/* A SYN to a port on which nobody listens is answered by a reset: no data are lost. */
static void a_refused_connection_is_no_loss(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	ev_drop(&c, 1, false, "NO_SOCKET", "tcp_v4_rcv", 0);
	ev_reset(&c, 1, false);
	assert_text(&c, true,
		"Connections refused or reset, 1 of 4 connections hit:\n"
		"  1 packet found no socket: nobody listened on the port, or it was closed; 1 "
		"reset received\n");
	record(&c, HOOKS);
	ev_drop(&c, 1, false, "NO_SOCKET", "tcp_v4_rcv", 0);
	ev_drop(&c, 1, false, "QDISC_DROP", "__dev_queue_xmit", 300);
	assert_text(&c, true,
		"Packets dropped, 1 of 4 connections hit:\n"
		"  1 packet dropped: 1 sent, at qdisc (QDISC_DROP in __dev_queue_xmit);\n"
		"  1 packet found no socket: nobody listened on the port, or it was closed\n");
}

/* Segments that are sent again needlessly arrive twice: nothing was lost. */
static void copies_of_data_that_arrived_are_no_loss(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	ev_drop(&c, 1, false, "TCP_OLD_DATA", "tcp_data_queue", 300);
	assert_text(&c, true,
		"Segments that arrived twice, 1 of 4 connections hit:\n"
		"  1 packet dropped: 1 received, at tcp (TCP_OLD_DATA in tcp_data_queue)\n");
}

static void losses_are_shown_below_a_groups_waterfall(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	lose(&c);
	assert_text(&c, false,
		"  segments retransmitted: 1 (300 B)\n"
		"  retransmitted bytes waited from the first copy to the last: mean 40.0 µs, max "
		"40.0 µs; not in the stages\n"
		"  timeouts: 2\n"
		"  dropped: 2 (600 B): QDISC_DROP in __dev_queue_xmit (qdisc)\n");
}

static void the_head_names_synacks(void **unused)
{
	struct core c;

	(void)unused;
	send_synacks_again(&c);
	assert_text(&c, true,
		"Losses on the network, 1 of 5 connections hit:\n"
		"  3 SYN-ACKs retransmitted\n");
}

/*
 * The first copy of 50 bytes never reaches the device, and the second is not acknowledged either.
 */
static void a_group_s_bytes_without_a_layer_were_sent_again(void **unused)
{
	struct core c;

	(void)unused;
	record(&c, HOOKS);
	ev_enter(&c, 40100, TID, 1, MG_SYS_sendto, 1300);
	ev_send(&c, 40200, TID, 1, 1300, 50, 1300);
	ev_packet(&c, 40300, TID, MG_EVENT_ip_out, 1, 1300, 50);
	ev_exit(&c, 40800, TID, 1, MG_SYS_sendto, 1350, 50);
	ev_app(&c, TID, MG_FN_send, 40000, 40900, 50);
	ev_packet(&c, 50300, 0, MG_EVENT_ip_out, 1, 1300, 50);
	ev_retransmit(&c, 50400, 1, 1300, 50);
	feed_send(&c, TID, 1, 1350, 10, 60000, 100);
	assert_text(&c, false,
		"  * bytes without a timestamp at some layer are left out: most of them were "
		"retransmitted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_counted_over_all_connections),
		cmocka_unit_test(unobserved_losses_are_null),
		cmocka_unit_test(with_lost_events_there_may_be_more),
		cmocka_unit_test(groups_have_the_losses_of_their_flows),
		cmocka_unit_test(the_head_names_them),
		cmocka_unit_test(without_losses_it_says_nothing),
		cmocka_unit_test(synacks_sent_again_are_of_the_connection_they_open),
		cmocka_unit_test(the_head_names_synacks),
		cmocka_unit_test(a_group_s_bytes_without_a_layer_were_sent_again),
		cmocka_unit_test(a_refused_connection_is_no_loss),
		cmocka_unit_test(copies_of_data_that_arrived_are_no_loss),
		cmocka_unit_test(losses_are_shown_below_a_groups_waterfall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
