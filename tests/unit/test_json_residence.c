/* SPDX-License-Identifier: MIT */
/* Waiting times as JSON: which sums hold, and what is not shown. */
#include "reported.h"

static double bars(const json_t *list, const char *figure)
{
	double sum = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		sum += json_number_value(at(json_array_get(list, i), figure));
	return sum;
}

static json_t *calibrated(uint32_t event)
{
	struct core c;

	connection_begin(&c);
	ev_calibration(&c, 2, event, 0);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(&c, i, 10000 + i * 1000, 10100 + i * 1010);
	return reported(&c);
}

static void bars_without_magnets_own_and_these_sum_to_the_total(void **unused)
{
	json_t *j = calibrated(1);

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		const json_t *f = json_array_get(at(j, "flows"), i);
		double total = json_number_value(at(f, "residence_total_ns"));

		assert_near(bars(at(f, "residence"), "mean_ns"), total, 1e-9);
		assert_near(bars(at(f, "residence"), "compensated_mean_ns") +
				    json_number_value(at(f, "probes_ns")),
			total, 1e-9);
		assert_true(json_number_value(at(f, "probes_ns")) > 0);
		assert_true(json_number_value(at(f, "residence_uncertainty_ns")) > 0);
		assert_null_at(f, "withheld");
		assert_string_equal(json_string_value(at(f, "standing")), "whole");
	}
	json_decref(j);
}

static void without_a_calibration_nothing_is_taken_off(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_null_at(j, "flows.0.probes_ns");
	assert_null_at(j, "flows.0.residence_uncertainty_ns");
	assert_null_at(j, "flows.0.residence.0.compensated_mean_ns");
	assert_number_at(j, "flows.0.residence.0.mean_ns", 2);
	json_decref(j);
}

static void bars_that_drown_are_null(void **unused)
{
	json_t *j = calibrated(1000);

	(void)unused;
	assert_string_equal(json_string_value(at(j, "flows.0.withheld")), "uncertainty");
	assert_string_equal(json_string_value(at(j, "flows.0.standing")), "withheld");
	assert_null_at(j, "flows.0.residence.0.mean_ns");
	assert_null_at(j, "flows.0.residence.0.p50_ns");
	assert_null_at(j, "flows.0.probes_ns");
	assert_null_at(j, "flows.0.send_buffer_why.0.mean_ns");
	assert_null_at(j, "flows.0.send_buffer_held.0.mean_ns");
	assert_number_at(j, "flows.0.send_buffer_why.0.share", 1); /* counts stay valid */
	assert_number_at(j, "flows.0.closure_error_cycles", 0);
	assert_int_equal(json_array_size(at(j, "flows.0.waterfalls")), 0);
	json_decref(j);
}

static void nothing_is_kept_back_where_nothing_passed(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	connection_record(&c);
	rx_of(&c, A)->drops.n = 1;
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "flows.2.id")), "1/rx");
	assert_null_at(j, "flows.2.withheld");
	assert_null_at(j, "flows.2.standing");
	assert_null_at(j, "flows.2.residence_total_ns");
	json_decref(j);
}

static void labels_and_last_bytes_are_there(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_fields(j, "flows.0.send_buffer_why.0",
		"reason released_by n bytes share wait_share mean_ns");
	assert_string_equal(
		json_string_value(at(j, "flows.0.send_buffer_why.0.reason")), "immediate");
	assert_string_equal(
		json_string_value(at(j, "flows.0.send_buffer_why.0.released_by")), "own_call");
	assert_null_at(j, "flows.1.send_buffer_why");
	assert_fields(j, "flows.0.send_buffer_held.0",
		"reason bytes share wait_share mean_ns compensated_mean_ns held_ns");
	assert_string_equal(
		json_string_value(at(j, "flows.0.send_buffer_held.0.reason")), "immediate");
	assert_number_at(j, "flows.0.send_buffer_held.0.wait_share", 1);
	assert_null_at(j, "flows.1.send_buffer_held");
	assert_number_at(j, "flows.0.residence_last_byte.n", TRANSFERS);
	assert_number_at(j, "flows.0.residence_last_byte.mean_ns", 7);
	assert_number_at(j, "flows.1.residence_last_byte.n", TRANSFERS);
	assert_number_at(j, "flows.0.driver_refused", 0);
	assert_null_at(j, "flows.1.driver_refused");
	json_decref(j);
}

/* Twenty transfers have ten beyond the median, and no more. */
static void waterfalls_stand_where_there_are_samples(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		const json_t *f = json_array_get(at(j, "flows"), i);

		assert_int_equal(json_array_size(at(f, "waterfalls")), 1);
		assert_number_at(f, "waterfalls.0.quantile", 0.5);
		assert_near(bars(at(f, "waterfalls.0.stages"), "mean_ns"),
			json_number_value(at(f, "waterfalls.0.total_ns")), 1e-9);
	}
	assert_number_at(j, "flows.0.waterfalls.0.total_ns", 7);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_without_magnets_own_and_these_sum_to_the_total),
		cmocka_unit_test(without_a_calibration_nothing_is_taken_off),
		cmocka_unit_test(bars_that_drown_are_null),
		cmocka_unit_test(nothing_is_kept_back_where_nothing_passed),
		cmocka_unit_test(labels_and_last_bytes_are_there),
		cmocka_unit_test(waterfalls_stand_where_there_are_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
