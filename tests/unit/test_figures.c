/* SPDX-License-Identifier: MIT */
#include "socket/socket.h"
#include "connection.h"
#include "report.h"

static void report(struct report *r, struct core *c, const json_t *session)
{
	core_finish(c);
	assert_int_equal(report_init(r, c, session, "a trace"), 0);
}

static void end(struct report *r)
{
	struct core *c = r->core;

	report_free(r);
	feed_end(c);
}

static void flows_come_the_largest_first(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 1, 999, 4999);
	ev_opened(&c, 10, 2, 888, 3999);
	ev_opened(&c, 10, 3, 777, 2999); /* nothing passes here */
	feed_send(&c, SENDER, 1, 1000, 100, 10000, 1);
	feed_send(&c, SENDER, 2, 889, 300, 20000, 1);
	feed_segment(&c, 1, 5000, 200, 30000, 1);
	feed_recv(&c, SENDER, 1, 5000, 200, 31000, 1);
	report(&r, &c, NULL);
	assert_int_equal(r.flow_count, 3);
	assert_string_equal(flow_id(report_flow(&r, 0)->flow), "2/tx");
	assert_string_equal(flow_id(report_flow(&r, 1)->flow), "1/rx");
	assert_string_equal(flow_id(report_flow(&r, 2)->flow), "1/tx");
	end(&r);
}

static void calls_come_the_most_frequent_first(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_app(&c, SENDER, MG_FN_recv, 100, 150, 10);
	ev_app(&c, SENDER, MG_FN_send, 200, 250, 10);
	ev_app(&c, SENDER, MG_FN_send, 300, 350, 10);
	feed_send_kernel(&c, SENDER, 5, 1, 100, 1000, 1);
	report(&r, &c, NULL);
	assert_int_equal(r.call_count, 3);
	assert_string_equal(call_name(r.calls[0]), "send");
	assert_false(call_is_kernel_only(r.calls[0]));
	assert_string_equal(call_name(r.calls[2]), "sendto");
	assert_true(call_is_kernel_only(r.calls[2]));
	end(&r);
}

static void ends_are_written_as_people_do(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_addr, 10, 0);
	char local[64], remote[64];
	struct mg_sock *s;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 5, 1, 999, 4999);
	s = sock_find(&c, 1);
	flow_ends(fact_of(&c, &s->tx), local, remote);
	assert_string_equal(local, "?"); /* left out on request, or lost */
	e.sock_addr.sock = 1;
	e.sock_addr.laddr[0] = 0xfe;
	e.sock_addr.laddr[1] = 0x80;
	e.sock_addr.laddr[15] = 1;
	memcpy(e.sock_addr.raddr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02", 16);
	feed(&c, &e);
	s->lport = 40000;
	s->rport = 80;
	flow_ends(fact_of(&c, &s->tx), local, remote);
	assert_string_equal(local, "[fe80::1]:40000");
	assert_string_equal(remote, "10.9.0.2:80");
	feed_end(&c);
}

static void the_rate_of_the_clock_makes_nanoseconds_of_cycles(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	core_give_clock(&c, 100, 100, 0);
	core_give_clock(&c, 1000000100, 2500000100, 0);
	report(&r, &c, NULL);
	assert_near(r.hz, 2.5e9, 0);
	assert_near(report_ns(&r, 500), 200, 1e-9);
	end(&r);
}

static void without_a_clock_there_are_no_nanoseconds(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	report(&r, &c, NULL);
	assert_true(isnan(report_ns(&r, 500)));
	assert_int_equal(r.flow_count, 0);
	assert_int_equal(r.call_count, 0);
	end(&r);
}

/* Delays of 104 + 10 i, i = 0 ... 19: median 194, mean deviation 50; tau 1000. */
static void m_is_the_mean_shift_in_gaps_of_the_sender(void **unused)
{
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	connection_record(&c);
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, rx_of(&c, B)));
	assert_true(m.known);
	assert_string_equal(m.from, "peer_call");
	assert_string_equal(m.to, "call");
	assert_int_equal(m.bytes, TRANSFERS * TRANSFER_BYTES);
	assert_near(m.j_ns, 50, 1e-9);
	assert_near(m.tau_ns, 1000, 1e-9);
	assert_near(m.m, 0.05, 1e-12);
	assert_near(m.s, 1, 0);
	assert_near(m.blocked_share, 0, 0);
	assert_near(m.w1_spacing_ns, 10, 1e-9); /* gaps of 1010 instead of 1000 */
	end(&r);
}

