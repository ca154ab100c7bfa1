/* SPDX-License-Identifier: MIT */
/* UNIX sockets: from the call that queued a buffer to the calls that read it. */
#include "feed_datagrams.h"

static void a_stream_is_read_in_other_parts(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_stream);
	dg_puts_in(&c, 1000, 7, (uint32_t[]){100, 50}, 2, 150, MG_KIND_unix_stream);
	dg_takes(&c, 2000, 7, 60, MG_KIND_unix_stream);
	dg_takes(&c, 3000, 7, 40, MG_KIND_unix_stream);
	dg_takes(&c, 4000, 8, 50, MG_KIND_unix_stream);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 150);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_CALL), 100 * 1 + 50 * 2);
	assert_int_equal(rx_of(&c, B)->complete, 150);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_ABSENT),
		60 * (2001 - 1002) + 40 * (3001 - 1002) + 50 * (4001 - 1003));
	assert_int_equal(dg_shifts(&c), 60 * 1005 + 40 * 2005 + 50 * 3005);
	feed_end(&c);
}

/* The length of a buffer read before it could be inspected is the call's result minus the rest. */
static void a_length_that_was_not_seen_is_the_rest(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_stream);
	dg_puts_in(&c, 1000, 7, (uint32_t[]){100, 0}, 2, 150, MG_KIND_unix_stream);
	dg_takes(&c, 2000, 7, 100, MG_KIND_unix_stream);
	dg_takes(&c, 3000, 99, 50, MG_KIND_unix_stream);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 150);
	assert_int_equal(rx_of(&c, B)->complete, 150);
	assert_int_equal(dg_shifts(&c), 100 * 1005 + 50 * 2005);
	feed_end(&c);
}

static void a_message_may_be_cut_short(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_dgram);
	dg_puts_in(&c, 1000, 7, (uint32_t[]){100}, 1, 100, MG_KIND_unix_dgram);
	dg_puts_in(&c, 2000, 8, (uint32_t[]){10}, 1, 10, MG_KIND_unix_dgram);
	dg_takes(&c, 3000, 7, 60, MG_KIND_unix_dgram);
	dg_takes(&c, 4000, 8, 10, MG_KIND_unix_dgram);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 70);
	assert_int_equal(dg_shifts(&c), 60 * 2005 + 10 * 2005);
	feed_end(&c);
}

static void accepts(struct core *c, uint64_t t)
{
	struct mg_event e = feed_event(MG_EVENT_sock_new, t, READ);

	e.sock_new =
		(struct mg_sock_new){.sock = B, .peer = A, .netns = 1, .kind = MG_KIND_unix_stream};
	feed(c, &e);
	dg_ready(c, t + 10, READ, B, 0, 0, MG_KIND_unix_stream);
}

/* A client may write as soon as it is connected; the socket it writes to is known at accept(). */
static void data_sent_before_accept_are_read_first(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_stream);
	dg_puts_in(&c, 1000, 0, NULL, 0, 100, MG_KIND_unix_stream);
	dg_puts_in(&c, 1100, 0, NULL, 0, 50, MG_KIND_unix_stream);
	accepts(&c, 1900);
	dg_puts_in(&c, 1950, 9, (uint32_t[]){30}, 1, 30, MG_KIND_unix_stream);
	dg_takes(&c, 2000, 7, 60, MG_KIND_unix_stream);
	dg_takes(&c, 2100, 7, 40, MG_KIND_unix_stream);
	dg_takes(&c, 2200, 8, 50, MG_KIND_unix_stream);
	dg_takes(&c, 2300, 9, 30, MG_KIND_unix_stream);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 180);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_ABSENT),
		60 * (2001 - 1010) + 40 * (2101 - 1010) + 50 * (2201 - 1110) + 30 * (2301 - 1952));
	assert_int_equal(dg_shifts(&c), 60 * 1005 + 40 * 1105 + 50 * 1105 + 30 * 355);
	feed_end(&c);
}

/* Each buffer has waited since it was queued; the call that queued it may go on after accept(). */
static void buffer_waits_for_accept_since_it_was_queued(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_stream);
	dg_enter(&c, 1001, SEND, A, MG_SYS_write, MG_KIND_unix_stream);
	dg_ready(&c, 1002, SEND, A, 7, 100, MG_KIND_unix_stream);
	dg_ready(&c, 1003, SEND, A, 8, 50, MG_KIND_unix_stream);
	accepts(&c, 1900);
	dg_takes(&c, 2000, 7, 60, MG_KIND_unix_stream);
	dg_ready(&c, 2050, SEND, B, 9, 30, MG_KIND_unix_stream);
	dg_moved(&c, MG_EVENT_sock_sent, 2060, SEND, A, 180, 0, MG_KIND_unix_stream);
	ev_exit(&c, 2061, SEND, A, MG_SYS_write, 0, 180);
	ev_app(&c, SEND, MG_FN_write, 1000, 2062, 180);
	dg_takes(&c, 2100, 7, 40, MG_KIND_unix_stream);
	dg_takes(&c, 2200, 8, 50, MG_KIND_unix_stream);
	dg_takes(&c, 2300, 9, 30, MG_KIND_unix_stream);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 180);
	assert_int_equal(rx_of(&c, B)->complete, 180);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_ABSENT),
		60 * (2001 - 1002) + 40 * (2101 - 1002) + 50 * (2201 - 1003) + 30 * (2301 - 2050));
	feed_end(&c);
}

/* Data queued between accept() and its return are known from the sender's call only. */
static void data_sent_during_accept_are_read(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin_unix(&c, MG_KIND_unix_stream);
	dg_puts_told(&c, 1000, A, 7, (uint32_t[]){100}, 1, 100, MG_KIND_unix_stream);
	accepts(&c, 1900);
	dg_puts_told(&c, 1950, B, 0, NULL, 0, 30, MG_KIND_unix_stream);
	dg_takes(&c, 2000, 7, 100, MG_KIND_unix_stream);
	dg_takes(&c, 2100, 9, 30, MG_KIND_unix_stream);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 130);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(dg_shifts(&c), 100 * 1005 + 30 * 155);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_is_read_in_other_parts),
		cmocka_unit_test(a_length_that_was_not_seen_is_the_rest),
		cmocka_unit_test(a_message_may_be_cut_short),
		cmocka_unit_test(data_sent_before_accept_are_read_first),
		cmocka_unit_test(buffer_waits_for_accept_since_it_was_queued),
		cmocka_unit_test(data_sent_during_accept_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
