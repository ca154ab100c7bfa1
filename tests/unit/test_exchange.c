/* SPDX-License-Identifier: MIT */
/* Requests and replies by the alternation of directions in calls. */
#include "event_table.h"
#include "exchange_scene.h"

static void reads_the_end(struct core *c, uint64_t at)
{
	ev_enter(c, at, THREAD, SERVER, MG_SYS_recvmsg, 0);
	ev_exit(c, at + 10, THREAD, SERVER, MG_SYS_recvmsg, 0, 0);
	ev_app(c, THREAD, MG_FN_recvmsg, at - 5, at + 15, 0);
}

static void a_server_works_from_the_read_of_the_last_byte_to_the_write_of_the_first(void **unused)
{
	const struct fact_exchange *f;
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	f = g.fact;
	accepted(&c, 50);
	reads(&c, THREAD, 2001, 100, 1000);
	reads(&c, 20, 2101, 50, 2000);
	feed_send(&c, 30, SERVER, 1001, 200, 3000, 10);
	feed_send(&c, THREAD, SERVER, 1201, 300, 4000, 10);
	assert_int_equal(g.n, 0);
	reads(&c, THREAD, 2151, 10, 5000); /* the next one */
	assert_int_equal(g.n, 1);
	feed_end(&c);

	assert_int_equal(g.n, 2);
	assert_int_equal(f->role, ROLE_SERVER);
	assert_int_equal(f->role_assumed, 0);
	assert_int_equal(f->answer, ANSWERED);
	assert_int_equal(f->ordinal, 0);
	assert_true(f->request.rx && !f->reply.rx);
	assert_int_equal(f->local.port, 80);
	assert_int_equal(f->request_offset, 0);
	assert_int_equal(f->request_bytes, 150);
	assert_int_equal(f->request_calls, 2);
	assert_int_equal(f->reply_bytes, 500);
	assert_int_equal(f->reply_calls, 2);
	assert_int_equal(f->request_first, 1040);
	assert_int_equal(f->request_last, 2040);
	assert_int_equal(f->reply_first, 3000);
	assert_int_equal(f->reply_last, 4000);
	assert_int_equal(f->request_tid, 20);
	assert_int_equal(f->reply_tid, 30);
	assert_int_equal(f->request_function, MG_FN_recv);
	assert_int_equal(f->reply_function, MG_FN_send);
	assert_int_equal(f->in_program, 960);
	assert_int_equal(f->arrived, 1950);
	assert_int_equal(f->departed, 3060);
	assert_int_equal(f->to_reply, 3060 - 1950);
	assert_int_equal(f->part[PART_REQUEST], 1000);
	assert_int_equal(f->part[PART_PROGRAM], 960);
	assert_int_equal(f->part[PART_REPLY], 1000);
	assert_int_equal(f->pipelined, 0);
	assert_true(!f->half_closed && !f->overlaps && !f->begun_before && !f->lost);

	f++;
	assert_int_equal(f->answer, UNANSWERED);
	assert_int_equal(f->ordinal, 1);
	assert_int_equal(f->request_offset, 150);
	assert_int_equal(f->since_reply, 1040);
	assert_true(f->in_program == FACT_NONE && f->reply_offset == FACT_NONE);
	assert_int_equal(f->reply_function, FACT_NO_FUNCTION);
}

