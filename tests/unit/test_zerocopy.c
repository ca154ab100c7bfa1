/* SPDX-License-Identifier: MIT */
/* Sends with MSG_ZEROCOPY by their numbers, and the notifications that end them. */
#include "feed.h"

#define TID   10
#define SOCK  1
#define HOOKS "sys_enter,sys_exit,zerocopy_done"

static struct core c;

static void begin(const char *hooks)
{
	feed_begin(&c, hooks);
	ev_opened(&c, 10, SOCK, 999, 4999);
}

/* Feeds the return of a call with numbers from `first` to before `next`, and at most so many. */
static void sent(uint64_t t, uint32_t first, uint32_t next, uint32_t most)
{
	struct mg_event e = feed_event(MG_EVENT_zerocopy_sent, t, TID);

	e.zerocopy_sent = (struct mg_zerocopy_sent){SOCK, first, next, most};
	feed(&c, &e);
}

static void done(uint64_t t, uint32_t first, uint32_t last, uint8_t copied)
{
	struct mg_event e = feed_event(MG_EVENT_zerocopy_done, t, 0);

	e.zerocopy_done = (struct mg_zerocopy_done){
		.sock = SOCK, .first = first, .last = last, .copied = copied};
	feed(&c, &e);
}

/* Feeds the removal of a notification from the error queue, or its being found empty. */
static void taken(uint64_t t, uint32_t first, uint32_t last, uint8_t how)
{
	struct mg_event e = feed_event(MG_EVENT_zerocopy_done, t, TID);

	e.zerocopy_done = (struct mg_zerocopy_done){
		.sock = SOCK, .first = first, .last = last, .copied = how == 1, .taken = how};
	feed(&c, &e);
}

static void assert_told(uint64_t sends, uint64_t ended, uint64_t cycles, uint64_t copied)
{
	const struct zerocopy *z = tx_of(&c, SOCK)->zerocopy;
	const struct dist *hold = measures_in(tx_of(&c, SOCK))->zerocopy;

	assert_int_equal(z->sends, sends);
	if (hold) {
		assert_int_equal(hold->n, ended);
		assert_true(hold->sum == cycles);
	} else {
		assert_int_equal(ended, 0);
	}
	assert_int_equal(z->copied, copied);
	assert_int_equal(z->len + z->unsure, sends - ended);
}

static void a_send_is_held_until_its_number_is_reported(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, 0, 1, 1);
	sent(1100, 1, 2, 1);
	assert_told(2, 0, 0, 0);
	done(1500, 0, 0, 0);
	assert_told(2, 1, 500, 0);
	done(2000, 1, 1, 1);
	assert_told(2, 2, 1400, 1);
	feed_end(&c);
}

/* A notification repeated with a longer range ends each send once. */
static void a_notification_that_grows_ends_what_is_new(void **unused)
{
	(void)unused;
	begin(HOOKS);
	for (uint32_t i = 0; i < 40; i++)
		sent(1000 + i, i, i + 1, 1);
	done(2000, 0, 9, 0);
	assert_told(40, 10, 10 * 1000 - 45, 0);
	done(2000, 0, 39, 0);
	assert_told(40, 40, 40 * 1000 - 780, 0);
	done(9000, 0, 39, 0); /* another error, while it was not read */
	assert_told(40, 40, 40 * 1000 - 780, 0);
	feed_end(&c);
}

static void zerocopy_ended_within_the_call_was_not_held(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, 0, 1, 1);
	done(1100, 0, 1, 1);
	sent(1200, 1, 2, 1);
	assert_told(2, 2, 100, 2);
	feed_end(&c);
}

static void zerocopy_sends_may_end_in_any_order(void **unused)
{
	(void)unused;
	begin(HOOKS);
	for (uint32_t i = 0; i < 4; i++)
		sent(1000, i, i + 1, 1);
	done(1200, 2, 2, 0);
	done(1300, 0, 1, 0);
	assert_told(4, 3, 800, 0);
	done(1400, 3, 3, 0);
	assert_told(4, 4, 1200, 0);
	assert_int_equal(zerocopy_missed(tx_of(&c, SOCK)->zerocopy), 0);
	feed_end(&c);
}

/*
 * A notification overtaken by later ones has ended at an unknown time; the last may still be held.
 */