/* U0 to X is 6 cycles for every byte. */
static void a_pure_delay_has_m_0(void **unused)
{
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	connection_record(&c);
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, tx_of(&c, A)));
	assert_string_equal(m.to, "device");
	assert_near(m.j_ns, 0, 0);
	assert_near(m.m, 0, 0);
	end(&r);
}

/*
 * Seven segments of 1,448 bytes every 20 ms leave one by one, 1.2112 ms apart, as a token bucket
 * with room for two lets them: D = 0, 0, d, 2d, 3d, 4d, 5d, where the first of the two goes with
 * the call. The median is 2d, J = 11/7 d, and M = J / 20 ms.
 */
static void a_token_bucket_modulates_as_worked_out_by_hand(void **unused)
{
	const uint64_t d = 1211200, gap = 20000000;
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, "tcp_send,dev_xmit");
	ev_opened(&c, 10, A, 999, 4999);
	for (uint32_t call = 0; call < 20; call++) {
		uint64_t at = gap * (call + 1);
		uint32_t seq = 1000 + call * 7 * 1448;

		ev_enter(&c, at, SENDER, A, MG_SYS_sendto, seq);
		ev_send(&c, at, SENDER, A, seq, 7 * 1448, seq);
		ev_packet(&c, at, SENDER, MG_EVENT_dev_xmit, A, seq, 1448);
		ev_packet(&c, at, SENDER, MG_EVENT_dev_xmit, A, seq + 1448, 1448);
		ev_exit(&c, at, SENDER, A, MG_SYS_sendto, seq + 7 * 1448, 7 * 1448);
		ev_app(&c, SENDER, MG_FN_send, at, at, 7 * 1448);
		for (uint32_t i = 2; i < 7; i++)
			ev_packet(&c, at + (i - 1) * d, 0, MG_EVENT_dev_xmit, A, seq + i * 1448,
				1448);
	}
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, tx_of(&c, A)));
	assert_near(m.j_ns, 11.0 / 7 * (double)d, (double)d * 1e-9);
	assert_near(m.m, 11.0 / 7 * (double)d / (double)gap, 1e-9);
	assert_near(m.s, 7, 0);
	end(&r);
}

/* A long constant delay must not hide its small variation: J is of the differences, not of D. */
static void a_small_variation_of_a_long_delay_is_seen(void **unused)
{
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	connection_begin(&c);
	for (uint32_t i = 0; i < TRANSFERS; i++) /* 20 ms, every other time 2 us more */
		transfer(&c, i, 1000000 + i * 40000000, 21000000 + i * 40000000 + i % 2 * 2000);
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, rx_of(&c, B)));
	assert_near(m.j_ns, 1000, 100);
	end(&r);
}

static void one_call_has_no_gap_and_no_m(void **unused)
{
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	connection_begin(&c);
	transfer(&c, 0, 10000, 10100);
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, rx_of(&c, B)));
	assert_near(m.j_ns, 0, 0);
	assert_true(isnan(m.tau_ns));
	assert_true(isnan(m.m));
	assert_true(isnan(m.w1_spacing_ns));
	end(&r);
}

static void without_the_sender_there_is_no_m(void **unused)
{
	struct modulation m;
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, B, 4999, 999);
	feed_segment(&c, B, 1000, 500, 2000, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 3000, 1);
	report(&r, &c, NULL);
	m = flow_modulation(&r, fact_of(&c, rx_of(&c, B)));
	assert_false(m.known);
	assert_true(isnan(m.j_ns) && isnan(m.m) && isnan(m.s) && isnan(m.blocked_share));
	end(&r);
}

static void coverage_is_the_share_of_complete_bytes(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, B, 4999, 999);
	assert_true(isnan(flow_coverage(fact_of(&c, rx_of(&c, B)))));
	feed_segment(&c, B, 1000, 750, 2000, 1);
	ev_ready(&c, 2100, B, 2000); /* all other events of the remaining 250 bytes were lost */
	feed_recv(&c, RECEIVER, B, 1000, 1000, 3000, 1);
	report(&r, &c, NULL);
	assert_near(flow_coverage(fact_of(&c, rx_of(&c, B))), 0.75, 1e-12);
	end(&r);
}