static void calls_without_an_application_event_have_their_kernel_times(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	feed_segment(&c, SERVER, 2001, 100, 900, 10);
	ev_enter(&c, 1000, THREAD, SERVER, MG_SYS_recvfrom, 2001);
	ev_copy(&c, 1010, THREAD, SERVER, 2001, 100);
	ev_exit(&c, 1020, THREAD, SERVER, MG_SYS_recvfrom, 2101, 100);
	feed_send_kernel(&c, 20, SERVER, 1001, 50, 2000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_int_equal(g.fact[0].request_last, 1020);
	assert_int_equal(g.fact[0].reply_first, 2010);
	assert_int_equal(g.fact[0].in_program, 990);
	assert_int_equal(g.fact[0].request_function, FACT_SYSTEM_CALL | MG_SYS_recvfrom);
}

static void a_request_that_had_arrived_before_the_last_reply_began_is_pipelined(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	feed_segment(&c, SERVER, 2001, 100, 900, 10);
	feed_segment(&c, SERVER, 2101, 100, 950, 10);
	feed_recv(&c, THREAD, SERVER, 2001, 100, 1000, 10);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	feed_recv(&c, THREAD, SERVER, 2101, 100, 3000, 10);
	feed_send(&c, THREAD, SERVER, 1051, 50, 4000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.fact[0].pipelined, 0);
	assert_int_equal(g.fact[1].pipelined, 1);
	assert_int_equal(g.fact[1].in_program, 4000 - 3040);
}

static void a_request_read_before_the_reply_was_finished_overlaps(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	/* the rest finds no room */
	ev_enter(&c, 2200, THREAD, SERVER, MG_SYS_sendto, 1051);
	ev_exit(&c, 2210, THREAD, SERVER, MG_SYS_sendto, 1051, -11);
	ev_app(&c, THREAD, MG_FN_send, 2195, 2215, -11);
	reads(&c, THREAD, 2101, 100, 3000);
	feed_send(&c, THREAD, SERVER, 1051, 50, 4000, 10);
	reads(&c, THREAD, 2201, 100, 5000);
	feed_send(&c, THREAD, SERVER, 1101, 50, 6000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 3);
	assert_true(g.fact[0].overlaps && g.fact[1].overlaps && !g.fact[2].overlaps);
}

static void a_write_under_way_as_the_next_request_is_read_overlaps(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	ev_enter(&c, 2900, 20, SERVER, MG_SYS_sendto, 1051);
	ev_send(&c, 2910, 20, SERVER, 1051, 70, 1051);
	reads(&c, THREAD, 2101, 100, 3000);
	ev_exit(&c, 3500, 20, SERVER, MG_SYS_sendto, 1121, 70);
	ev_app(&c, 20, MG_FN_send, 2890, 3510, 70);
	feed_send(&c, THREAD, SERVER, 1121, 50, 4000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 2);
	assert_false(g.fact[0].overlaps);
	assert_true(g.fact[1].overlaps);
	assert_int_equal(g.fact[1].reply_first, 4000);
}

static void the_end_of_the_requests_is_part_of_the_last_one(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	reads(&c, THREAD, 2001, 100, 1000);
	reads_the_end(&c, 3000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 5000, 10);
	reads_the_end(&c, 6000); /* again: nothing new */
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_true(g.fact[0].half_closed);
	assert_int_equal(g.fact[0].request_last, 3015);
	assert_int_equal(g.fact[0].in_program, 5000 - 3015);
	assert_int_equal(g.fact[0].arrived, 950); /* of the last byte */
}

static void one_way_streams_have_one_exchange_that_is_not_answered(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	for (uint32_t i = 0; i < 20; i++)
		reads(&c, THREAD, 2001 + i * 100, 100, 1000 + i * 1000);
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_int_equal(g.fact[0].answer, UNANSWERED);
	assert_int_equal(g.fact[0].request_bytes, 2000);
	assert_true(g.fact[0].to_reply == FACT_NONE && g.fact[0].in_program == FACT_NONE);
	assert_true(
		g.fact[0].waited == FACT_NONE); /* nobody waits for an answer to such a stream */
}

static void closes(struct core *c, uint64_t t, uint8_t old, uint8_t now)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, 0);

	e.sock_state = (struct mg_sock_state){.sock = SERVER,
		.write_seq = 1001,
		.snd_una = 1001,
		.rcv_nxt = now == MG_TCP_CLOSE_WAIT ? 2102 : 2101,
		.copied_seq = 2101,
		.old = old,
		.now = now,
		.lport = 80,
		.rport = 5000,
		.family = 2};
	feed(c, &e);
}

