/* SPDX-License-Identifier: MIT */
/* Sends by the kernel's timestamps: which of them belong together, and what became of each send. */
#include "feed.h"

#define TID    10
#define SOCK   1
#define FIRST  1000 /* sequence number of the first byte */
#define ON_WAY 65536

static struct core c;
static struct fact_timed_send told[8];
static int tells;

static void tell(void *arg, const void *fact)
{
	(void)arg;
	if (tells < 8)
		told[tells] = *(const struct fact_timed_send *)fact;
	tells++;
}

static void begin(void)
{
	feed_begin(&c, "stamp_send,tcp_state");
	tells = 0;
	facts_listen(core_facts(&c), FACT_timed_send, tell, NULL);
	ev_opened(&c, 10, SOCK, FIRST - 1, 4999);
}

/* Feeds a send of bytes up to `end`, when those up to `una` are acknowledged, and to `nxt` sent. */
static void sent_when(uint64_t t, uint32_t end, uint32_t una, uint32_t nxt)
{
	struct mg_event e = feed_event(MG_EVENT_stamp_send, t, TID);

	e.stamp_send = (struct mg_stamp_send){.sock = SOCK,
		.end = FIRST + end,
		.snd_una = FIRST + una,
		.snd_nxt = FIRST + nxt,
		.cwnd = 10};
	feed(&c, &e);
}

static void sent(uint64_t t, uint32_t end)
{
	sent_when(t, end, 0, 0);
}

static void stamp(uint64_t t, unsigned int id, uint32_t end)
{
	struct mg_event e = feed_event(id, t, 0);

	e.stamp = (struct mg_stamp){.sock = SOCK, .end = FIRST + end};
	feed(&c, &e);
}

static void assert_is(int n, uint32_t end, enum fact_timed outcome, uint64_t send_buffer,
	uint64_t queue, uint64_t network, uint64_t total)
{
	const struct fact_timed_send *f = &told[n];

	assert_int_equal(f->end, end);
	assert_int_equal(f->outcome, outcome);
	assert_int_equal(f->stage[TIMED_SEND_BUFFER], send_buffer);
	assert_int_equal(f->stage[TIMED_QUEUE], queue);
	assert_int_equal(f->stage[TIMED_NETWORK], network);
	assert_int_equal(f->total, total);
}

static void stages_of_a_send_sum_to_its_total(void **unused)
{
	const struct timed_sums *sums;

	(void)unused;
	begin();
	sent(1000, 100);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	stamp(1130, MG_EVENT_stamp_driver, 100);
	assert_int_equal(tells, 0);
	stamp(2000, MG_EVENT_stamp_ack, 100);
	assert_int_equal(tells, 1);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, 100, 30, 870, 1000);
	assert_int_equal(told[0].begin, 1000);
	assert_int_equal(told[0].queued, 1);
	sums = measures_in(tx_of(&c, SOCK))->timed;
	assert_int_equal(sums->n[TIMED_ACKNOWLEDGED], 1);
	assert_true(sums->total.sum == 1000);
	assert_int_equal(sums->queued_again, 0);
	feed_end(&c);
}

static void sends_may_be_on_their_way_together(void **unused)
{
	(void)unused;
	begin();
	for (uint32_t i = 1; i <= 4; i++)
		sent(1000 + i, i * 100);
	for (uint32_t i = 1; i <= 4; i++) {
		stamp(1100 + i * 10, MG_EVENT_stamp_queue, i * 100);
		stamp(1200 + i * 10, MG_EVENT_stamp_driver, i * 100);
	}
	for (uint32_t i = 1; i <= 4; i++)
		stamp(2000 + i * 100, MG_EVENT_stamp_ack, i * 100);
	assert_int_equal(tells, 4);
	assert_is(2, 300, TIMED_ACKNOWLEDGED, 127, 100, 1070, 1297);
	feed_end(&c);
}

/* The kernel has one timestamp for each segment: that of the send that ends last in it. */
static void send_in_a_segment_with_a_later_one_is_merged(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	sent(1010, 150);
	sent(1020, 200);
	stamp(1100, MG_EVENT_stamp_queue, 200);
	stamp(1110, MG_EVENT_stamp_driver, 200);
	stamp(1300, MG_EVENT_stamp_ack, 200);
	assert_int_equal(tells, 3);
	assert_is(0, 100, TIMED_MERGED, FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE);
	assert_int_equal(told[0].at_most, 300);
	assert_is(1, 150, TIMED_MERGED, FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE);
	assert_is(2, 200, TIMED_ACKNOWLEDGED, 80, 10, 190, 280);
	assert_int_equal(told[2].at_most, 280);
	assert_true(measures_in(tx_of(&c, SOCK))->timed->total.sum == 280);
	assert_true(measures_in(tx_of(&c, SOCK))->timed->at_most.sum == 300 + 290 + 280);
	feed_end(&c);
}

