/* SPDX-License-Identifier: MIT */
/* Both ends of a connection in one trace: socket 1 sends, socket 2 receives. */
#include "socket/socket.h"
#include "feed.h"

#define SENDER   10
#define RECEIVER 20
#define A        1
#define B        2

static void both(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
}

/* Transfers 500 bytes: sent at `at`, driver done at + 7; received from the device at + 20. */
static void transfer(struct core *c, uint32_t i, uint64_t at, uint64_t read)
{
	feed_send(c, SENDER, A, 1000 + i * 500, 500, at, 1);
	feed_segment(c, B, 1000 + i * 500, 500, at + 20, 1);
	feed_recv(c, RECEIVER, B, 1000 + i * 500, 500, read, 1);
}

static void ends_know_each_other_by_their_sequence_numbers(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	assert_ptr_equal(sock_find(&c, A)->peer, sock_find(&c, B));
	assert_ptr_equal(sock_find(&c, B)->peer, sock_find(&c, A));
	feed_end(&c);
}

static void strangers_are_not_joined(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, A, 999, 4999);
	ev_opened(&c, 20, B, 4999, 998); /* one of the two numbers is not enough */
	ev_opened(&c, 30, 3, 999, 4999); /* nor are two clients */
	assert_null(sock_find(&c, A)->peer);
	assert_null(sock_find(&c, B)->peer);
	assert_null(sock_find(&c, 3)->peer);
	feed_end(&c);
}

static void a_third_socket_with_the_same_numbers_is_left_out(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	ev_opened(&c, 30, 3, 4999, 999);
	assert_null(sock_find(&c, 3)->peer);
	assert_ptr_equal(sock_find(&c, A)->peer, sock_find(&c, B));
	feed_end(&c);
}

static void each_of_many_connections_finds_its_peer(void **unused)
{
	enum { PAIRS = 100, SERVER = 1000 };
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (uint32_t i = 1; i <= PAIRS; i++)
		ev_opened(&c, 10 + i, i, 7000 + i, 9000 - i);
	for (uint32_t i = PAIRS; i > 0; i--)
		ev_opened(&c, 1000 - i, SERVER + i, 9000 - i, 7000 + i);
	for (uint32_t i = 1; i <= PAIRS; i++)
		assert_ptr_equal(sock_find(&c, i)->peer, sock_find(&c, SERVER + i));
	assert_int_equal(
		HASH_CNT(hh_alone, c.sockets.alone), 0); /* the next one need not be compared */
	feed_end(&c);
}

static void each_byte_is_followed_from_call_to_call(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c);
	transfer(&c, 0, 1000, 1100); /* U0 1000, peer's U1 1104 */
	transfer(&c, 1, 2000, 2300); /* U0 2000, peer's U1 2304 */
	f = rx_of(&c, B);
	assert_int_equal(measures_in(f)->shift.weight, 1000);
	assert_true(measures_in(f)->shift.sum == (104 + 304) * 500);
	assert_true(measures_in(f)->transit.sum == 14 * 1000); /* X at + 6, R at + 20 */
	assert_int_equal(measures_in(rx_of(&c, A))->shift.n, 0);
	feed_end(&c);
}

/* J = mean |D - median D| is 0 if all are delayed alike, however much. */
static void a_pure_delay_modulates_nothing(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c);
	for (uint32_t i = 0; i < 30; i++)
		transfer(&c, i, 100000 + i * 50000 + i * i * 100, 140000 + i * 50000 + i * i * 100);
	f = rx_of(&c, B);
	assert_int_equal(measures_in(f)->shift.weight, 15000);
	assert_near(dist_mean(&measures_in(f)->shift), 40004, 0);
	assert_near(dist_mean_abs_dev(&measures_in(f)->shift), 0, 0);
	feed_end(&c);
}

/* Delays of 104, 204, 304, 404, 504: median 304, deviations 200 100 0 100 200. */
static void a_delay_that_varies_is_measured_in_bytes(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	for (uint32_t i = 0; i < 5; i++)
		transfer(&c, i, 10000 + i * 1000, 10100 + i * 1000 + i * 100);
	assert_near(dist_mean_abs_dev(&measures_in(rx_of(&c, B))->shift), 120, 1e-9);
	feed_end(&c);
}

/* One call becomes several reads, and several calls one: each byte keeps its own two times. */
static void calls_need_not_match_one_to_one(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c);
	feed_send(&c, SENDER, A, 1000, 1000, 1000, 1);
	feed_send(&c, SENDER, A, 2000, 1000, 2000, 1);
	feed_segment(&c, B, 1000, 2000, 3000, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 4000, 1);  /* U1 4004 */
	feed_recv(&c, RECEIVER, B, 1500, 1500, 5000, 1); /* U1 5004 */
	f = rx_of(&c, B);
	assert_int_equal(measures_in(f)->shift.weight, 2000);
	assert_true(measures_in(f)->shift.sum == 3004 * 500 + 4004 * 500 + 3004 * 1000);
	feed_end(&c);
}

