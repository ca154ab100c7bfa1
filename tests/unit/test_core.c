/* SPDX-License-Identifier: MIT */
/* Order, clock, hooks and losses; calls and bytes are tested in their own files. */
#include "feed.h"

#define TID  10
#define SOCK 1
#define MS   1000000ull
#define S    1000000000ull

/* Events that listeners got, in order. */
struct heard {
	uint64_t ns[8], cycles[8];
	uint32_t n;
};

static void listen(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct heard *h = arg;

	if (h->n < COUNT(h->ns)) {
		h->ns[h->n] = e->time_ns;
		h->cycles[h->n] = a->cycles;
	}
	h->n++;
}

static void begin_listening(struct core *c, struct heard *h)
{
	memset(h, 0, sizeof(*h));
	core_init(c);
	core_listen(c, listen, h);
}

static void some_event(struct core *c, uint64_t t)
{
	ev_packet(c, t, 0, MG_EVENT_dev_recv, SOCK, 5000, 100);
}

/* 2.5 cycles a nanosecond. */
static void sync_at(struct core *c, uint64_t ns)
{
	ev_sync(c, ns, 7000 + ns * 5 / 2, 0);
}

static void events_wait_until_the_clock_is_known_around_them(void **unused)
{
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	some_event(&c, 10 * MS);
	some_event(&c, 20 * MS);
	assert_int_equal(h.n, 0);
	sync_at(&c, 100 * MS);
	assert_int_equal(h.n, 0); /* one point is no line */
	some_event(&c, 150 * MS);
	sync_at(&c, 200 * MS);
	assert_int_equal(h.n, 5); /* including the synchronisation points */
	some_event(&c, 250 * MS);
	assert_int_equal(h.n, 5);
	sync_at(&c, 300 * MS);
	assert_int_equal(h.n, 7);
	feed_end(&c);
}

static void waiting_events_get_exact_times_and_keep_their_order(void **unused)
{
	static const uint64_t ns[] = {10 * MS, 20 * MS, 100 * MS, 150 * MS, 200 * MS};
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	some_event(&c, ns[0]);
	some_event(&c, ns[1]);
	sync_at(&c, ns[2]);
	some_event(&c, ns[3]);
	sync_at(&c, ns[4]);
	for (size_t i = 0; i < COUNT(ns); i++) {
		assert_int_equal(h.ns[i], ns[i]);
		assert_int_equal(h.cycles[i], 7000 + ns[i] * 5 / 2);
	}
	feed_end(&c);
}

static void many_may_wait(void **unused)
{
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	sync_at(&c, 1);
	for (uint64_t i = 0; i < 5000; i++)
		some_event(&c, 2 + i);
	assert_int_equal(h.n, 0);
	sync_at(&c, 50 * MS);
	assert_int_equal(h.n, 5002);
	for (uint64_t i = 0; i < 5000; i++) /* uses the waiting room several times over */
		some_event(&c, 51 * MS + i);
	sync_at(&c, 100 * MS);
	assert_int_equal(h.n, 10003);
	feed_end(&c);
}

static void the_end_releases_what_still_waits(void **unused)
{
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	sync_at(&c, 100 * MS);
	sync_at(&c, 200 * MS);
	some_event(&c, 250 * MS);
	assert_int_equal(h.n, 2);
	core_finish(&c);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.cycles[2], 7000 + 625 * MS);
	core_free(&c);
}

/* A tracer that has died reads no clock any more; later calls of the program still count. */
static void a_clock_that_is_silent_for_long_is_not_waited_for(void **unused)
{
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	sync_at(&c, 100 * MS);
	sync_at(&c, 200 * MS);
	some_event(&c, 250 * MS);
	some_event(&c, 2 * S);
	assert_int_equal(h.n, 2);
	some_event(&c, 250 * MS + 2 * S);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.cycles[2], 7000 + 625 * MS);
	feed_end(&c);
}

