/* SPDX-License-Identifier: MIT */
/* Sets of events: every id of the system's has its place, also beyond 64, and others have none. */
#include "event_set.h"

#include "unit.h"

static void a_set_has_what_was_added_and_nothing_else(void **unused)
{
	(void)unused;
	for (unsigned int id = 1; id < MG_TRACER_BASE; id++) {
		struct mg_events s = {{0}};

		mg_events_add(&s, id);
		for (unsigned int other = 0; other < 256; other++)
			assert_int_equal(mg_events_have(s, other), other == id);
	}
}

static void ids_lie_on_both_sides_of_a_word(void **unused)
{
	(void)unused;
	assert_in_range(MG_EVENT_sys_enter, 1, 63);
	assert_in_range(MG_EVENT_sched_cost, 65, MG_TRACER_BASE - 1);
}

static void no_event_of_the_tracer_or_the_program_is_in_a_set(void **unused)
{
	struct mg_events s = {{0}};

	(void)unused;
	mg_events_add(&s, 0);
	mg_events_add(&s, MG_EVENT_lost);
	mg_events_add(&s, MG_APP_BASE);
	mg_events_add(&s, 65535);
	assert_false(mg_events_any(s));
	s = mg_events_all();
	assert_false(mg_events_have(s, 0));
	assert_false(mg_events_have(s, MG_TRACER_BASE));
	assert_true(mg_events_have(s, MG_TRACER_BASE - 1));
}

static void sets_are_united_compared_and_taken_apart(void **unused)
{
	struct mg_events ip = MG_EVENTS(ip_out, ip_in), more = MG_EVENTS(ip_in, sched_cost);

	(void)unused;
	assert_true(mg_events_meet(ip, more));
	assert_false(mg_events_have_all(ip, more));
	mg_events_add_all(&ip, more);
	assert_true(mg_events_have_all(ip, more));
	assert_true(mg_events_have(ip, MG_EVENT_sched_cost));
	ip = mg_events_without(ip, more);
	assert_true(mg_events_have(ip, MG_EVENT_ip_out));
	assert_false(mg_events_meet(ip, more));
	assert_true(mg_events_any(ip));
	assert_true(mg_events_have_all(mg_events_all(), more));
}

static void a_list_of_names_has_up_to_eight(void **unused)
{
	struct mg_events s = MG_EVENTS(
		sys_enter, sys_exit, tcp_send, ip_out, ip_post, dev_queue, dev_xmit, dev_done);

	(void)unused;
	assert_true(mg_events_have(s, MG_EVENT_sys_enter));
	assert_true(mg_events_have(s, MG_EVENT_dev_done));
	assert_int_equal(__builtin_popcountll(s.word[0]) + __builtin_popcountll(s.word[1]), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_what_was_added_and_nothing_else),
		cmocka_unit_test(ids_lie_on_both_sides_of_a_word),
		cmocka_unit_test(no_event_of_the_tracer_or_the_program_is_in_a_set),
		cmocka_unit_test(sets_are_united_compared_and_taken_apart),
		cmocka_unit_test(a_list_of_names_has_up_to_eight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
