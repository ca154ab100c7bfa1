/* SPDX-License-Identifier: MIT */
/* Time limits of the core are the same whatever the counter's rate. */
#include "socket/socket.h"
#include "feed_datagrams.h"

#define MS   1000000ull
#define SOCK 77

/* x86-64, slow and new arm64 machines, and one tick per nanosecond. */
static const uint64_t rates[] = {2600000000, 25000000, 62500000, 1000000000};

static void run_at_each(void (*scene)(struct core *c, uint64_t later), const char *hooks,
	uint64_t soon, uint64_t late, uint64_t (*seen)(struct core *c))
{
	for (size_t i = 0; i < COUNT(rates); i++)
		for (int is_late = 0; is_late < 2; is_late++) {
			struct core c;

			feed_begin_at(&c, hooks, rates[i]);
			scene(&c, is_late ? late : soon);
			assert_int_equal(seen(&c), is_late);
			feed_end(&c);
		}
}

/* ---- a wakeup just after bytes are ready is for them, a later one is not ---- */

static void is_woken(struct core *c, uint64_t later)
{
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_fork(c, 11, 1, READ, "reader");
	ev_switch(c, 20, 0, READ, SLEEPING, 0);
	ev_ready(c, MS, SOCK, 5100);
	ev_waking(c, MS + later, READ);
}

static uint64_t is_for_others(struct core *c)
{
	return thread_of(c, READ)->wake.sock != SOCK;
}

static void a_waking_belongs_to_bytes_for_100_us(void **unused)
{
	(void)unused;
	run_at_each(is_woken, ALL_HOOKS, 90000, 110000, is_for_others);
}

/* ---- a wakeup just before a thread sleeps is for that sleep ---- */

static void is_woken_before(struct core *c, uint64_t earlier)
{
	ev_fork(c, 11, 1, READ, "reader");
	ev_switch(c, 20, 0, 0, RUNNABLE, READ);
	ev_waking(c, MS, READ);
	ev_switch(c, MS + earlier, 0, READ, SLEEPING, 0);
	ev_switch(c, 9 * MS, 0, 0, RUNNABLE, READ);
}

static uint64_t has_no_waking(struct core *c)
{
	return figures_of(c)->sched.wakeup.n == 0;
}

static void a_waking_comes_up_to_20_us_early(void **unused)
{
	(void)unused;
	run_at_each(is_woken_before, ALL_HOOKS, 18000, 22000, has_no_waking);
}

/* ---- bytes not read within half a second are given up ---- */

static void is_read_unseen(struct core *c, uint64_t later)
{
	ev_opened(c, 10, SOCK, 999, 4999);
	feed_segment(c, SOCK, 5000, 100, MS, 1);
	ev_ready_read(c, 2 * MS, SOCK, 5100, 5100);
	ev_ready_read(c, 2 * MS + later, SOCK, 5100, 5100);
}

static uint64_t is_given_up(struct core *c)
{
	return rx_of(c, SOCK)->done == 100;
}

static void bytes_read_unseen_are_given_up_after_half_a_second(void **unused)
{
	(void)unused;
	run_at_each(is_read_unseen, ALL_HOOKS, 490 * MS, 510 * MS, is_given_up);
}

/* ---- no more events are expected for bytes acknowledged 20 ms ago ---- */

static void is_acknowledged(struct core *c, uint64_t later)
{
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_ack(c, 100 * MS, SOCK, 1100);
	ev_ack(c, 101 * MS, SOCK, 1200);
	ev_ack(c, 100 * MS + later, SOCK, 1300);
}

static uint64_t is_before(struct core *c)
{
	return tx_of(c, SOCK)->ack.before == 200;
}

static void acknowledged_bytes_wait_20_ms(void **unused)
{
	(void)unused;
	run_at_each(is_acknowledged, ALL_HOOKS, 19 * MS, 21 * MS, is_before);
}

/* ---- datagrams that others overtook ---- */

static const char *const datagram_hooks = ALL_HOOKS ",sock_sent,sock_received,drop_raw";

static void reads(struct core *c, uint64_t t, int kind)
{
	dg_enter(c, t, READ, B, MG_SYS_recvfrom, kind);
	if (kind == MG_KIND_unix_dgram) {
		struct mg_event e = feed_event(MG_EVENT_sock_copy, t + 1000, READ);

		e.sock_copy = (struct mg_sock_copy){.sock = B, .seq = 8, .len = 100};
		feed(c, &e);
	}
	dg_moved(c, MG_EVENT_sock_received, t + 2000, READ, B, 100, 0, kind);
	ev_exit(c, t + 3000, READ, B, MG_SYS_recvfrom, 0, 100);
}

static void never_reaches_the_queue(struct core *c, uint64_t later)
{
	const struct piece_of p = {.id = 1};

	dg_known(c, MG_KIND_udp);
	dg_packet(c, MG_EVENT_dev_recv, MS, 7, 100, &p);
	dg_packet(c, MG_EVENT_ip_in, MS, 7, 100, &p);
	dg_arrives(c, MS + later - 100000, 8, 2, 100);
	reads(c, MS + later, MG_KIND_udp);
}

static uint64_t none_waits(struct core *c)
{
	return queues_of(sock_find(c, B))->n == 0;
}

static void an_overtaken_datagram_waits_20_ms_for_its_queue(void **unused)
{
	(void)unused;
	run_at_each(never_reaches_the_queue, datagram_hooks, 19 * MS, 21 * MS, none_waits);
}

static void is_never_read(struct core *c, uint64_t later)
{
	dg_known(c, MG_KIND_unix_dgram);
	dg_ready(c, MS, SEND, B, 7, 100, MG_KIND_unix_dgram);
	dg_ready(c, MS + later, SEND, B, 8, 100, MG_KIND_unix_dgram);
	reads(c, 200 * MS, MG_KIND_unix_dgram);
}

static void an_overtaken_message_waits_20_ms(void **unused)
{
	(void)unused;
	run_at_each(is_never_read, datagram_hooks, 19 * MS, 21 * MS, none_waits);
}

static void comes_no_further(struct core *c, uint64_t later)
{
	const struct piece_of p = {.id = 1};

	dg_known(c, MG_KIND_udp);
	dg_packet(c, MG_EVENT_ip_in, MS, 7, 100, &p);
	dg_packet(c, MG_EVENT_dev_recv, MS + later, 8, 100, &p);
}

static uint64_t one_waits(struct core *c)
{
	return queues_of(sock_find(c, B))->n == 1;
}

static void a_datagram_that_comes_no_further_is_kept_10_s(void **unused)
{
	(void)unused;
	run_at_each(comes_no_further, datagram_hooks, 9900 * MS, 10100 * MS, one_waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waking_belongs_to_bytes_for_100_us),
		cmocka_unit_test(a_waking_comes_up_to_20_us_early),
		cmocka_unit_test(bytes_read_unseen_are_given_up_after_half_a_second),
		cmocka_unit_test(acknowledged_bytes_wait_20_ms),
		cmocka_unit_test(an_overtaken_datagram_waits_20_ms_for_its_queue),
		cmocka_unit_test(an_overtaken_message_waits_20_ms),
		cmocka_unit_test(a_datagram_that_comes_no_further_is_kept_10_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