/* The receiver may be done before the sender's event comes. */
static void either_end_may_be_told_first(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	feed_send_kernel(&c, SENDER, A, 1000, 500, 1000, 1);
	feed_segment(&c, B, 1000, 500, 1020, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 1100, 1);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.n, 0);
	ev_app(&c, SENDER, MG_FN_send, 1000, 1200, 500); /* preempted on its way back */
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 500);
	feed_end(&c);
}

static void bytes_incomplete_at_one_end_are_not_compared(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c);
	transfer(&c, 0, 1000, 1100);
	feed_send(&c, SENDER, A, 1500, 500, 2000, 1);
	ev_packet(&c, 2021, 0, MG_EVENT_ip_in, B, 1500, 500); /* its dev_recv was lost */
	ev_ready(&c, 2023, B, 2000);
	feed_recv(&c, RECEIVER, B, 1500, 500, 2300, 1);
	transfer(&c, 2, 3000, 3100);
	f = rx_of(&c, B);
	assert_int_equal(f->incomplete, 500);
	assert_int_equal(measures_in(f)->shift.weight, 1000);
	assert_true(measures_in(f)->shift.sum == 104 * 1000);
	feed_end(&c);
}

/* A lost read leaves out its own bytes, not all later ones. */
static void after_a_lost_read_the_comparison_goes_on(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	both(&c);
	transfer(&c, 0, 1000, 1100);
	feed_send(&c, SENDER, A, 1500, 500, 2000, 1);
	feed_segment(&c, B, 1500, 500, 2020, 1); /* read, but not recorded */
	for (uint32_t i = 2; i < 20; i++) {
		uint64_t at = i * 60000000;
		uint32_t seq = 1000 + i * 500;

		feed_send(&c, SENDER, A, seq, 500, at, 1);
		ev_packet(&c, at + 20, 0, MG_EVENT_dev_recv, B, seq, 500);
		ev_packet(&c, at + 21, 0, MG_EVENT_ip_in, B, seq, 500);
		ev_ready_read(&c, at + 23, B, seq + 500, seq);
		feed_recv(&c, RECEIVER, B, seq, 500, at + 100, 1);
	}
	core_finish(&c);
	f = rx_of(&c, B);
	assert_int_equal(measures_in(f)->shift.weight, 19 * 500);
	assert_true(measures_in(f)->shift.sum == 104 * 19 * 500);
	feed_end(&c);
}

static void both_directions_are_followed(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	transfer(&c, 0, 1000, 1100);
	feed_send(&c, RECEIVER, B, 5000, 70, 2000, 1);
	feed_segment(&c, A, 5000, 70, 2020, 1);
	feed_recv(&c, SENDER, A, 5000, 70, 2200, 1);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 500);
	assert_true(measures_in(rx_of(&c, A))->shift.sum == 204 * 70);
	feed_end(&c);
}

/* On loopback data may arrive before the receiving end is announced. */
static void an_end_announced_late_still_gets_the_bytes(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, A, 999, 4999);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	ev_opened(&c, 1015, B, 4999, 999);
	feed_segment(&c, B, 1000, 500, 1020, 1);
	feed_recv(&c, RECEIVER, B, 1000, 500, 1100, 1);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 500);
	feed_end(&c);
}

static void nothing_is_kept_when_both_ends_are_through(void **unused)
{
	struct core c;

	(void)unused;
	both(&c);
	for (uint32_t i = 0; i < 1000; i++)
		transfer(&c, i, 10000 + i * 1000, 10100 + i * 1000);
	assert_int_equal(tx_of(&c, A)->paired.call.len, 0);
	assert_int_equal(tx_of(&c, A)->paired.x.len, 0);
	assert_int_equal(rx_of(&c, B)->paired.call.len, 0);
	assert_int_equal(rx_of(&c, B)->paired.r.len, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_know_each_other_by_their_sequence_numbers),
		cmocka_unit_test(strangers_are_not_joined),
		cmocka_unit_test(a_third_socket_with_the_same_numbers_is_left_out),
		cmocka_unit_test(each_of_many_connections_finds_its_peer),
		cmocka_unit_test(each_byte_is_followed_from_call_to_call),
		cmocka_unit_test(a_pure_delay_modulates_nothing),
		cmocka_unit_test(a_delay_that_varies_is_measured_in_bytes),
		cmocka_unit_test(calls_need_not_match_one_to_one),
		cmocka_unit_test(either_end_may_be_told_first),
		cmocka_unit_test(bytes_incomplete_at_one_end_are_not_compared),
		cmocka_unit_test(after_a_lost_read_the_comparison_goes_on),
		cmocka_unit_test(both_directions_are_followed),
		cmocka_unit_test(an_end_announced_late_still_gets_the_bytes),
		cmocka_unit_test(nothing_is_kept_when_both_ends_are_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