static void a_notification_without_an_event_is_missed(void **unused)
{
	(void)unused;
	begin(HOOKS);
	for (uint32_t i = 0; i < 4; i++)
		sent(1000, i, i + 1, 1);
	done(1200, 1, 2, 0);
	assert_told(4, 2, 400, 0);
	assert_int_equal(zerocopy_missed(tx_of(&c, SOCK)->zerocopy), 1);
	assert_int_equal(tx_of(&c, SOCK)->zerocopy->len, 2);
	feed_end(&c);
}

static void one_that_is_taken_out_at_once_ended_then(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, 0, 1, 1);
	sent(1000, 1, 2, 1);
	taken(1300, 0, 0, 1);
	assert_told(2, 0, 0, 0);
	taken(1310, 0, 0, 2); /* the queue is empty */
	assert_told(2, 1, 300, 1);
	taken(1400, 0, 0, 2); /* or before its reader is seen */
	assert_told(2, 1, 300, 1);
	taken(1450, 1, 1, 1);
	assert_told(2, 2, 700, 2);
	feed_end(&c);
}

/* The notification may have been there for a while. */
static void one_that_was_not_seen_to_come_is_not_certain(void **unused)
{
	(void)unused;
	begin(HOOKS);
	for (uint32_t i = 0; i < 3; i++)
		sent(1000, i, i + 1, 1);
	taken(5000, 0, 0, 1);
	done(6000, 1, 1, 0);
	taken(6100, 1, 1, 1); /* known already */
	assert_told(3, 1, 5000, 0);
	assert_int_equal(zerocopy_missed(tx_of(&c, SOCK)->zerocopy), 1);
	feed_end(&c);
}

static void numbers_wrap(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, UINT32_MAX - 1, UINT32_MAX, 1);
	sent(1000, UINT32_MAX, 0, 1);
	sent(1000, 0, 1, 1);
	done(1100, UINT32_MAX - 1, 0, 0);
	assert_told(3, 3, 300, 0);
	feed_end(&c);
}

/* The other thread's call, which has a number of its own in between, is certain. */
static void numbers_of_two_threads_may_be_uncertain(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, 1, 2, 1);
	sent(1010, 0, 2, 1);
	done(1500, 0, 1, 0);
	assert_told(2, 1, 500, 0);
	assert_int_equal(tx_of(&c, SOCK)->zerocopy->unsure, 1);
	feed_end(&c);
}

static void messages_of_one_call_have_a_number_each(void **unused)
{
	(void)unused;
	begin(HOOKS);
	sent(1000, 0, 3, 3);
	done(1100, 0, 1, 0);
	done(1200, 2, 2, 0);
	assert_told(3, 3, 400, 0);
	feed_end(&c);
}

static void without_notifications_nothing_is_kept(void **unused)
{
	(void)unused;
	begin("sys_enter,sys_exit");
	sent(1000, 0, 1, 1);
	assert_int_equal(tx_of(&c, SOCK)->zerocopy->sends, 1);
	assert_int_equal(tx_of(&c, SOCK)->zerocopy->len, 0);
	feed_end(&c);
}

static void memory_is_bounded_where_none_ends(void **unused)
{
	(void)unused;
	begin(HOOKS);
	for (uint32_t i = 0; i < 200000; i++)
		sent(1000 + i, i, i + 1, 1);
	assert_in_range(tx_of(&c, SOCK)->zerocopy->len, 1000, 65536);
	assert_told(200000, 0, 0, 0);
	sent(300000, 200000, 400000, UINT32_MAX); /* a lie */
	assert_in_range(tx_of(&c, SOCK)->zerocopy->len, 1000, 65536);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_is_held_until_its_number_is_reported),
		cmocka_unit_test(a_notification_that_grows_ends_what_is_new),
		cmocka_unit_test(zerocopy_ended_within_the_call_was_not_held),
		cmocka_unit_test(zerocopy_sends_may_end_in_any_order),
		cmocka_unit_test(a_notification_without_an_event_is_missed),
		cmocka_unit_test(one_that_is_taken_out_at_once_ended_then),
		cmocka_unit_test(one_that_was_not_seen_to_come_is_not_certain),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(numbers_of_two_threads_may_be_uncertain),
		cmocka_unit_test(messages_of_one_call_have_a_number_each),
		cmocka_unit_test(without_notifications_nothing_is_kept),
		cmocka_unit_test(memory_is_bounded_where_none_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
