/* SPDX-License-Identifier: MIT */
/* json.c again: what was not observable is null, never 0. */
#include "report.h"
#include "reported.h"

static void quantiles_need_ten_samples_beyond_them(void **unused)
{
	json_t *j = reported_connection(); /* of 20 */

	(void)unused;
	assert_number_at(
		j, "calls.0.total_ns.p50", json_number_value(at(j, "calls.0.total_ns.mean")));
	assert_null_at(j, "calls.0.total_ns.p99");
	assert_null_at(j, "flows.0.residence.0.p99_ns");
	json_decref(j);
}

static void nothing_recorded_is_null_and_not_zero(void **unused)
{
	struct report r;
	struct core c;
	json_t *j;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	j = report_json(&r, NULL);
	assert_null_at(j, "session.command");
	assert_null_at(j, "session.host");
	assert_null_at(j, "session.tsc_hz");
	assert_null_at(j, "clock.source");
	assert_null_at(j, "clock.max_error_ns");
	assert_null_at(j, "scheduler.wakeup_ns.p50");
	assert_null_at(j, "scheduler.wakeup_ns.max");
	assert_null_at(j, "tracer.app_cost_ns_per_call");
	assert_null_at(j, "tracer.cpu_share");
	assert_int_equal(json_array_size(at(j, "flows")), 0);
	json_decref(j);
	report_free(&r);
	feed_end(&c);
}

/* Names that are not UTF-8 do not affect other fields. */
static void a_name_that_is_no_text_is_told_as_far_as_it_goes(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	strcpy(c.trace.undescribed, "/tmp/caf\xe9");
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "loss.missing.undescribed")), "/tmp/caf?");
	assert_number_at(j, "loss.kernel", 0);
	json_decref(j);
}

/* Only the program's side was recorded: the kernel's figures are unknown. */
static void without_the_kernel_side_its_figures_are_null(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	for (uint64_t i = 1; i < 40; i++)
		ev_app(&c, SENDER, MG_FN_send, i * 1000, i * 1000 + 100, 10);
	j = reported(&c);
	assert_number_at(j, "calls.0.n", 39);
	assert_number_at(j, "calls.0.total_ns.p50", 100);
	assert_null_at(j, "calls.0.blocked_n");
	assert_null_at(j, "calls.0.overhead_ns.p50");
	assert_null_at(j, "calls.0.overhead_ns.mean");
	assert_null_at(j, "calls.0.overhead_ns.uncertainty");
	assert_null_at(j, "calls.0.states_ns.blocked");
	assert_null_at(j, "scheduler.migrations");
	json_decref(j);
}

/* Without scheduler events, a wait inside a call cannot be told from work. */
static void without_the_scheduler_blocking_is_unknown(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "sys_enter,sys_exit," TX_HOOKS "," RX_HOOKS);
	ev_opened(&c, 10, B, 4999, 999);
	ev_enter(&c, 1000, RECEIVER, B, MG_SYS_recvfrom, 1000);
	feed_segment(&c, B, 1000, 500, 900000, 1);
	ev_copy(&c, 910000, RECEIVER, B, 1000, 500);
	ev_exit(&c, 911000, RECEIVER, B, MG_SYS_recvfrom, 1500, 500);
	ev_app(&c, RECEIVER, MG_FN_recv, 500, 912000, 500);
	feed_send(&c, RECEIVER, B, 5000, 400, 920000, 100);
	j = reported(&c);
	assert_null_at(j, "calls.0.blocked_n");
	assert_null_at(j, "calls.0.states_ns.blocked");
	assert_null_at(j, "calls.0.overhead_ns.mean"); /* it would be the wait */
	assert_string_equal(json_string_value(at(j, "flows.1.id")), "2/tx");
	assert_null_at(j, "flows.1.modulation.blocked_share");
	assert_null_at(j, "scheduler.migrations");
	json_decref(j);
}

static void unobserved_retransmissions_are_not_zero(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "tcp_send,dev_xmit");
	ev_opened(&c, 10, A, 999, 4999);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	j = reported(&c);
	assert_null_at(j, "flows.0.retransmits");
	json_decref(j);
}

/* Recorded with --layers none: the tracer's trace has only its head, and names no hook. */
static void without_any_layer_no_byte_is_called_incomplete(void **unused)
{
	static const char *const null[] = {"coverage", "standing", "withheld", "complete_bytes",
		"incomplete_bytes", "kernel_only_bytes", "call_n", "tx_call_n", "ambiguous_bytes",
		"refused_calls", "retransmits"};
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	ev_calibration(&c, 2, 10, 1);
	ev_opened(&c, 10, A, 999, 4999);
	ev_shut(&c, 2000, A, 1500);
	j = reported(&c);
	assert_number_at(j, "flows.0.bytes", 500);
	for (size_t i = 0; i < sizeof(null) / sizeof(null[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "flows.0.%s", null[i]);
		assert_null_at(j, path);
	}
	json_decref(j);
}

static void figures_a_flow_cannot_have_are_null(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, B, 4999, 999);
	feed_segment(&c, B, 1000, 500, 2000, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 3000, 1);
	j = reported(&c);
	assert_null_at(j, "flows.0.tx_call_n");
	assert_null_at(j, "flows.0.retransmits");
	assert_null_at(j, "flows.0.local"); /* anonymous */
	assert_null_at(j, "flows.0.remote");
	assert_null_at(j, "flows.0.modulation.J_ns");
	assert_null_at(j, "flows.0.modulation.M");
	assert_null_at(j, "flows.0.modulation.S");
	assert_null_at(j, "flows.0.layers.0.mean_spacing_ns"); /* of one packet */
	assert_null_at(j, "flows.0.layers.0.p50_spacing_ns");
	assert_null_at(j, "flows.0.layers.0.cov_spacing");
	json_decref(j);
}

/* An end that nothing has passed is not among the report's flows. */
static void a_peer_is_one_of_the_flows(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 1, 999, 4999);
	ev_opened(&c, 20, 2, 4999, 999);
	feed_send(&c, SENDER, 1, 1000, 500, 1000, 10);
	assert_int_equal(fact_of(&c, tx_of(&c, 1))->peer.sock, 2);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "flows")), 1);
	assert_null_at(j, "flows.0.peer");
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_need_ten_samples_beyond_them),
		cmocka_unit_test(a_peer_is_one_of_the_flows),
		cmocka_unit_test(nothing_recorded_is_null_and_not_zero),
		cmocka_unit_test(without_the_kernel_side_its_figures_are_null),
		cmocka_unit_test(without_the_scheduler_blocking_is_unknown),
		cmocka_unit_test(unobserved_retransmissions_are_not_zero),
		cmocka_unit_test(without_any_layer_no_byte_is_called_incomplete),
		cmocka_unit_test(figures_a_flow_cannot_have_are_null),
		cmocka_unit_test(a_name_that_is_no_text_is_told_as_far_as_it_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