/* Without the kernel side the program's own events give the rate: they carry both times. */
static void without_any_reading_the_programs_events_give_the_clock(void **unused)
{
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_send, 0, TID);
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	for (uint64_t i = 1; i <= 30; i++) {
		e.time_ns = i * 100 * MS;
		e.call.exit = 7000 + e.time_ns * 5 / 2;
		e.call.enter = e.call.exit - 500;
		e.call.tid = TID;
		feed(&c, &e);
	}
	core_finish(&c);
	assert_int_equal(h.n, 30);
	assert_near(clockmap_hz(&c.clock), 2.5e9, 1);
	assert_int_equal(h.cycles[0], 7000 + 250 * MS);
	core_free(&c);
}

static void a_clock_that_is_given_makes_events_pass_at_once(void **unused)
{
	struct heard h;
	struct core c;

	(void)unused;
	begin_listening(&c, &h);
	core_give_clock(&c, 100, 7250, 0);
	core_give_clock(&c, S, 7000 + S * 5 / 2, 0);
	some_event(&c, 10);
	some_event(&c, 5 * S);
	assert_int_equal(h.n, 2);
	assert_int_equal(h.cycles[0], 7025);
	assert_int_equal(h.cycles[1], 7000 + 5 * S * 5 / 2);
	feed_end(&c);
}

static void events_are_counted_by_where_they_come_from(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS); /* hooks are announced by the tracer */
	some_event(&c, 2000);
	some_event(&c, 2100);
	ev_app(&c, TID, MG_FN_send, 3000, 3100, 5);
	assert_int_equal(c.counts.kernel_events, 2);
	assert_int_equal(c.counts.app_events, 1);
	assert_int_equal(c.times.last_ns, 3101);
	feed_end(&c);
}

static void assert_hooked(struct mg_events are, struct mg_events expected)
{
	assert_memory_equal(&are, &expected, sizeof(are));
}

static void only_hooks_that_were_attached_are_expected(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "dev_xmit");
	ev_hook(&c, 5, "dev_queue", -22, 0);
	ev_hook(&c, 5, "no_such_event", 0, 0);
	assert_hooked(core_hooked(&c, 0), MG_EVENTS(dev_xmit));
	assert_hooked(core_hooked(&c, 4026531840u), MG_EVENTS(dev_xmit));
	assert_int_equal(c.probes.hook_count, 3);
	assert_string_equal(c.probes.hooks[1].what, "dev_queue");
	assert_int_equal(c.probes.hooks[1].status, -22);
	feed_end(&c);
}

/* netfilter hooks belong to one network namespace each. */
static void hooks_may_belong_to_a_namespace(void **unused)
{
	const struct mg_events everywhere = MG_EVENTS(dev_xmit);
	struct core c;

	(void)unused;
	feed_begin(&c, "dev_xmit");
	ev_hook(&c, 5, "ip_out ipv4", 0, 111);
	ev_hook(&c, 5, "ip_out ipv6", 0, 111);
	ev_hook(&c, 6, "ip", -1, 222); /* that namespace could not be entered */
	assert_hooked(core_hooked(&c, 111), MG_EVENTS(dev_xmit, ip_out));
	assert_hooked(core_hooked(&c, 222), everywhere);
	assert_hooked(core_hooked(&c, 333), everywhere);
	assert_hooked(core_hooked(&c, 0), everywhere);
	feed_end(&c);
}

/* One of a namespace's hooks may be refused while another namespace takes both. */
static void a_hook_refused_in_a_namespace_is_not_expected_there(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "dev_xmit");
	ev_hook(&c, 5, "ip_out ipv4", 0, 111);
	ev_hook(&c, 5, "ip_in ipv4", -16, 111);
	ev_hook(&c, 6, "ip_out ipv4", 0, 222);
	ev_hook(&c, 6, "ip_in ipv4", 0, 222);
	assert_true(mg_events_have(core_hooked(&c, 111), MG_EVENT_ip_out));
	assert_false(mg_events_have(core_hooked(&c, 111), MG_EVENT_ip_in));
	assert_true(mg_events_have(core_hooked(&c, 222), MG_EVENT_ip_in));
	feed_end(&c);
}

static void losses_are_kept_with_their_place(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_lost(&c, 500, 7, 400, 500);
	core_lost_app(&c, 3, 600, 700, -1);
	assert_int_equal(c.counts.lost_kernel, 7);
	assert_int_equal(c.counts.lost_app, 3);
	assert_int_equal(c.losses.gap_count, 2);
	assert_string_equal(c.losses.gaps[0].producer, "ring");
	assert_int_equal(c.losses.gaps[0].from_ns, 400);
	assert_int_equal(c.losses.gaps[0].to_ns, 500);
	assert_string_equal(c.losses.gaps[1].producer, "lttng-ust");
	assert_int_equal(c.losses.gaps[1].count, 3);
	feed_end(&c);
}