static void a_request_waits_until_who_might_reply_closes(void **unused)
{
	for (int closed = 0; closed < 2; closed++) {
		struct core c;
		struct got g;

		(void)unused;
		begin(&c, &g);
		accepted(&c, 50);
		reads(&c, THREAD, 2001, 100, 1000); /* U1 is 1040 */
		closes(&c, 3000, MG_TCP_ESTABLISHED,
			MG_TCP_CLOSE_WAIT); /* the client's direction */
		if (closed)
			closes(&c, 5040, MG_TCP_CLOSE_WAIT, MG_TCP_LAST_ACK);
		else
			ev_switch(&c, 7040, 0, THREAD, SLEEPING, 0); /* the last event */
		feed_end(&c);
		assert_int_equal(g.n, 1);
		assert_int_equal(g.fact[0].answer, UNANSWERED);
		assert_int_equal(g.fact[0].open, !closed);
		assert_int_equal(g.fact[0].waited, closed ? 4000 : 6000);
	}
}

static void a_greeting_is_a_reply_that_nobody_asked_for(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	feed_send(&c, THREAD, SERVER, 1001, 50, 1000, 10);
	reads(&c, THREAD, 2001, 100, 2000);
	feed_send(&c, THREAD, SERVER, 1051, 50, 3000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.fact[0].answer, UNASKED);
	assert_int_equal(g.fact[0].role, ROLE_SERVER);
	assert_true(g.fact[0].in_program == FACT_NONE);
	assert_int_equal(g.fact[1].answer, ANSWERED);
	assert_int_equal(g.fact[1].in_program, 3000 - 2040);
}

static void both_ends_sum_to_the_clients_time(void **unused)
{
	const struct fact_exchange *f;
	uint64_t sum = 0;
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	ev_opened(&c, 40, CLIENT, 2000, 1000);
	accepted(&c, 50);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t t = 1000 + i * 10000;

		feed_send(&c, 20, CLIENT, 2001 + 100 * i, 60, t, 10);
		feed_send(&c, 20, CLIENT, 2061 + 100 * i, 40, t + 500, 10);
		reads(&c, THREAD, 2001 + 100 * i, 100, t + 1000);
		feed_send(&c, THREAD, SERVER, 1001 + 50 * i, 50, t + 3000, 10);
		feed_segment(&c, CLIENT, 1001 + 50 * i, 50, t + 4000, 10);
		feed_recv(&c, 20, CLIENT, 1001 + 50 * i, 20, t + 5000, 10);
		feed_recv(&c, 20, CLIENT, 1021 + 50 * i, 30, t + 6000, 10);
	}
	feed_end(&c);
	assert_int_equal(g.n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(g.fact[i].role, i % 2 ? ROLE_CLIENT : ROLE_SERVER);
	f = &g.fact[1];
	assert_int_equal(f->request_first, 1000);
	assert_int_equal(f->request_last, 1500);
	assert_int_equal(f->departed, 1560);
	assert_int_equal(f->server_request_last, 2040);
	assert_int_equal(f->server_reply_first, 4000);
	assert_int_equal(f->arrived, 5000);
	assert_int_equal(f->reply_first, 6040);
	assert_int_equal(f->reply_last, 7040);
	assert_int_equal(f->in_program, 1960);
	assert_int_equal(f->to_reply, 6040 - 1500);
	assert_int_equal(f->part[PART_WAY], 540);
	assert_int_equal(f->part[PART_PROGRAM], 1960);
	assert_int_equal(f->part[PART_BACK], 2040);
	for (int i = 0; i < EXCHANGE_PARTS; i++)
		sum += f->part[i];
	assert_int_equal(sum, f->reply_last - f->request_first);
}

