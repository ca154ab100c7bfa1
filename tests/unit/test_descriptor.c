/* SPDX-License-Identifier: MIT */
/* Bytes of calls whose system calls were lost: known from the program's events, by descriptor. */
#include "feed_datagrams.h"

#define FD 5

static void app(struct core *c, int fn, uint64_t t, int32_t fd, int64_t ret)
{
	struct mg_event e = feed_event((uint16_t)(MG_APP_BASE + fn), t + 12, SEND);

	e.call.enter = t;
	e.call.exit = t + 11;
	e.call.ret = ret;
	e.call.fd = fd;
	e.call.tid = e.call.pid = SEND;
	e.call.kind = MG_KIND_udp;
	feed(c, &e);
}

/* Like dg_sends(), by the descriptor. */
static void sends(struct core *c, uint64_t t, uint32_t buffer, int32_t fd)
{
	dg_enter(c, t + 1, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_leaves(c, t + 3, buffer, (uint16_t)buffer, 100);
	dg_moved(c, MG_EVENT_sock_sent, t + 9, SEND, A, 100, 0, MG_KIND_udp);
	ev_exit(c, t + 10, SEND, A, MG_SYS_sendto, 0, 100);
	app(c, MG_FN_send, t, fd, 100);
}

static void losses_belong_to_the_socket_around_them(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	app(&c, MG_FN_send, 1000, FD, 30); /* before its owner is known */
	ev_lost(&c, 1015, 10, 995, 1014);
	sends(&c, 2000, 7, FD);
	app(&c, MG_FN_send, 3000, FD, 20);
	ev_lost(&c, 3015, 10, 2995, 3014);
	app(&c, MG_FN_send, 4000, FD + 1, 500); /* an unknown descriptor */
	app(&c, MG_FN_close, 5000, FD, 0);
	app(&c, MG_FN_send, 6000, FD, 700); /* another socket's by now */
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->total, 150);
	assert_int_equal(tx_of(&c, A)->complete, 100);
	assert_int_equal(tx_of(&c, A)->incomplete, 50);
	feed_end(&c);
}

/* The socket may not be followed, or the kernel side may be over. */
static void without_a_loss_nothing_is_added(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	sends(&c, 2000, 7, FD);
	app(&c, MG_FN_send, 3000, FD, 20);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->total, 100);
	assert_int_equal(tx_of(&c, A)->incomplete, 0);
	feed_end(&c);
}

/* Without the program's side the share of recorded events stands for it. */
static void application_events_may_be_lost_too(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 2000, 7, 1, 100);
	c.counts.app_events = 0;
	ev_lost(&c, 3015, 1000, 2995, 3014);
	core_finish(&c);
	assert_true(tx_of(&c, A)->missing.events_share > 0.9);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_belong_to_the_socket_around_them),
		cmocka_unit_test(without_a_loss_nothing_is_added),
		cmocka_unit_test(application_events_may_be_lost_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
