/* SPDX-License-Identifier: MIT */
/* gap.c: missing events, and the figures they touch. */
#include "socket/socket.h"
#include "event_table.h"
#include "feed.h"

#define TID  10
#define SOCK 1

static void lost(struct core *c, uint64_t t, uint32_t reason, const char *producer, uint64_t count)
{
	struct mg_event e = feed_event(MG_EVENT_lost, t, 0);

	e.lost = (struct mg_lost){
		.count = count, .from_ns = t - 100, .to_ns = t, .cpu = -1, .reason = reason};
	memcpy(e.lost.producer, producer, strlen(producer));
	feed(c, &e);
}

static void a_skipped_program_touches_its_own_layer(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_SKIPPED, "dev_recv", 3);
	core_finish(&c);
	assert_int_equal(rx_of(&c, SOCK)->missing.layers, 1u << MG_LAYER_DEVICE);
	assert_int_equal(rx_of(&c, SOCK)->missing.gaps, 1);
	assert_int_equal(c.counts.lost_kernel, 3);
	feed_end(&c);
}

static void assert_missed(const struct flow *f, struct mg_events expected)
{
	assert_memory_equal(&f->missing.events, &expected, sizeof(expected));
}

static void events_that_rest_on_a_skipped_one_are_missed_with_it(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_SKIPPED, "dev_xmit", 3);
	core_finish(&c);
	assert_missed(tx_of(&c, SOCK), MG_EVENTS(dev_xmit, dev_done));
	assert_int_equal(c.counts.lost_kernel, 3);
	feed_end(&c);
}

static void where_tracing_programs_do_not_run_calls_and_ip_are_whole(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_NOT_RUN, "hooks not run in process 1", 4);
	core_finish(&c);
	assert_false(mg_events_meet(
		rx_of(&c, SOCK)->missing.events, MG_EVENTS(ip_in, ip_out, sys_enter, sys_exit)));
	assert_true(
		mg_events_have_all(rx_of(&c, SOCK)->missing.events, MG_EVENTS(dev_recv, tcp_recv)));
	assert_false(rx_of(&c, SOCK)->missing.layers &
		     (1u << MG_LAYER_IP | 1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SOCKET));
	assert_int_equal(c.counts.lost_kernel, 4);
	feed_end(&c);
}

static void a_full_ring_touches_all_and_a_chosen_event_none(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_CHOSEN, "events", 5);
	lost(&c, 3000, MG_LOST_NOT_FOLLOWED, "too many connections", 1);
	core_finish(&c);
	assert_false(rx_of(&c, SOCK)->missing.layers & 1u << MG_LAYER_SYSCALL);
	assert_true(rx_of(&c, SOCK)->missing.layers & 1u << MG_LAYER_IP);
	assert_int_equal(rx_of(&c, SOCK)->missing.gaps, 1);
	assert_int_equal(c.counts.lost_app, 0);
	assert_int_equal(c.counts.lost_kernel, 6);
	feed_end(&c);
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_CALLS, "calls of 32-bit programs", 2);
	core_finish(&c);
	assert_int_equal(rx_of(&c, SOCK)->missing.layers, 1u << MG_LAYER_SYSCALL);
	assert_int_equal(c.counts.lost_kernel, 2);
	feed_end(&c);
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	lost(&c, 2000, MG_LOST_RING_FULL, "ring", 2);
	lost(&c, 3000, MG_LOST_APP + 2, "libmagnet, thread 5", 4);
	core_finish(&c);
	assert_true(rx_of(&c, SOCK)->missing.layers & 1u << MG_LAYER_SYSCALL);
	assert_true(rx_of(&c, SOCK)->missing.layers & 1u << MG_LAYER_APP);
	assert_int_equal(c.counts.lost_app, 4);
	assert_int_equal(c.counts.lost_kernel, 2);
	feed_end(&c);
}

/* A call that spans a pause would otherwise count the later activity as its own. */
static void a_pause_is_no_loss_and_ends_what_threads_did(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	feed_segment(&c, SOCK, 5000, 1000, 1000, 10);
	feed_recv(&c, TID, SOCK, 5000, 1000, 2000, 100);
	ev_enter(&c, 5000, TID, SOCK, MG_SYS_recvfrom, 6000);
	lost(&c, 90000, MG_LOST_PAUSED, "paused", 77);
	ev_exit(&c, 95000, TID, SOCK, MG_SYS_recvfrom, 6500, 500);
	core_finish(&c);
	assert_int_equal(c.counts.lost_kernel, 0);
	assert_int_equal(c.losses.gap_count, 1);
	assert_false(gap_is_loss(&c.losses.gaps[0]));
	assert_int_equal(rx_of(&c, SOCK)->use.calls, 1);
	assert_int_equal(rx_of(&c, SOCK)->use.open, 0);
	feed_end(&c);
}

