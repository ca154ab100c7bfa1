/* SPDX-License-Identifier: MIT */
/* Several flows of a program as a group: sums of each flow's figures. */
#include "feed.h"
#include "report.h"
#include "reported.h"

#define TID 10

static void open_core(struct core *c, uint64_t socks)
{
	feed_begin(c, ALL_HOOKS);
	ev_fork(c, 1, 1, TID, "sender");
	for (uint64_t sock = 1; sock <= socks; sock++)
		ev_opened(c, 10, sock, 999, 4999);
}

static void means_weigh_by_bytes(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	open_core(&c, 2);
	feed_send(&c, TID, 1, 1000, 300, 10000, 100);
	feed_send(&c, TID, 2, 1000, 100, 20000, 200);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "together")), 1);
	assert_string_equal(json_string_value(at(j, "together.0.comm")), "sender");
	assert_string_equal(json_string_value(at(j, "together.0.proto")), "tcp");
	assert_string_equal(json_string_value(at(j, "together.0.direction")), "tx");
	assert_string_equal(json_string_value(at(j, "together.0.side")), "client");
	assert_number_at(j, "together.0.flows", 2);
	assert_number_at(j, "together.0.bytes", 400);
	assert_number_at(j, "together.0.coverage", 1);
	/* 700 for 300 bytes, 1400 for 100 */
	assert_number_at(j, "together.0.residence_total_ns", 875);
	assert_number_at(j, "together.0.residence.0.mean_ns", 250);
	assert_number_at(j, "together.0.residence.0.p50_ns", 200);
	assert_number_at(j, "together.0.send_buffer_why.0.bytes", 400);
	assert_number_at(j, "together.0.send_buffer_held.0.bytes", 400);
	assert_number_at(j, "together.0.send_buffer_held.0.mean_ns", 125);
	assert_number_at(j, "together.0.send_buffer_held.0.held_ns", 300);
	assert_number_at(j, "together.0.closure_error_cycles", 0);
	json_decref(j);
}

/* Few flows are shown singly; other directions and programs are other groups. */
static void one_flow_is_no_group(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	open_core(&c, 2);
	feed_send(&c, TID, 1, 1000, 100, 10000, 100);
	ev_fork(&c, 15000, 1, TID + 1, "another");
	feed_send(&c, TID + 1, 2, 1000, 100, 20000, 100);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "flows")), 2);
	assert_int_equal(json_array_size(at(j, "together")), 0);
	json_decref(j);
}

/* Bytes missing of one flow are missing of the group. */
static void incomplete_bytes_are_left_out_and_counted(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	open_core(&c, 2);
	feed_send(&c, TID, 1, 1000, 300, 10000, 100);
	ev_enter(&c, 20000, TID, 2, MG_SYS_sendto, 1000);
	ev_send(&c, 20100, TID, 2, 1000, 20, 1000);
	ev_exit(&c, 20200, TID, 2, MG_SYS_sendto, 1020, 20);
	ev_app(&c, TID, MG_FN_send, 19900, 20300, 20);
	ev_ack(&c, 30000, 2, 1020);
	j = reported(&c);
	assert_number_at(j, "together.0.bytes", 320);
	assert_number_at(j, "together.0.incomplete_bytes", 20);
	assert_number_at(j, "together.0.coverage", 300 / 320.);
	assert_string_equal(json_string_value(at(j, "together.0.standing")), "starred");
	assert_number_at(j, "together.0.residence_total_ns", 700);
	json_decref(j);
}

/* Bytes that never left a send buffer are missing of none. */
static void unsent_bytes_are_not_missing(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	open_core(&c, 2);
	feed_send(&c, TID, 1, 1000, 300, 10000, 100);
	ev_enter(&c, 20000, TID, 2, MG_SYS_sendto, 1000);
	ev_send(&c, 20100, TID, 2, 1000, 200, 1000);
	ev_exit(&c, 20200, TID, 2, MG_SYS_sendto, 1200, 200);
	ev_app(&c, TID, MG_FN_send, 19900, 20300, 200);
	j = reported(&c);
	assert_number_at(j, "together.0.bytes", 500);
	assert_number_at(j, "together.0.coverage", 1);
	json_decref(j);
}

/* Datagrams have no sequence numbers: bytes without events are missing of the group. */
static void losses_of_each_flow_are_losses_of_the_group(void **unused)
{
	const struct sock_known known = {.kind = MG_KIND_udp};
	struct flow *flows[3];
	struct together *all;
	struct report r;
	struct core c;
	size_t n;
	double sum = 0;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (int i = 0; i < 3; i++) {
		core_know_sock(&c, (uint64_t)i + 1, &known);
		flows[i] = tx_of(&c, (uint64_t)i + 1);
		flows[i]->sock->unclaimed = false;
		flows[i]->use.calls = 1;
		flows[i]->total = 100;
		flows[i]->complete = 100 - 10 * (uint64_t)i;
		flows[i]->incomplete = 10 * (uint64_t)i;
		flows[i]->missing.events_share = 0.3 * i;
	}
	flows[2]->use.calls = 0; /* all of its calls were lost; other events imply them */
	flows[2]->missing.bytes = 100;
	for (int i = 0; i < 3; i++)
		sum += flow_coverage(fact_of(&c, flows[i])) * 100;
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	all = report_together(&r, &n);
	assert_int_equal(n, 1);
	assert_int_equal(all[0].count, 3);
	assert_near(flow_coverage(&all[0].sum), sum / 300, 1e-12);
	report_together_free(all, n);
	report_free(&r);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_weigh_by_bytes),
		cmocka_unit_test(one_flow_is_no_group),
		cmocka_unit_test(incomplete_bytes_are_left_out_and_counted),
		cmocka_unit_test(losses_of_each_flow_are_losses_of_the_group),
		cmocka_unit_test(unsent_bytes_are_not_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
