/* SPDX-License-Identifier: MIT */
/* The report as JSON: its fields are a contract. */
#include "report.h"
#include "reported.h"

static void the_parts_of_the_contract_are_there(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_fields(j, "", "session events loss clock calls unseen marks flows scheduler tracer");
	assert_fields(j, "session", "command duration_ns tsc_hz host kernel");
	assert_fields(j, "events", "app kernel");
	assert_fields(j, "loss", "app kernel gaps");
	assert_fields(j, "clock", "source max_error_ns");
	assert_fields(j, "scheduler", "switches wakeup_ns migrations");
	assert_fields(j, "scheduler.wakeup_ns", "p50 p99 max");
	assert_fields(j, "tracer",
		"app_cost_ns_per_call kernel_cost_ns_per_event cpu_share setup_cpu_ns");
	json_decref(j);
}

static void calls_have_the_fields_of_the_contract(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_int_equal(json_array_size(at(j, "calls")), 2);
	assert_fields(
		j, "calls.0", "name flow_kind n bytes blocked_n total_ns overhead_ns states_ns");
	assert_fields(j, "calls.0.total_ns", "p50 p99 mean");
	assert_fields(j, "calls.0.overhead_ns", "p50 p99 mean uncertainty");
	assert_fields(j, "calls.0.states_ns",
		"entry socket tcp ip device return softirq blocked wakeup preempted");
	json_decref(j);
}

static void flows_have_the_fields_of_the_contract(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_int_equal(json_array_size(at(j, "flows")), 2);
	for (int i = 0; i < 2; i++) {
		char path[64];

		snprintf(path, sizeof(path), "flows.%d", i);
		assert_fields(j, path,
			"id proto local remote direction pid comm bytes coverage tx_call_n "
			"retransmits layers residence residence_total_ns closure_error_cycles "
			"modulation tcp");
		snprintf(path, sizeof(path), "flows.%d.layers.0", i);
		assert_fields(j, path,
			"name n bytes mean_size cov_size mean_spacing_ns p50_spacing_ns "
			"cov_spacing");
		snprintf(path, sizeof(path), "flows.%d.residence.0", i);
		assert_fields(j, path, "stage n mean_ns p50_ns p99_ns");
		snprintf(path, sizeof(path), "flows.%d.modulation", i);
		assert_fields(j, path, "from to J_ns tau_ns M S blocked_share w1_spacing_ns");
	}
	json_decref(j);
}

static void its_numbers_are_those_of_the_recording(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_number_at(j, "session.duration_ns", 3000000);
	assert_number_at(j, "session.tsc_hz", 1e9);
	assert_number_at(j, "events.app", 2 * TRANSFERS);
	assert_number_at(j, "loss.app", 0);
	assert_string_equal(json_string_value(at(j, "flows.0.id")), "1/tx");
	assert_string_equal(json_string_value(at(j, "flows.0.proto")), "tcp");
	assert_string_equal(json_string_value(at(j, "flows.0.comm")), "sender");
	assert_string_equal(json_string_value(at(j, "flows.0.local")), "10.0.0.1:0");
	assert_number_at(j, "flows.0.bytes", TRANSFERS * TRANSFER_BYTES);
	assert_number_at(j, "flows.0.coverage", 1);
	assert_number_at(j, "flows.0.tx_call_n", TRANSFERS);
	assert_number_at(j, "flows.0.retransmits", 0);
	assert_number_at(j, "flows.0.residence_total_ns", 7);
	assert_number_at(j, "flows.0.closure_error_cycles", 0);
	assert_number_at(j, "flows.0.layers.0.mean_size", TRANSFER_BYTES);
	assert_number_at(j, "flows.0.layers.0.mean_spacing_ns", 1000);
	assert_number_at(j, "flows.0.layers.0.p50_spacing_ns", 1000);
	assert_number_at(j, "flows.1.modulation.J_ns", 50);
	assert_number_at(j, "flows.1.modulation.M", 0.05);
	assert_number_at(j, "flows.1.modulation.w1_spacing_ns", 10);
	json_decref(j);
}

/* Stages sum to the total in the report, too. */
static void the_waterfall_adds_up(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		const json_t *f = json_array_get(at(j, "flows"), i), *bars = at(f, "residence");
		double sum = 0;

		for (size_t k = 0; k < json_array_size(bars); k++)
			sum += json_number_value(at(json_array_get(bars, k), "mean_ns"));
		assert_near(sum, json_number_value(at(f, "residence_total_ns")), 1e-9);
	}
	json_decref(j);
}

