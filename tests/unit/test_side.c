/* SPDX-License-Identifier: MIT */
/* The share of a recording's time that each side covers. */
#include <errno.h>
#include <string.h>

#include "event_table.h"
#include "feed.h"
#include "reported.h"

#define STOP 3000000000ull
#define TID  7

static void end_kernel(struct core *c, uint64_t t, const char *why)
{
	struct mg_event e = feed_event(MG_EVENT_trace_end, t, 0);

	memcpy(e.trace_end.why, why, strlen(why));
	feed(c, &e);
}

static void app(struct core *c, uint16_t id, uint64_t t)
{
	struct mg_event e = feed_event(id, t, 0);

	if (id == MG_EVENT_app_begin)
		e.app_begin.from_ns = t;
	feed(c, &e);
}

static void sides_that_end_in_order_cover_all(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000, STOP);
	app(&c, MG_EVENT_app_begin, 900);
	app(&c, MG_EVENT_app_end, STOP + 10);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	for (int i = 0; i < CORE_SIDES; i++) {
		assert_false(c.side[i].begins_late || c.side[i].ends_early);
		assert_true(side_share(&c, i) == 1);
	}
	assert_int_equal(c.losses.gap_count, 0);
	core_free(&c);
}

static void an_application_side_without_its_end_is_told(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000000000, STOP);
	app(&c, MG_EVENT_app_begin, 900000000);
	ev_app(&c, TID, MG_FN_send, 1499999000, 1499999999, 1);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_true(c.side[CORE_APP].ends_early && !c.side[CORE_APP].in_order);
	assert_false(c.side[CORE_KERNEL].ends_early);
	assert_true(side_share(&c, CORE_APP) == 0.25);
	assert_int_equal(c.losses.gap_count, 1);
	assert_int_equal(c.losses.gaps[0].reason, MG_LOST_NOT_COVERED);
	assert_int_equal(c.losses.gaps[0].layers, 1u << MG_LAYER_APP);
	assert_int_equal(c.losses.gaps[0].from_ns, 1500000000);
	assert_int_equal(c.losses.gaps[0].to_ns, STOP);
	core_free(&c);
}

/* Parts 3 and 5 of 5 parts of the application side are here. */
static void parts_that_are_not_kept_are_told(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_app_begin, 1500000000, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000000000, STOP);
	e.app_begin = (struct mg_app_begin){
		.from_ns = 1500000000, .events = 20, .number = 3, .flight = 1};
	feed(&c, &e);
	ev_app(&c, TID, MG_FN_send, 1599999000, 1599999999, 1);
	e = feed_event(MG_EVENT_app_begin, 2500000000, 0);
	e.app_begin = (struct mg_app_begin){
		.from_ns = 2500000000, .events = 30, .number = 5, .flight = 1};
	feed(&c, &e);
	e = feed_event(MG_EVENT_app_end, STOP + 10, 0);
	e.app_end.events = 30;
	feed(&c, &e);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_true(c.side[CORE_APP].begins_late && !c.side[CORE_APP].ends_early);
	assert_true(side_share(&c, CORE_APP) == 0.75);
	assert_int_equal(c.counts.app_gone, 29);
	assert_int_equal(c.losses.gap_count, 2);
	assert_int_equal(c.losses.gaps[0].reason, MG_LOST_NOT_KEPT);
	assert_int_equal(c.losses.gaps[0].layers, 1u << MG_LAYER_APP);
	assert_int_equal(c.losses.gaps[0].to_ns, 2500000000);
	assert_int_equal(c.losses.gaps[1].reason, MG_LOST_NOT_COVERED);
	assert_int_equal(c.losses.gaps[1].from_ns, 1000000000);
	assert_int_equal(c.losses.gaps[1].to_ns, 1500000000);
	core_free(&c);
}

static void one_of_an_older_version_is_not_judged(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000000000, STOP);
	ev_app(&c, TID, MG_FN_send, 1499999000, 1499999999, 1);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_false(c.side[CORE_APP].known);
	assert_int_equal(c.losses.gap_count, 0);
	core_free(&c);
}

static void a_kernel_side_that_ends_before_is_told(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000000000, STOP);
	end_kernel(&c, 2000000000, "ended by signal 15 (TERM)");
	ev_app(&c, TID, MG_FN_send, 2499999000, 2500000000, 1);
	assert_int_equal(core_finish(&c), 0);
	assert_true(c.side[CORE_KERNEL].ends_early && c.side[CORE_KERNEL].in_order);
	assert_string_equal(c.side[CORE_KERNEL].why, "ended by signal 15 (TERM)");
	assert_true(side_share(&c, CORE_KERNEL) == 0.5);
	assert_int_equal(figures_of(&c)->calls.calls->missing, 1); /* could not be joined */
	assert_true(c.losses.gaps[0].layers >> MG_LAYER_TCP & 1);
	core_free(&c);
}

static void its_program_may_end_before_the_recording(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_know_times(&c, 1000000000, STOP);
	end_kernel(&c, STOP - 500000, "");
	assert_int_equal(core_finish(&c), 0);
	assert_false(c.side[CORE_KERNEL].ends_early);
	core_free(&c);
}

