/* SPDX-License-Identifier: MIT */
/*
 * Head-of-line waits, most of them at an end that has shut its sending side, where TCP has no event
 * of its own; the peer's ISN is 4999, so that byte 0 is number 5000.
 */
#include "feed.h"

#define TID      10
#define OTHER    11
#define SOCK     1
#define RCVLOWAT (1 << 16 | 18)

static void open_core(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_shut(c, 20, SOCK, 1000);
}

static void arrive(struct core *c, uint64_t at, uint32_t seq, uint32_t len)
{
	ev_packet(c, at, 0, MG_EVENT_dev_recv, SOCK, seq, len);
	ev_packet(c, at + 100, 0, MG_EVENT_ip_in, SOCK, seq, len);
}

static void assert_bars(struct core *c, uint64_t dev_ip, uint64_t ip_tcp, uint64_t order)
{
	const struct flow *f = rx_of(c, SOCK);

	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), dev_ip);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), ip_tcp);
	assert_int_equal(stage_sum(f, RX_STAGE_ORDER), order);
	assert_int_equal(f->incomplete, 0);
}

static void bytes_wait_for_those_before_until_these_arrive(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	arrive(&c, 2000, 6000, 1000);
	arrive(&c, 2500, 7000, 500);
	arrive(&c, 4000, 5000, 1000);
	ev_ready(&c, 4130, SOCK, 7500);
	feed_recv(&c, TID, SOCK, 5000, 2500, 9000, 100);
	assert_bars(&c, 100 * 2500, 30 * 2500, 2000 * 1000 + 1500 * 500);
	assert_int_equal(rx_of(&c, SOCK)->complete, 2500);
	feed_end(&c);
}

/* The first bytes of a read are settled before those that waited for them. */
static void head_of_line_wait_is_independent_of_the_number_of_reads(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	arrive(&c, 2000, 6000, 1000);
	arrive(&c, 4000, 5000, 1000);
	ev_ready(&c, 4130, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 9000, 100);
	feed_recv(&c, TID, SOCK, 6000, 600, 10000, 100);
	feed_recv(&c, TID, SOCK, 6600, 400, 11000, 100);
	assert_bars(&c, 100 * 2000, 30 * 2000, 2000 * 1000);
	feed_end(&c);
}

static void without_ip_the_device_tells_when_they_arrived(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "sys_enter,sys_exit,dev_recv,tcp_recv,tcp_ready,sock_copy");
	ev_packet(&c, 2000, 0, MG_EVENT_dev_recv, SOCK, 6000, 1000);
	ev_packet(&c, 4000, 0, MG_EVENT_dev_recv, SOCK, 5000, 1000);
	ev_ready(&c, 4130, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	assert_bars(&c, 0, 130 * 2000, 2000 * 1000);
	feed_end(&c);
}

static void bytes_in_order_do_not_wait(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	arrive(&c, 2000, 5000, 1000);
	ev_ready(&c, 2130, SOCK, 6000);
	arrive(&c, 3000, 6000, 1000);
	ev_ready(&c, 3130, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	assert_bars(&c, 100 * 2000, 30 * 2000, 0);
	feed_end(&c);
}

/* One of two copies filled the hole. */
static void hole_filled_by_one_of_two_copies_is_ambiguous(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	arrive(&c, 2000, 5000, 1000);
	arrive(&c, 3000, 6000, 1000);
	arrive(&c, 5000, 5000, 1000);
	ev_ready(&c, 5130, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_bars(&c, 0, 0, 0);
	assert_int_equal(f->complete, 2000);
	assert_int_equal(f->copies.ambiguous, 1000);
	assert_int_equal(f->copies.undivided, 1000);
	assert_int_equal(measures_in(f)->residence.n, 0);
	feed_end(&c);
}

/* No event says when the first bytes were in order: the reader wanted both. */
static void order_time_is_unknown_below_the_low_water_mark(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter_flags(&c, 500, OTHER, SOCK, MG_SYS_setsockopt, 0, RCVLOWAT);
	ev_exit(&c, 510, OTHER, SOCK, MG_SYS_setsockopt, 0, 0);
	arrive(&c, 2000, 5000, 1000);
	arrive(&c, 5000, 6000, 1000);
	ev_ready(&c, 5130, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_bars(&c, 100 * 1000, 30 * 1000, 0);
	assert_int_equal(f->complete, 2000);
	assert_int_equal(f->copies.ambiguous, 0);
	assert_int_equal(f->copies.undivided, 1000);
	feed_end(&c);
}

/* Feeds a segment to an established connection: TCP processes it 200 after the device. */
static void process(struct core *c, uint64_t at, uint32_t seq, uint32_t len)
{
	arrive(c, at, seq, len);
	ev_tcp(c, at + 200, SOCK, seq, len);
}

static void open_established(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

/* TCP may process a segment late, as when its socket is locked: nothing was missing. */
static void processing_of_bytes_in_order_is_no_wait_for_others(void **unused)
{
	struct core c;

	(void)unused;
	open_established(&c);
	arrive(&c, 2000, 5000, 1000);
	arrive(&c, 2200, 6000, 1000);
	ev_tcp(&c, 9000, SOCK, 5000, 1000);
	ev_ready(&c, 9100, SOCK, 6000);
	ev_tcp(&c, 9200, SOCK, 6000, 1000);
	ev_ready(&c, 9300, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 20000, 100);
	assert_bars(&c, 100 * 2000, 7000 * 1000 + 7000 * 1000, 0);
	feed_end(&c);
}

static void early_bytes_wait_until_the_missing_ones_reach_ip(void **unused)
{
	struct core c;

	(void)unused;
	open_established(&c);
	process(&c, 2000, 6000, 1000);
	process(&c, 2500, 7000, 500);
	process(&c, 4000, 5000, 1000);
	ev_ready(&c, 4330, SOCK, 7500);
	feed_recv(&c, TID, SOCK, 5000, 2500, 9000, 100);
	assert_bars(&c, 100 * 2500, 230 * 2500, 2000 * 1000 + 1500 * 500);
	assert_int_equal(rx_of(&c, SOCK)->complete, 2500);
	feed_end(&c);
}

/* A segment that TCP discarded comes again; the first copy did not fill the hole. */
static void last_segment_processed_fills_the_hole_if_one_came_twice(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_established(&c);
	process(&c, 2000, 5000, 1000);
	process(&c, 3000, 6000, 1000);
	process(&c, 5000, 5000, 1500);
	ev_ready(&c, 5330, SOCK, 7000);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_int_equal(f->complete, 2000);
	assert_int_equal(f->copies.ambiguous, 1500);
	assert_int_equal(f->copies.undivided, 0);
	assert_bars(&c, 100 * 500, 130 * 500, 2100 * 500);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_wait_for_those_before_until_these_arrive),
		cmocka_unit_test(head_of_line_wait_is_independent_of_the_number_of_reads),
		cmocka_unit_test(without_ip_the_device_tells_when_they_arrived),
		cmocka_unit_test(bytes_in_order_do_not_wait),
		cmocka_unit_test(hole_filled_by_one_of_two_copies_is_ambiguous),
		cmocka_unit_test(order_time_is_unknown_below_the_low_water_mark),
		cmocka_unit_test(processing_of_bytes_in_order_is_no_wait_for_others),
		cmocka_unit_test(early_bytes_wait_until_the_missing_ones_reach_ip),
		cmocka_unit_test(last_segment_processed_fills_the_hole_if_one_came_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