static void states_sum_to_the_mean_total(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		const json_t *call = json_array_get(at(j, "calls"), i), *state;
		const char *name;
		double sum = 0;

		json_object_foreach ((json_t *)at(call, "states_ns"), name, state)
			sum += json_number_value(state);
		assert_near(sum, json_number_value(at(call, "total_ns.mean")), 1e-9);
	}
	json_decref(j);
}

static void losses_are_listed_with_their_place(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	connection_begin(&c);
	ev_lost(&c, 5000, 12, 4000, 5000);
	core_lost_app(&c, 5, 6000, 7000, -1);
	j = reported(&c);
	assert_number_at(j, "loss.kernel", 12);
	assert_number_at(j, "loss.app", 5);
	assert_string_equal(json_string_value(at(j, "loss.gaps.0.producer")), "ring");
	assert_number_at(j, "loss.gaps.0.cpu", 0);
	assert_number_at(j, "loss.gaps.0.from_ns", 4000);
	assert_number_at(j, "loss.gaps.0.to_ns", 5000);
	assert_null_at(j, "loss.gaps.1.cpu");
	assert_number_at(j, "loss.gaps.1.count", 5);
	json_decref(j);
}

/* The kernel cuts names at 15 bytes, even in the middle of a character. */
static void a_name_that_is_no_text_does_not_take_the_field_away(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	connection_begin(&c);
	ev_fork(&c, 40, 1, SENDER, "caf\xc3");
	transfer(&c, 0, 10000, 10100);
	j = reported(&c);
	assert_true(json_is_string(at(j, "flows.0.comm")));
	json_decref(j);
}

static void one_flow_may_be_asked_for(void **unused)
{
	struct report r;
	struct core c;
	json_t *j;

	(void)unused;
	connection_record(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	j = report_json(&r, "2/rx");
	assert_int_equal(json_array_size(at(j, "flows")), 1);
	assert_string_equal(json_string_value(at(j, "flows.0.id")), "2/rx");
	assert_int_equal(json_array_size(at(j, "calls")), 2);
	json_decref(j);
	report_free(&r);
	feed_end(&c);
}

static void hooks_that_were_refused_are_told(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "dev_xmit");
	ev_hook(&c, 5, "ip_out ipv6", -1, 4026531840u);
	j = reported(&c);
	assert_null_at(j, "hooks.0.netns");
	assert_string_equal(json_string_value(at(j, "hooks.1.hook")), "ip_out ipv6");
	assert_number_at(j, "hooks.1.status", -1);
	assert_number_at(j, "hooks.1.netns", 4026531840u);
	json_decref(j);
}

static void switches_are_counted_by_cpu_and_kind(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_switch(&c, 100, 1, 5, SLEEPING, 0);
	ev_switch(&c, 200, 1, 0, RUNNABLE, 5);
	ev_switch(&c, 300, 1, 5, SLEEPING, 0);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "scheduler.switches")), 2);
	assert_fields(j, "scheduler.switches.0", "cpu kind n mean_ns p50_ns p99_ns");
	assert_number_at(j, "scheduler.switches.0.cpu", 1);
	assert_string_equal(json_string_value(at(j, "scheduler.switches.0.kind")), "to_idle");
	assert_number_at(j, "scheduler.switches.0.n", 2);
	assert_null_at(j, "scheduler.switches.0.mean_ns");
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_the_contract_are_there),
		cmocka_unit_test(calls_have_the_fields_of_the_contract),
		cmocka_unit_test(flows_have_the_fields_of_the_contract),
		cmocka_unit_test(its_numbers_are_those_of_the_recording),
		cmocka_unit_test(the_waterfall_adds_up),
		cmocka_unit_test(states_sum_to_the_mean_total),
		cmocka_unit_test(losses_are_listed_with_their_place),
		cmocka_unit_test(a_name_that_is_no_text_does_not_take_the_field_away),
		cmocka_unit_test(one_flow_may_be_asked_for),
		cmocka_unit_test(hooks_that_were_refused_are_told),
		cmocka_unit_test(switches_are_counted_by_cpu_and_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