static void a_loss_touches_the_sockets_of_its_time(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 1, 999, 4999);
	ev_opened(&c, 20, 2, 888, 4888);
	ev_closed(&c, 30, 2);
	ev_lost(&c, 500, 7, 400, 500);
	ev_opened(&c, 600, 3, 777, 4777);
	assert_int_equal(tx_of(&c, 1)->missing.gaps, 1);
	assert_int_equal(rx_of(&c, 1)->missing.gaps, 1);
	assert_int_equal(tx_of(&c, 2)->missing.gaps, 0);
	assert_int_equal(tx_of(&c, 3)->missing.gaps, 0);
	feed_end(&c);
}

static void threads_have_the_names_they_were_given(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_task_exec, 30, TID + 1);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_fork(&c, 20, TID, TID + 1, "a-name-of-15-ch");
	assert_string_equal(thread_of(&c, TID + 1)->comm, "a-name-of-15-ch");
	memcpy(e.task_exec.comm, "sixteen-without-0", 16); /* not terminated */
	feed(&c, &e);
	assert_string_equal(thread_of(&c, TID + 1)->comm, "sixteen-without");
	assert_true(thread_of(&c, TID + 1)->traced);
	feed_end(&c);
}

static void totals_at_the_end_are_kept(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_trace_end, 900, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	assert_false(c.trace.has_end);
	e.trace_end.events = 42;
	feed(&c, &e);
	assert_true(c.trace.has_end);
	assert_int_equal(c.trace.end.events, 42);
	ev_calibration(&c, 1, 2, 3);
	assert_true(c.trace.has_calibration);
	assert_int_equal(c.trace.calibration.event_spread, 3);
	feed_end(&c);
}

/* A trace may be damaged, or newer than this version: nothing in it may crash the reader. */
static void unknown_events_are_harmless(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (uint32_t id = 0; id < 200; id++) {
		struct mg_event e = feed_event((uint16_t)id, 5000 + id, TID);

		memset(&e.sys_enter, 0xff, sizeof(e) - offsetof(struct mg_event, sys_enter));
		/* these would move the clock, rightly, or hold pointers that no trace can set */
		if (id != MG_EVENT_clock_sync && id != MG_EVENT_other)
			feed(&c, &e);
	}
	core_finish(&c);
	core_free(&c);
}

static void system_calls_without_a_thread_are_ignored(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_enter(&c, 1000, 0, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 1100, 0, SOCK, MG_SYS_sendto, 0, -11);
	feed_end(&c);
}

static void an_empty_recording_has_an_end_too(void **unused)
{
	struct core c;

	(void)unused;
	core_init(&c);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_wait_until_the_clock_is_known_around_them),
		cmocka_unit_test(waiting_events_get_exact_times_and_keep_their_order),
		cmocka_unit_test(many_may_wait),
		cmocka_unit_test(the_end_releases_what_still_waits),
		cmocka_unit_test(a_clock_that_is_silent_for_long_is_not_waited_for),
		cmocka_unit_test(without_any_reading_the_programs_events_give_the_clock),
		cmocka_unit_test(a_clock_that_is_given_makes_events_pass_at_once),
		cmocka_unit_test(events_are_counted_by_where_they_come_from),
		cmocka_unit_test(only_hooks_that_were_attached_are_expected),
		cmocka_unit_test(hooks_may_belong_to_a_namespace),
		cmocka_unit_test(a_hook_refused_in_a_namespace_is_not_expected_there),
		cmocka_unit_test(losses_are_kept_with_their_place),
		cmocka_unit_test(a_loss_touches_the_sockets_of_its_time),
		cmocka_unit_test(threads_have_the_names_they_were_given),
		cmocka_unit_test(totals_at_the_end_are_kept),
		cmocka_unit_test(unknown_events_are_harmless),
		cmocka_unit_test(system_calls_without_a_thread_are_ignored),
		cmocka_unit_test(an_empty_recording_has_an_end_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