/* Bytes that are in flight when the call ends have a timestamp of their acknowledgement alone. */
static void send_that_had_left_before_has_no_times(void **unused)
{
	(void)unused;
	begin();
	sent_when(1000, 100, 0, 100);
	sent(1010, 200);
	stamp(1100, MG_EVENT_stamp_queue, 200);
	stamp(1110, MG_EVENT_stamp_driver, 200);
	assert_int_equal(tells, 0);
	stamp(1200, MG_EVENT_stamp_ack, 100);
	stamp(1300, MG_EVENT_stamp_ack, 200);
	assert_int_equal(tells, 2);
	assert_is(0, 100, TIMED_LEFT, FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE);
	assert_int_equal(told[0].at_most, FACT_NONE);
	assert_is(1, 200, TIMED_ACKNOWLEDGED, 90, 10, 190, 290);
	feed_end(&c);
}

static void send_that_comes_to_a_queue_again_keeps_its_first_times(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	stamp(1130, MG_EVENT_stamp_driver, 100);
	stamp(5000, MG_EVENT_stamp_queue, 100);
	stamp(5030, MG_EVENT_stamp_driver, 100);
	stamp(6000, MG_EVENT_stamp_ack, 100);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, 100, 30, 4870, 5000);
	assert_int_equal(told[0].queued, 2);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->timed->queued_again, 1);
	feed_end(&c);
}

static void stamp_at(uint64_t t, unsigned int id, uint32_t end, uint32_t ifindex)
{
	struct mg_event e = feed_event(id, t, 0);

	e.stamp = (struct mg_stamp){.sock = SOCK, .end = FIRST + end, .ifindex = ifindex};
	feed(&c, &e);
}

/* A bridge has a queue, and the device below it. */
static void queue_ends_in_the_driver_below(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	stamp_at(1100, MG_EVENT_stamp_queue, 100, 2);
	stamp_at(1110, MG_EVENT_stamp_queue, 100, 3);
	stamp_at(1130, MG_EVENT_stamp_driver, 100, 3);
	stamp_at(6000, MG_EVENT_stamp_ack, 100, 0);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, 100, 30, 4870, 5000);
	assert_int_equal(told[0].queued, 1);
	/* dropped below the bridge, and sent again */
	sent(7000, 200);
	stamp_at(7100, MG_EVENT_stamp_queue, 200, 2);
	stamp_at(7110, MG_EVENT_stamp_queue, 200, 3);
	stamp_at(8100, MG_EVENT_stamp_queue, 200, 2);
	stamp_at(8110, MG_EVENT_stamp_queue, 200, 3);
	stamp_at(8130, MG_EVENT_stamp_driver, 200, 3);
	stamp_at(9000, MG_EVENT_stamp_ack, 200, 0);
	assert_is(1, 200, TIMED_ACKNOWLEDGED, 100, FACT_NONE, FACT_NONE, 2000);
	assert_int_equal(told[1].queued, 2);
	feed_end(&c);
}

/* Many drivers take no timestamps: then the times before and after cannot be told apart. */
static void driver_without_timestamps_leaves_its_stages_unknown(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	stamp(2000, MG_EVENT_stamp_ack, 100);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, 100, FACT_NONE, FACT_NONE, 1000);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->timed->stage[TIMED_QUEUE].n, 0);
	feed_end(&c);
}

/* TCP joins segments that the peer has reported, or that it sends again: one timestamp is left. */
static void send_acknowledged_with_a_later_one_took_no_longer(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	sent(1000, 200);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	stamp(1110, MG_EVENT_stamp_driver, 100);
	stamp(1120, MG_EVENT_stamp_queue, 200);
	stamp(1130, MG_EVENT_stamp_driver, 200);
	stamp(2000, MG_EVENT_stamp_ack, 200);
	assert_int_equal(tells, 2);
	assert_is(0, 100, TIMED_ACKNOWLEDGED_LATER, 100, 10, FACT_NONE, FACT_NONE);
	assert_int_equal(told[0].at_most, 1000);
	assert_is(1, 200, TIMED_ACKNOWLEDGED, 120, 10, 870, 1000);
	feed_end(&c);
}

/* A send needs no timestamp to be known as acknowledged when the next one begins. */
static void next_send_tells_what_is_acknowledged(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	sent_when(3000, 200, 100, 100);
	assert_int_equal(tells, 1);
	assert_is(0, 100, TIMED_ACKNOWLEDGED_LATER, 100, FACT_NONE, FACT_NONE, FACT_NONE);
	assert_int_equal(told[0].at_most, 2000);
	feed_end(&c);
}

/* Dropped in the queue, it comes again after a timeout: that is no time in the queue. */
static void driver_of_a_later_copy_says_nothing_of_the_queue(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	stamp(1010, MG_EVENT_stamp_queue, 100);
	stamp(201000, MG_EVENT_stamp_queue, 100);
	stamp(201010, MG_EVENT_stamp_driver, 100);
	stamp(202000, MG_EVENT_stamp_ack, 100);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, 10, FACT_NONE, FACT_NONE, 201000);
	feed_end(&c);
}

