/* SPDX-License-Identifier: MIT */
/*
 * rx_range.c: how the reader gets to its bytes. They arrive as R 2000 L 2100 T 2200 A 2300; the
 * tests differ in what the reader does meanwhile.
 */
#include "feed.h"

#define TID   10
#define OTHER 20
#define SOCK  1

#define RCVLOWAT (1 << 16 | 18) /* SO_RCVLOWAT as sys_enter encodes it */

static void open_core(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
}

/* Checks the stages of a flow all of whose bytes waited alike; those not named are 0. */
static void assert_waterfall(const struct core *c, uint64_t bytes, const uint64_t stage[RX_STAGES])
{
	const struct flow *f = rx_of(c, SOCK);
	uint64_t sum = 0;

	for (int i = 0; i < RX_STAGES; i++) {
		if (stage_sum(f, i) != stage[i] * bytes) {
			print_error("stage %d: %llu cycles, not %llu\n", i,
				(unsigned long long)(stage_sum(f, i) / bytes),
				(unsigned long long)stage[i]);
			fail();
		}
		sum += stage[i];
	}
	assert_true(measures_in(f)->residence.sum == sum * bytes);
	assert_int_equal(f->complete, bytes);
}

/* The reader sleeps in recv() until the bytes come: R 2000 L 2100 T 2200 A 2300. */
static void a_reader_that_waits_is_woken(void **unused)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 200,
		[RX_STAGE_WAKE] = 50,
		[RX_STAGE_RUNQ] = 450,
		[RX_STAGE_COPY] = 200,
		[RX_STAGE_RETURN] = 300};
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_switch(&c, 1200, 0, TID, SLEEPING, 0);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	ev_waking(&c, 2350, TID);
	ev_switch(&c, 2800, 0, 0, RUNNABLE, TID);
	ev_copy(&c, 3000, TID, SOCK, 5000, 1448);
	ev_exit(&c, 3100, TID, SOCK, MG_SYS_recvfrom, 6448, 1448);
	ev_app(&c, TID, MG_FN_recv, 900, 3300, 1448);
	assert_waterfall(&c, 1448, expected);
	feed_end(&c);
}

static void a_reader_that_comes_later_was_absent(void **unused)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 200,
		[RX_STAGE_ABSENT] = 6800,
		[RX_STAGE_COPY] = 100,
		[RX_STAGE_RETURN] = 200};
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	feed_recv(&c, TID, SOCK, 5000, 1448, 9000, 100);
	assert_waterfall(&c, 1448, expected);
	feed_end(&c);
}

/*
 * Woken in poll() or epoll, which is no call on the socket: the way to recv() is a stage of its
 * own.
 */
static void a_reader_woken_in_poll_still_has_to_call(void **unused)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 200,
		[RX_STAGE_WAKE] = 50,
		[RX_STAGE_RUNQ] = 450,
		[RX_STAGE_POLL] = 1300,
		[RX_STAGE_COPY] = 100,
		[RX_STAGE_RETURN] = 200};
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_fork(&c, 20, 1, TID, "reader");
	ev_switch(&c, 1200, 0, TID, SLEEPING, 0);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	ev_waking(&c, 2350, TID);
	ev_switch(&c, 2800, 0, 0, RUNNABLE, TID);
	feed_recv(&c, TID, SOCK, 5000, 1448, 4000, 100);
	assert_waterfall(&c, 1448, expected);
	feed_end(&c);
}

/* Feeds a reader that sleeps before its call, from 1200 on. */
static void asleep(struct core *c)
{
	open_core(c, ALL_HOOKS);
	ev_fork(c, 20, 1, TID, "reader");
	ev_switch(c, 1200, 0, TID, SLEEPING, 0);
}

static void assert_absent(struct core *c)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 200,
		[RX_STAGE_ABSENT] = 7800,
		[RX_STAGE_COPY] = 100,
		[RX_STAGE_RETURN] = 200};

	feed_recv(c, TID, SOCK, 5000, 1448, 10000, 100);
	assert_waterfall(c, 1448, expected);
	feed_end(c);
}

/* The reader was woken for other bytes, and then did other work. */
static void a_waking_before_the_bytes_was_not_for_them(void **unused)
{
	struct core c;

	(void)unused;
	asleep(&c);
	ev_waking(&c, 1350, TID);
	ev_switch(&c, 1400, 0, 0, RUNNABLE, TID);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	assert_absent(&c);
}

/* A timer woke it: it slept on although the bytes were there. */
static void a_reader_woken_by_something_else_was_absent(void **unused)
{
	struct core c;

	(void)unused;
	asleep(&c);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	ev_switch(&c, 2400, 0, OTHER, SLEEPING, 0); /* another event happened on this CPU since */
	ev_waking(&c, 9000, TID);
	ev_switch(&c, 9100, 0, 0, RUNNABLE, TID);
	assert_absent(&c);
}

static void a_reader_woken_on_another_cpu_was_absent(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sched_waking, 2350, 0);
	struct core c;

	(void)unused;
	asleep(&c);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	e.cpu = 1;
	e.sched_waking.wakee_tid = e.sched_waking.wakee_pid = TID;
	feed(&c, &e);
	ev_switch(&c, 9100, 0, 0, RUNNABLE, TID);
	assert_absent(&c);
}