static void a_client_alone_knows_the_time_to_the_reply(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	ev_opened(&c, 40, CLIENT, 2000, 1000);
	feed_send(&c, 20, CLIENT, 2001, 60, 1000, 10);
	feed_segment(&c, CLIENT, 1001, 50, 4000, 10);
	feed_recv(&c, 20, CLIENT, 1001, 50, 5000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_int_equal(g.fact[0].to_reply, 5040 - 1000);
	assert_int_equal(g.fact[0].part[PART_WAY], 4040);
	assert_true(g.fact[0].in_program == FACT_NONE && g.fact[0].part[PART_PROGRAM] == FACT_NONE);
}

static void an_older_connection_says_so_and_the_lower_port_is_the_server(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 50, 0);
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	e.sock_state = (struct mg_sock_state){.sock = SERVER,
		.rcv_nxt = 2001,
		.copied_seq = 2001,
		.write_seq = 1001,
		.snd_una = 1001,
		.old = MG_TCP_ESTABLISHED,
		.now = MG_TCP_ESTABLISHED,
		.lport = 80,
		.rport = 5000};
	feed(&c, &e);
	feed_send(&c, THREAD, SERVER, 1001, 50, 1000, 10);
	reads(&c, THREAD, 2001, 100, 2000);
	feed_send(&c, THREAD, SERVER, 1051, 50, 3000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 2);
	assert_true(g.fact[0].begun_before && !g.fact[1].begun_before);
	assert_true(g.fact[0].role_assumed);
	assert_int_equal(g.fact[0].role, ROLE_SERVER);
	assert_int_equal(g.fact[0].answer, UNASKED); /* the request came before the recording */
}

/* Announces a connection that is open already: it has sent 40 bytes, and the opener's SYN counts.
 */
static void announced(
	struct core *c, uint64_t sock, uint64_t acked, int state, uint16_t lport, uint16_t rport)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);

	e.sock_open = (struct mg_sock_open){.sock = sock,
		.bytes_acked = acked,
		.bytes_received = 7,
		.snd_una = 1001,
		.snd_nxt = 1001,
		.rcv_nxt = 2001,
		.sent_once = 40};
	feed(c, &e);
	e = feed_event(MG_EVENT_sock_state, 51, 0);
	e.sock_state = (struct mg_sock_state){.sock = sock,
		.rcv_nxt = 2001,
		.copied_seq = 2001,
		.write_seq = 1001,
		.snd_una = 1001,
		.now = (uint8_t)state,
		.lport = lport,
		.rport = rport};
	feed(c, &e);
}

/* Returns the first exchange of a connection announced like that. */
static struct fact_exchange after_announcement(
	uint64_t acked, int state, uint16_t lport, uint16_t rport)
{
	struct core c;
	struct got g;

	begin(&c, &g);
	announced(&c, SERVER, acked, state, lport, rport);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	feed_end(&c);
	assert_true(g.n >= 1);
	return g.fact[0];
}

static void counters_of_an_older_connection_tell_who_opened_it(void **unused)
{
	struct fact_exchange f;

	(void)unused;
	f = after_announcement(40, MG_TCP_ESTABLISHED, 50051, 40000);
	assert_true(f.role == ROLE_SERVER && !f.role_assumed);
	f = after_announcement(40, MG_TCP_CLOSE_WAIT, 80, 40000);
	assert_true(f.role == ROLE_SERVER && !f.role_assumed);
	f = after_announcement(41, MG_TCP_ESTABLISHED, 40000, 50051);
	assert_true(f.role == ROLE_CLIENT && !f.role_assumed);
	f = after_announcement(41, MG_TCP_ESTABLISHED, 80, 40000); /* it connected from port 80 */
	assert_true(f.role == ROLE_CLIENT && !f.role_assumed);
}

static void a_fin_or_dropped_bytes_leave_the_opener_unknown(void **unused)
{
	struct fact_exchange f;

	(void)unused;
	f = after_announcement(41, MG_TCP_FIN_WAIT1, 80, 40000);
	assert_true(f.role == ROLE_SERVER && f.role_assumed);
	f = after_announcement(30, MG_TCP_ESTABLISHED, 80, 40000);
	assert_true(f.role == ROLE_SERVER && f.role_assumed);
	f = after_announcement(30, MG_TCP_ESTABLISHED, 50051, 40000);
	assert_true(f.role == ROLE_CLIENT && f.role_assumed);
}

static void a_port_that_has_accepted_another_connection_is_the_servers(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	announced(&c, 99, 40, MG_TCP_ESTABLISHED, 50051, 40001);
	announced(&c, SERVER, 30, MG_TCP_ESTABLISHED, 50051, 40000);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_true(g.fact[0].role == ROLE_SERVER && g.fact[0].role_assumed);
}