/* Earlier events still wait for a clock reading when the reader reaches the gap. */
static void packets_that_are_not_here_touch_who_lived_then(void **unused)
{
	const uint64_t ms = 1000000;
	struct core c;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	ev_hook(&c, 1, "tcp_recv", 0, 0);
	ev_sync(&c, 1, 1, 0);
	ev_sync(&c, 50 * ms, 50 * ms, 0);
	ev_opened(&c, 60 * ms, SOCK, 999, 4999);
	ev_opened(&c, 61 * ms, SOCK + 1, 1999, 5999);
	ev_closed(&c, 62 * ms, SOCK + 1);
	ev_enter(&c, 70 * ms, TID, SOCK, MG_SYS_recvfrom, 5000);
	core_missing_packets(&c, CORE_KERNEL, 3, 80 * ms, 90 * ms, 1);
	assert_int_equal(c.losses.gap_count, 0);
	ev_opened(&c, 85 * ms, SOCK + 2, 2999, 6999);
	ev_exit(&c, 95 * ms, TID, SOCK, MG_SYS_recvfrom, 5500, 500);
	ev_opened(&c, 96 * ms, SOCK + 3, 2999, 6999);
	ev_sync(&c, 150 * ms, 150 * ms, 0);
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(c.losses.gap_count, 1);
	assert_int_equal(c.losses.gaps[0].count, 3);
	assert_string_equal(c.losses.gaps[0].producer, "packets");
	assert_int_equal(rx_of(&c, SOCK)->missing.gaps, 1);
	assert_missed(rx_of(&c, SOCK), mg_events_all());
	assert_int_equal(rx_of(&c, SOCK + 1)->missing.gaps, 0);
	assert_int_equal(rx_of(&c, SOCK + 2)->missing.gaps, 1);
	assert_int_equal(rx_of(&c, SOCK + 3)->missing.gaps, 0);
	assert_int_equal(rx_of(&c, SOCK)->use.calls, 0); /* it may have been another call's end */
	assert_int_equal(c.counts.lost_kernel, 0);
	feed_end(&c);
}

static void gaps_between_chunks_are_not_kept(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_chunk, 9000, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	e.chunk = (struct mg_chunk){.from_ns = 9000, .before_ns = 9000, .number = 2};
	feed(&c, &e);
	core_finish(&c);
	assert_int_equal(c.losses.gap_count, 0);
	feed_end(&c);
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	e.chunk.before_ns = 5000;
	feed(&c, &e);
	core_finish(&c);
	assert_int_equal(c.losses.gap_count, 1);
	assert_int_equal(c.losses.gaps[0].from_ns, 5000);
	assert_int_equal(c.losses.gaps[0].reason, MG_LOST_NOT_KEPT);
	assert_int_equal(c.counts.lost_kernel, 0);
	feed_end(&c);
}

#define SECOND 1000000000ull

/* The cost of a loss depends on live sockets, however many connections there were. */
static void sockets_closed_long_ago_are_not_checked(void **unused)
{
	const uint64_t again = SOCK + 2 + FLOW_CONNECTION;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	ev_opened(&c, 20, SOCK + 1, 1999, 5999);
	ev_opened(&c, 30, SOCK + 2, 2999, 6999);
	ev_closed(&c, 40, SOCK + 1);
	ev_closed(&c, 50, SOCK + 2);
	lost(&c, 2000, MG_LOST_RING_FULL, "ring", 2);
	ev_waking(&c, 2 * SECOND, TID);
	lost(&c, 3 * SECOND, MG_LOST_RING_FULL, "ring", 2);
	ev_opened(&c, 3 * SECOND + 10, SOCK + 2, 999, 4999); /* connected once more */
	lost(&c, 4 * SECOND, MG_LOST_RING_FULL, "ring", 2);
	assert_int_equal(rx_of(&c, SOCK)->missing.gaps, 3);
	assert_int_equal(rx_of(&c, SOCK + 1)->missing.gaps, 0);
	assert_int_equal(rx_of(&c, SOCK + 2)->missing.gaps, 0);
	assert_int_equal(rx_of(&c, again)->missing.gaps, 1);
	assert_int_equal(sock_next_live(&c, NULL)->cookie, again);
	assert_int_equal(sock_next_live(&c, sock_next_live(&c, NULL))->cookie, SOCK);
	assert_null(sock_next_live(&c, rx_of(&c, SOCK)->sock));
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_skipped_program_touches_its_own_layer),
		cmocka_unit_test(events_that_rest_on_a_skipped_one_are_missed_with_it),
		cmocka_unit_test(where_tracing_programs_do_not_run_calls_and_ip_are_whole),
		cmocka_unit_test(a_full_ring_touches_all_and_a_chosen_event_none),
		cmocka_unit_test(a_pause_is_no_loss_and_ends_what_threads_did),
		cmocka_unit_test(gaps_between_chunks_are_not_kept),
		cmocka_unit_test(sockets_closed_long_ago_are_not_checked),
		cmocka_unit_test(packets_that_are_not_here_touch_who_lived_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