static void copy_after_a_loss_may_not_be_the_first(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	ev_lost(&c, 1100, 3, 1050, 1090);
	stamp(201000, MG_EVENT_stamp_queue, 100);
	stamp(202000, MG_EVENT_stamp_ack, 100);
	assert_is(0, 100, TIMED_ACKNOWLEDGED, FACT_NONE, FACT_NONE, FACT_NONE, 201000);
	feed_end(&c);
}

/* Sequence numbers wrap: an old send must not stay, or no later one is found. */
static void send_before_half_the_numbers_blocks_nothing(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	sent_when(5000, 3000000000u, 2999999900u, 2999999900u);
	stamp(5100, MG_EVENT_stamp_queue, 3000000000u);
	stamp(5200, MG_EVENT_stamp_driver, 3000000000u);
	stamp(6000, MG_EVENT_stamp_ack, 3000000000u);
	assert_int_equal(tells, 2);
	assert_int_equal(told[1].outcome, TIMED_ACKNOWLEDGED);
	assert_int_equal(told[1].total, 1000);
	feed_end(&c);
}

static void switching_the_layer_off_settles_what_is_on_its_way(void **unused)
{
	struct mg_event e;

	(void)unused;
	begin();
	sent(1000, 100);
	e = feed_event(MG_EVENT_hook, 1100, 0);
	e.hook = (struct mg_hook){.layer = "timestamps", .hook = "stamp_send", .status = -67};
	feed(&c, &e);
	assert_int_equal(tells, 1);
	assert_int_equal(told[0].outcome, TIMED_LOST);
	feed_end(&c);
}

static void send_without_an_acknowledgement_is_unfinished(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	sent(1010, 200);
	stamp(1100, MG_EVENT_stamp_queue, 100);
	core_finish(&c);
	assert_int_equal(tells, 2);
	assert_is(0, 100, TIMED_UNFINISHED, 100, FACT_NONE, FACT_NONE, FACT_NONE);
	assert_is(1, 200, TIMED_UNFINISHED, FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE);
	feed_end(&c);
}

/* Without its events a send looks as if it had left with the next one. */
static void send_whose_events_may_be_lost_is_not_called_merged(void **unused)
{
	(void)unused;
	begin();
	sent(1000, 100);
	ev_lost(&c, 1200, 3, 1050, 1150);
	sent(1300, 200);
	assert_int_equal(tells, 1);
	assert_is(0, 100, TIMED_LOST, FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE);
	feed_end(&c);
}

static void timestamp_of_a_send_that_is_not_recorded_is_left_out(void **unused)
{
	(void)unused;
	begin();
	stamp(1100, MG_EVENT_stamp_queue, 100);
	sent(1200, 200);
	stamp(1300, MG_EVENT_stamp_ack, 100);
	stamp(1400, MG_EVENT_stamp_queue, 200);
	stamp(1500, MG_EVENT_stamp_ack, 200);
	assert_int_equal(tells, 1);
	assert_is(0, 200, TIMED_ACKNOWLEDGED, 200, FACT_NONE, FACT_NONE, 300);
	feed_end(&c);
}

/* An endless number of sends without an acknowledgement takes bounded memory. */
static void sends_on_their_way_are_bounded(void **unused)
{
	(void)unused;
	begin();
	for (uint32_t i = 1; i <= ON_WAY + 5; i++)
		sent(1000 + i, i);
	assert_int_equal(tells, 5);
	assert_int_equal(tx_of(&c, SOCK)->ack.timed->len, ON_WAY);
	assert_int_equal(told[4].end, 5);
	assert_int_equal(told[4].outcome, TIMED_UNFINISHED);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_of_a_send_sum_to_its_total),
		cmocka_unit_test(sends_may_be_on_their_way_together),
		cmocka_unit_test(send_in_a_segment_with_a_later_one_is_merged),
		cmocka_unit_test(send_that_comes_to_a_queue_again_keeps_its_first_times),
		cmocka_unit_test(driver_without_timestamps_leaves_its_stages_unknown),
		cmocka_unit_test(send_that_had_left_before_has_no_times),
		cmocka_unit_test(send_acknowledged_with_a_later_one_took_no_longer),
		cmocka_unit_test(next_send_tells_what_is_acknowledged),
		cmocka_unit_test(driver_of_a_later_copy_says_nothing_of_the_queue),
		cmocka_unit_test(copy_after_a_loss_may_not_be_the_first),
		cmocka_unit_test(send_before_half_the_numbers_blocks_nothing),
		cmocka_unit_test(switching_the_layer_off_settles_what_is_on_its_way),
		cmocka_unit_test(send_without_an_acknowledgement_is_unfinished),
		cmocka_unit_test(send_whose_events_may_be_lost_is_not_called_merged),
		cmocka_unit_test(timestamp_of_a_send_that_is_not_recorded_is_left_out),
		cmocka_unit_test(queue_ends_in_the_driver_below),
		cmocka_unit_test(sends_on_their_way_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