static void missing_calls_are_told(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	accepted(&c, 50);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, THREAD, SERVER, 1001, 50, 2000, 10);
	ev_lost(&c, 2600, 3, 2200, 2500);
	reads(&c, THREAD, 2101, 100, 3000);
	feed_send(&c, THREAD, SERVER, 1051, 50, 4000, 10);
	reads(&c, THREAD, 2201, 100, 5000);
	feed_send(&c, THREAD, SERVER, 1201, 50, 6000, 10); /* 100 bytes are missing before */
	reads(&c, THREAD, 2301, 100, 7000);
	feed_end(&c);
	assert_int_equal(g.n, 4);
	assert_true(g.fact[0].lost && g.fact[1].lost && g.fact[2].lost && !g.fact[3].lost);
}

static void a_reused_pair_of_addresses_counts_anew(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	core_pack_closed(&c);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t t = 1000 + 10000 * i, sock = 20 + i;

		ev_opened(&c, t, sock, 2000, 1000);
		feed_send(&c, 20, sock, 2001, 60, t + 100, 10);
		feed_segment(&c, sock, 1001, 50, t + 1000, 10);
		feed_recv(&c, 20, sock, 1001, 50, t + 2000, 10);
		ev_closed(&c, t + 3000, sock);
	}
	feed_end(&c);
	assert_int_equal(g.n, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(g.fact[i].ordinal, 0);
		assert_int_equal(g.fact[i].to_reply, 2040 - 100);
	}
}

static void datagrams_alternate_too(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	memset(&g, 0, sizeof(g));
	dg_begin(&c);
	facts_listen(&c.facts, FACT_exchange, keep, &g);
	for (uint64_t i = 0; i < 2; i++) {
		dg_sends(&c, 1000 + 1000 * i, 100, (uint16_t)i, 50);
		dg_arrives(&c, 1100 + 1000 * i, 100, (uint16_t)i, 50);
		dg_reads(&c, 1200 + 1000 * i, 50, UINT32_MAX);
	}
	feed_end(&c);
	assert_int_equal(g.n, 2); /* one way only: a request at each end */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(g.fact[i].answer, UNANSWERED);
		assert_int_equal(g.fact[i].kind, MG_KIND_udp);
		assert_int_equal(g.fact[i].request_calls, 2);
	}
	assert_int_not_equal(g.fact[0].role, g.fact[1].role);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_server_works_from_the_read_of_the_last_byte_to_the_write_of_the_first),
		cmocka_unit_test(calls_without_an_application_event_have_their_kernel_times),
		cmocka_unit_test(
			a_request_that_had_arrived_before_the_last_reply_began_is_pipelined),
		cmocka_unit_test(a_request_read_before_the_reply_was_finished_overlaps),
		cmocka_unit_test(a_write_under_way_as_the_next_request_is_read_overlaps),
		cmocka_unit_test(the_end_of_the_requests_is_part_of_the_last_one),
		cmocka_unit_test(one_way_streams_have_one_exchange_that_is_not_answered),
		cmocka_unit_test(a_request_waits_until_who_might_reply_closes),
		cmocka_unit_test(a_greeting_is_a_reply_that_nobody_asked_for),
		cmocka_unit_test(both_ends_sum_to_the_clients_time),
		cmocka_unit_test(a_client_alone_knows_the_time_to_the_reply),
		cmocka_unit_test(an_older_connection_says_so_and_the_lower_port_is_the_server),
		cmocka_unit_test(counters_of_an_older_connection_tell_who_opened_it),
		cmocka_unit_test(a_fin_or_dropped_bytes_leave_the_opener_unknown),
		cmocka_unit_test(a_port_that_has_accepted_another_connection_is_the_servers),
		cmocka_unit_test(missing_calls_are_told),
		cmocka_unit_test(a_reused_pair_of_addresses_counts_anew),
		cmocka_unit_test(datagrams_alternate_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