/* Bytes that a socket moved before the recording are not missing from it. */
static void coverage_of_a_late_socket_is_of_the_recorded_bytes(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_open.sock = B;
	e.sock_open.bytes_received = 1000000;
	e.sock_open.rcv_nxt = 1000;
	feed(&c, &e);
	feed_segment(&c, B, 1000, 500, 2000, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 3000, 1);
	report(&r, &c, NULL);
	assert_near(flow_coverage(fact_of(&c, rx_of(&c, B))), 1, 1e-12);
	end(&r);
}

static void a_flow_is_named_after_its_process_or_a_thread_of_it(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_task_fork, 9000000, RECEIVER);
	struct report r;
	struct core c;

	(void)unused;
	connection_record(&c);
	report(&r, &c, NULL);
	assert_string_equal(flow_comm(fact_of(&c, tx_of(&c, A))), "sender");
	assert_string_equal(flow_comm(fact_of(&c, rx_of(&c, B))), "");
	e.task_fork.child_tid = RECEIVER + 1;
	e.task_fork.child_pid = RECEIVER;
	memcpy(e.task_fork.comm, "main", 5);
	feed(&c, &e);
	assert_string_equal(flow_comm(fact_of(&c, rx_of(&c, B))), "main");
	end(&r);
}

static void our_own_cost_is_told_in_nanoseconds_and_in_cpus(void **unused)
{
	json_t *session = json_pack("{s:I, s:{s:I}, s:{s:I}}", "duration_ns", (json_int_t)1000000,
		"kernel_side", "cpu_ns", (json_int_t)9000, "app", "daemon_cpu_ns", (json_int_t)700);
	struct own_cost cost;
	struct report r;
	struct core c;
	json_t *told;

	(void)unused;
	connection_begin(&c);
	ev_calibration(&c, 5, 20, 1);
	transfer(&c, 0, 10000, 10100);
	report(&r, &c, session);
	cost = report_own_cost(&r);
	assert_true(isnan(cost.app_ns_per_call)); /* no call measured it */
	assert_near(cost.kernel_ns_per_event, 20, 1e-9);
	assert_near(cost.cpu_share, (9700 + 20.0 * (double)c.counts.kernel_events) / 1e6, 1e-12);
	assert_near(report_duration_ns(&r), 1e6, 0);
	assert_true(isnan(cost.setup_cpu_ns));
	told = json_pack("{s:I, s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I, s:I, s:I}}", "duration_ns",
		(json_int_t)1000000, "kernel_side", "cpu_ns", (json_int_t)9000000, "setup_cpu_ns",
		(json_int_t)50000000, "running_ns", (json_int_t)2000000, "running_cpu_ns",
		(json_int_t)20000, "app", "daemon_cpu_ns", (json_int_t)700000, "setup_cpu_ns",
		(json_int_t)4000, "running_ns", (json_int_t)4000000, "running_cpu_ns",
		(json_int_t)80000);
	r.session = told;
	cost = report_own_cost(&r); /* each by the time it ran; start and end are separate */
	assert_near(
		cost.cpu_share, 0.01 + 0.02 + 20.0 * (double)c.counts.kernel_events / 1e6, 1e-12);
	assert_near(cost.setup_cpu_ns, 50000000 + 8980000 + 4000 + 620000, 1e-6);
	json_decref(told);
	r.session = session;
	json_object_set_new(session, "duration_ns", json_null()); /* a truncated session: unknown */
	assert_true(isnan(report_own_cost(&r).cpu_share));
	json_decref(session);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_come_the_largest_first),
		cmocka_unit_test(calls_come_the_most_frequent_first),
		cmocka_unit_test(ends_are_written_as_people_do),
		cmocka_unit_test(the_rate_of_the_clock_makes_nanoseconds_of_cycles),
		cmocka_unit_test(without_a_clock_there_are_no_nanoseconds),
		cmocka_unit_test(m_is_the_mean_shift_in_gaps_of_the_sender),
		cmocka_unit_test(a_pure_delay_has_m_0),
		cmocka_unit_test(a_token_bucket_modulates_as_worked_out_by_hand),
		cmocka_unit_test(a_small_variation_of_a_long_delay_is_seen),
		cmocka_unit_test(one_call_has_no_gap_and_no_m),
		cmocka_unit_test(without_the_sender_there_is_no_m),
		cmocka_unit_test(coverage_is_the_share_of_complete_bytes),
		cmocka_unit_test(coverage_of_a_late_socket_is_of_the_recorded_bytes),
		cmocka_unit_test(a_flow_is_named_after_its_process_or_a_thread_of_it),
		cmocka_unit_test(our_own_cost_is_told_in_nanoseconds_and_in_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