static void parts_not_kept_are_reported(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_chunk, 2000000000, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	core_know_times(&c, 1000000000, STOP);
	e.chunk.number = 7;
	e.chunk.from_ns = 2000000000;
	feed(&c, &e);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_true(c.side[CORE_KERNEL].begins_late && !c.side[CORE_KERNEL].ends_early);
	assert_true(side_share(&c, CORE_KERNEL) == 0.5);
	core_free(&c);
}

static void a_part_that_is_gone_leaves_a_gap(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_chunk, 1000000000, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	e.chunk.number = 1;
	e.chunk.from_ns = 1000000000;
	feed(&c, &e);
	e = feed_event(MG_EVENT_chunk_end, 1500000000, 0);
	e.chunk_end.number = 1;
	feed(&c, &e);
	e = feed_event(MG_EVENT_chunk, 2000000000, 0);
	e.chunk.number = 4;
	e.chunk.from_ns = e.chunk.before_ns = 2000000000;
	feed(&c, &e);
	end_kernel(&c, STOP, "");
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(c.rotated.parts_missing, 2);
	assert_int_equal(c.rotated.first_part, 1);
	assert_int_equal(c.losses.gap_count, 1);
	assert_int_equal(c.losses.gaps[0].reason, MG_LOST_NOT_HERE);
	assert_int_equal(c.losses.gaps[0].from_ns, 1500000000);
	assert_int_equal(c.losses.gaps[0].to_ns, 2000000000);
	assert_int_equal(c.counts.lost_kernel, 0);
	core_free(&c);
}

static void hook(struct core *c, uint64_t t, const char *layer, const char *name, int status)
{
	struct mg_event e = feed_event(MG_EVENT_hook, t, 0);

	memcpy(e.hook.layer, layer, strlen(layer));
	memcpy(e.hook.hook, name, strlen(name));
	e.hook.status = status;
	feed(c, &e);
}

static void assert_off(const struct core *c, int at, int layer, uint64_t from, uint64_t to)
{
	const struct gap *g = &c->losses.gaps[at];

	assert_int_equal(g->reason, MG_LOST_LAYER_OFF);
	assert_int_equal(g->layers, 1u << layer);
	assert_int_equal(g->from_ns, from);
	assert_int_equal(g->to_ns, to);
	assert_false(gap_is_loss(g));
}

static void a_layer_that_is_switched_off_leaves_a_gap(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	core_know_times(&c, 100, STOP);
	hook(&c, 200, "tcp", "tcp_recv", 0);
	hook(&c, 200, "tcp", "tcp_ready", 0);
	hook(&c, 200, "socket", "lock_wait", -EPERM);
	ev_sync(&c, 300, 300, 0);
	hook(&c, 1000, "tcp", "tcp_ready", -ENOLINK); /* another one of the layer stays */
	hook(&c, 2000, "tcp", "tcp_recv", -ENOLINK);
	hook(&c, 3000, "tcp", "tcp_recv", 0);
	hook(&c, 4000, "sched", "sched_switch", 0); /* not recorded from the beginning */
	hook(&c, 5000, "tcp", "tcp_recv", -ENOLINK);
	hook(&c, 6000, "sched", "sched_switch", -EPERM); /* says so itself */
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(c.losses.gap_count, 3);
	assert_off(&c, 0, MG_LAYER_TCP, 2000, 3000);
	assert_off(&c, 1, MG_LAYER_SCHED, 100, 4000);
	assert_off(&c, 2, MG_LAYER_TCP, 5000, STOP + 20);
	assert_int_equal(c.counts.lost_kernel, 0);
	core_free(&c);
}

/*
 * A tracer that was started by hand, and the program's calls from another tracer, without a begin
 * or an end: attached is all at `attached`. A call is recorded by both sides at 1,999,999,000 ns.
 */
static void by_hand(struct core *c, uint64_t attached)
{
	hook(c, attached - 2000, "syscall", "sys_enter", 0);
	hook(c, attached - 2000, "syscall", "sys_exit", 0);
	ev_enter(c, attached - 1500, TID + 1, 2, MG_SYS_socket, 0); /* while it attaches the rest */
	ev_sync(c, attached, attached, 0);
}

static void call_of_both(struct core *c, uint64_t t)
{
	ev_enter(c, t + 10, TID, 1, MG_SYS_sendto, 0);
	ev_exit(c, t + 20, TID, 1, MG_SYS_sendto, 1, 1);
	ev_app(c, TID, MG_FN_send, t, t + 30, 1);
}

static void assert_gap(const json_t *j, double from, double to)
{
	assert_number_at(j, "loss.gaps.0.from_ns", from);
	assert_number_at(j, "loss.gaps.0.to_ns", to);
	assert_int_equal(json_array_size(json_object_get(json_object_get(j, "loss"), "gaps")), 1);
}

