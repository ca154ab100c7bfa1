/* SPDX-License-Identifier: MIT */
/* unsent.c: bytes that never leave the send buffer have no timestamps that could be missing. */
#include "feed.h"

#define TID  10
#define SOCK 1
#define SENT 2000

/* Feeds one call of 5000 bytes, of which 2000 leave before the connection is reset at 20000. */
static void written(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_enter(c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(c, 1200, TID, SOCK, 1000, 5000, 1000);
	ev_packet(c, 1250, TID, MG_EVENT_ip_out, SOCK, 1000, SENT);
	ev_exit(c, 1300, TID, SOCK, MG_SYS_sendto, 6000, 5000);
	ev_app(c, TID, MG_FN_send, 1000, 1400, 5000);
}

static void assert_unsent(struct core *c, uint64_t bytes, bool known)
{
	const struct flow *f = tx_of(c, SOCK);

	assert_int_equal(core_finish(c), 0);
	assert_int_equal(f->total, 5000);
	assert_int_equal(f->never_sent.bytes, bytes);
	assert_int_equal(f->never_sent.known, known);
	feed_end(c);
}

static void bytes_discarded_at_close_never_left(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4");
	ev_closed(&c, 20000, SOCK);
	assert_unsent(&c, 5000 - SENT, true);
}

static void acknowledged_bytes_have_left(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4");
	ev_ack(&c, 15000, SOCK, 6001);
	assert_unsent(&c, 0, true);
}

static void a_loss_before_the_last_segment_hides_none(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4");
	ev_lost(&c, 19000, 1, 100, 200);
	ev_closed(&c, 20000, SOCK);
	assert_unsent(&c, 5000 - SENT, true);
}

static void one_after_it_may(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4");
	ev_lost(&c, 19000, 1, 18000, 18500);
	ev_closed(&c, 20000, SOCK);
	assert_unsent(&c, 0, false);
}

static void one_after_the_end_may_not(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4");
	ev_closed(&c, 20000, SOCK);
	ev_lost(&c, 30000, 1, 21000, 22000);
	assert_unsent(&c, 5000 - SENT, true);
}

/* In a queue when the recording ends. */
static void bytes_that_did_not_reach_the_driver_have_not_left(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send,ip_out ipv4,dev_xmit");
	ev_packet(&c, 1260, TID, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	assert_unsent(&c, 4500, true);
}

static void without_the_layer_it_is_not_known(void **unused)
{
	struct core c;

	(void)unused;
	written(&c, "tcp_send");
	ev_closed(&c, 20000, SOCK);
	assert_unsent(&c, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_discarded_at_close_never_left),
		cmocka_unit_test(acknowledged_bytes_have_left),
		cmocka_unit_test(a_loss_before_the_last_segment_hides_none),
		cmocka_unit_test(one_after_it_may),
		cmocka_unit_test(one_after_the_end_may_not),
		cmocka_unit_test(bytes_that_did_not_reach_the_driver_have_not_left),
		cmocka_unit_test(without_the_layer_it_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