static void a_reader_woken_for_another_socket_was_absent(void **unused)
{
	struct core c;

	(void)unused;
	asleep(&c);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	ev_ready(&c, 2340, SOCK + 1, 100);
	ev_waking(&c, 2350, TID);
	ev_switch(&c, 9100, 0, 0, RUNNABLE, TID);
	assert_absent(&c);
}

/* Bytes that come after the wakeup wait for the CPU only. */
static void bytes_that_come_when_it_is_already_woken_wait_for_the_cpu(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	asleep(&c);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_waking(&c, 2350, TID);
	feed_segment(&c, SOCK, 6000, 1000, 2400, 100); /* in order at 2700 */
	ev_switch(&c, 3000, 0, 0, RUNNABLE, TID);
	feed_recv(&c, TID, SOCK, 5000, 2000, 4000, 100);
	f = rx_of(&c, SOCK);
	assert_int_equal(f->complete, 2000);
	assert_int_equal(stage_sum(f, RX_STAGE_WAKE), 50 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_RUNQ), 650 * 1000 + 300 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_POLL), 1100 * 2000);
	assert_int_equal(stage_sum(f, RX_STAGE_ABSENT), 0);
	feed_end(&c);
}

/* The reader polls without sleeping: it was there when the bytes came, and was not woken. */
static void a_reader_inside_its_call_that_never_slept_only_copies(void **unused)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 200,
		[RX_STAGE_COPY] = 700,
		[RX_STAGE_RETURN] = 300};
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_recvfrom, 5000);
	feed_segment(&c, SOCK, 5000, 1448, 2000, 100);
	ev_copy(&c, 3000, TID, SOCK, 5000, 1448);
	ev_exit(&c, 3100, TID, SOCK, MG_SYS_recvfrom, 6448, 1448);
	ev_app(&c, TID, MG_FN_recv, 900, 3300, 1448);
	assert_waterfall(&c, 1448, expected);
	feed_end(&c);
}

/* Feeds less than the reader's low water mark: R 2000 L 2100 T 2200, and the rest at 5000. */
static void arrives_below_the_low_water_mark(struct core *c)
{
	open_core(c, ALL_HOOKS);
	ev_enter_flags(c, 500, OTHER, SOCK, MG_SYS_setsockopt, 0, RCVLOWAT);
	ev_exit(c, 600, OTHER, SOCK, MG_SYS_setsockopt, 0, 0);
	ev_packet(c, 2000, 0, MG_EVENT_dev_recv, SOCK, 5000, 700);
	ev_packet(c, 2100, 0, MG_EVENT_ip_in, SOCK, 5000, 700);
	ev_tcp(c, 2200, SOCK, 5000, 700);
}

/* Bytes that wait for later ones are in order: the reader wants more. */
static void a_reader_is_woken_when_there_is_as_much_as_it_wants(void **unused)
{
	struct core c;

	(void)unused;
	arrives_below_the_low_water_mark(&c);
	feed_segment(&c, SOCK, 5700, 300, 5000, 100);
	feed_recv(&c, TID, SOCK, 5000, 1000, 9000, 100);
	assert_int_equal(rx_of(&c, SOCK)->complete, 1000);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_IP_TCP), 100 * 700 + 200 * 300);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_ORDER), 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_ABSENT), 6900 * 700 + 3800 * 300);
	feed_end(&c);
}

/* The reader may also read without having been notified. */
static void a_reader_may_come_for_less_than_it_would_be_told_of(void **unused)
{
	const uint64_t expected[RX_STAGES] = {[RX_STAGE_DEV_IP] = 100,
		[RX_STAGE_IP_TCP] = 100,
		[RX_STAGE_ABSENT] = 1900,
		[RX_STAGE_COPY] = 100,
		[RX_STAGE_RETURN] = 200};
	struct core c;

	(void)unused;
	arrives_below_the_low_water_mark(&c);
	feed_recv(&c, TID, SOCK, 5000, 700, 4000, 100);
	assert_waterfall(&c, 700, expected);
	feed_end(&c);
}

/* Next to a loss, the option may have been set by a lost call. */
static void low_water_mark_is_not_known_next_to_a_loss(void **unused)
{
	struct core c;

	(void)unused;
	arrives_below_the_low_water_mark(&c);
	ev_lost(&c, 3900, 7, 2250, 3900);
	feed_recv(&c, TID, SOCK, 5000, 700, 4000, 100);
	assert_int_equal(rx_of(&c, SOCK)->complete, 0);
	assert_int_equal(rx_of(&c, SOCK)->incomplete, 700);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_that_waits_is_woken),
		cmocka_unit_test(a_reader_that_comes_later_was_absent),
		cmocka_unit_test(a_reader_woken_in_poll_still_has_to_call),
		cmocka_unit_test(a_waking_before_the_bytes_was_not_for_them),
		cmocka_unit_test(a_reader_woken_by_something_else_was_absent),
		cmocka_unit_test(a_reader_woken_on_another_cpu_was_absent),
		cmocka_unit_test(a_reader_woken_for_another_socket_was_absent),
		cmocka_unit_test(bytes_that_come_when_it_is_already_woken_wait_for_the_cpu),
		cmocka_unit_test(a_reader_is_woken_when_there_is_as_much_as_it_wants),
		cmocka_unit_test(a_reader_may_come_for_less_than_it_would_be_told_of),
		cmocka_unit_test(low_water_mark_is_not_known_next_to_a_loss),
		cmocka_unit_test(a_reader_inside_its_call_that_never_slept_only_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