static void calls_before_a_tracer_started_by_hand_are_told(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	ev_app(&c, TID, MG_FN_send, 999999000, 999999999, 1);
	ev_app(&c, TID, MG_FN_send, 1199999000, 1199999999, 1);
	by_hand(&c, 1500000000);
	ev_app(&c, TID, MG_FN_send, 1499998900, 1500000100, 1); /* begun while it attached */
	call_of_both(&c, 1999999000);
	end_kernel(&c, 2000000000, "");
	j = reported(&c);
	assert_gap(j, 1000000000, 1500000000);
	assert_number_at(j, "session.sides.kernel.from_ns", 1500000000);
	assert_number_at(j, "session.sides.kernel.coverage", 0.5);
	assert_null_at(j, "session.sides.kernel.ended");
	assert_number_at(j, "calls.0.n", 4);
	assert_number_at(j, "calls.0.joined", 1);
	assert_number_at(j, "calls.0.coverage", 0.25);
	json_decref(j);
}

static void a_tracer_started_after_all_calls_covers_none(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	ev_app(&c, TID, MG_FN_send, 999999000, 999999999, 1);
	by_hand(&c, 1500000000);
	end_kernel(&c, 2000000000, "");
	j = reported(&c);
	assert_gap(j, 1000000000, 1500000000);
	assert_number_at(j, "calls.0.coverage", 0);
	json_decref(j);
}

static void a_tracer_started_before_all_calls_is_whole(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	by_hand(&c, 1500000000);
	call_of_both(&c, 1999999000);
	end_kernel(&c, 2500000000, "");
	assert_int_equal(core_finish(&c), 0);
	assert_true(c.side[CORE_KERNEL].known);
	assert_false(c.side[CORE_KERNEL].begins_late || c.side[CORE_KERNEL].ends_early);
	assert_int_equal(c.losses.gap_count, 0);
	core_free(&c);
}

/* However short after its end: the tracer told when that was. */
static void calls_after_a_tracers_end_are_told(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	by_hand(&c, 1500000000);
	call_of_both(&c, 1999999000);
	end_kernel(&c, 2000000000, "");
	ev_sync(&c, 2000400000, 2000400000, 0); /* the application side's */
	ev_app(&c, TID, MG_FN_send, 2000500000, 2000999999, 1);
	ev_sync(&c, 2002000000, 2002000000, 0);
	j = reported(&c);
	assert_gap(j, 2000000000, 2001000000);
	assert_null_at(j, "session.sides.kernel.from_ns");
	assert_number_at(j, "calls.0.coverage", 0.5);
	json_decref(j);
}

static void magnets_own_recording_is_judged_by_its_times(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	core_know_times(&c, 1000000000, STOP);
	ev_app(&c, TID, MG_FN_send, 1499999000, 1499999100, 1);
	by_hand(&c, 1500000000);
	call_of_both(&c, 1999999000);
	end_kernel(&c, STOP + 20, "");
	assert_int_equal(core_finish(&c), 0);
	assert_false(c.side[CORE_KERNEL].begins_late || c.side[CORE_KERNEL].ends_early);
	core_free(&c);
}

static void each_trace_tells_how_much_is_in_it(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	core_expect_contents(&c, CORE_KERNEL);
	core_expect_contents(&c, CORE_KERNEL);
	core_read_trace(&c, CORE_KERNEL, 99, 100);
	core_read_trace(&c, CORE_KERNEL, 11, 11);
	core_unknown_events(&c, CORE_KERNEL, 3, "tcp_sunk");
	core_unknown_events(&c, CORE_KERNEL, 4, "tcp_sank");
	core_missing_packets(&c, CORE_KERNEL, 2, 1000000000, 1100000000, 1);
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(c.side[CORE_KERNEL].ended, c.side[CORE_KERNEL].traces);
	assert_int_equal(c.side[CORE_KERNEL].not_here, 1);
	assert_int_equal(c.side[CORE_KERNEL].read, 110);
	assert_int_equal(c.side[CORE_KERNEL].unknown, 7);
	assert_string_equal(c.side[CORE_KERNEL].unknown_name, "tcp_sank");
	assert_int_equal(c.losses.gaps[0].count, 2);
	assert_int_equal(c.losses.gaps[0].cpu, 1);
	assert_false(gap_is_loss(&c.losses.gaps[0]));
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sides_that_end_in_order_cover_all),
		cmocka_unit_test(an_application_side_without_its_end_is_told),
		cmocka_unit_test(parts_that_are_not_kept_are_told),
		cmocka_unit_test(one_of_an_older_version_is_not_judged),
		cmocka_unit_test(a_kernel_side_that_ends_before_is_told),
		cmocka_unit_test(its_program_may_end_before_the_recording),
		cmocka_unit_test(parts_not_kept_are_reported),
		cmocka_unit_test(a_part_that_is_gone_leaves_a_gap),
		cmocka_unit_test(a_layer_that_is_switched_off_leaves_a_gap),
		cmocka_unit_test(calls_before_a_tracer_started_by_hand_are_told),
		cmocka_unit_test(a_tracer_started_after_all_calls_covers_none),
		cmocka_unit_test(a_tracer_started_before_all_calls_is_whole),
		cmocka_unit_test(calls_after_a_tracers_end_are_told),
		cmocka_unit_test(magnets_own_recording_is_judged_by_its_times),
		cmocka_unit_test(each_trace_tells_how_much_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
