/* SPDX-License-Identifier: MIT */
/* resent.c: how long bytes waited that were sent more than once. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void copy(struct core *c, uint64_t t, uint32_t seq, uint32_t len)
{
	ev_packet(c, t, 0, MG_EVENT_ip_out, SOCK, seq, len);
}

static void assert_waited(struct core *c, uint64_t byte_cycles, uint64_t bytes)
{
	const struct resent_sums *r;

	core_finish(c);
	r = measures_in(tx_of(c, SOCK))->resent;
	assert_non_null(r);
	assert_int_equal(tx_of(c, SOCK)->copies.resent_times->n, 0);
	assert_true(r->wait.sum == byte_cycles);
	assert_int_equal(r->wait.weight, bytes);
	feed_end(c);
}

static void open_core(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
	/* handed to IP at 1300, acknowledged at 1700 */
	feed_send(c, TID, SOCK, 1000, 500, 1000, 100);
}

static void the_wait_ends_with_the_last_copy(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	copy(&c, 9300, 1000, 500);
	copy(&c, 21300, 1000, 500);
	assert_waited(&c, 20000ull * 500, 500);
}

static void each_byte_waits_by_itself(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	copy(&c, 2300, 1100, 200); /* 1100 to 1300 */
	copy(&c, 3300, 1200, 300); /* 1200 to 1500: 100 bytes of it for the third time */
	assert_waited(&c, 100 * 1000 + 300 * 2000, 400);
}

static void a_copy_in_the_middle_leaves_both_sides_as_they_were(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	copy(&c, 2300, 1000, 500);
	copy(&c, 4300, 1200, 100);
	assert_waited(&c, 400 * 1000 + 100 * 3000, 500);
}

static void acknowledged_bytes_have_waited(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	copy(&c, 2300, 1000, 500);
	ev_ack(&c, 3000, SOCK, 1500);
	assert_int_equal(tx_of(&c, SOCK)->layer[TX_IP_OUT].len, 0);
	/* told at once, so that an exchange finds it */
	assert_int_equal(tx_of(&c, SOCK)->copies.resent_times->n, 0);
	feed_send(&c, TID, SOCK, 1500, 100, 5000, 100);
	copy(&c, 9300, 1500, 100);
	assert_waited(&c, 500 * 1000 + 100 * 4000, 600);
}

static void many_ranges_are_bounded(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	feed_send(&c, TID, SOCK, 1000, 3000, 1000, 100);
	for (uint32_t i = 0; i < 3000; i += 2) /* every other byte */
		copy(&c, 5001300, 1000 + i, 1);
	assert_true(tx_of(&c, SOCK)->copies.resent_times->cap <= 2048);
	assert_waited(&c, 1500ull * 5000000, 1500);
}

static void a_connection_without_losses_keeps_nothing(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	core_finish(&c);
	assert_null(tx_of(&c, SOCK)->copies.resent_times);
	assert_null(measures_in(tx_of(&c, SOCK))->resent);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_ends_with_the_last_copy),
		cmocka_unit_test(each_byte_waits_by_itself),
		cmocka_unit_test(a_copy_in_the_middle_leaves_both_sides_as_they_were),
		cmocka_unit_test(acknowledged_bytes_have_waited),
		cmocka_unit_test(many_ranges_are_bounded),
		cmocka_unit_test(a_connection_without_losses_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
