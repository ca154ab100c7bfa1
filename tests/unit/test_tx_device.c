/* SPDX-License-Identifier: MIT */
/* tx.c again: which of several devices transmits a segment. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void assert_bytes(const struct core *c, uint64_t complete, uint64_t incomplete)
{
	assert_int_equal(tx_of(c, SOCK)->complete, complete);
	assert_int_equal(tx_of(c, SOCK)->incomplete, incomplete);
}

static void ev_at_device(struct core *c, uint64_t t, uint16_t id, uint32_t seq, uint32_t len,
	uint32_t ifindex, uint8_t via)
{
	struct mg_event e = feed_event(id, t, 0);

	if (id == MG_EVENT_dev_done)
		e.dev_done = (struct mg_dev_done){
			.sock = SOCK, .seq = seq, .len = len, .ifindex = ifindex, .via = via};
	else
		e.packet = (struct mg_packet){.sock = SOCK,
			.seq = seq,
			.len = len,
			.ifindex = ifindex,
			.via = via,
			.segs = 1};
	feed(c, &e);
}

static void ev_elsewhere(struct core *c, uint64_t t, uint16_t id, uint32_t seq, uint32_t len)
{
	ev_at_device(c, t, id, seq, len, 0, 1);
}

/*
 * The queue copies a frame, and the copy has no socket: it is the frame that waited there. What a
 * bridge forwards afterwards, or before the queue has it, is not.
 */
static void a_copy_that_the_queue_made_is_the_frame(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 1000, 1000);
	for (int i = 0; i < 2; i++) {
		ev_packet(&c, 1300 + 10 * i, TID, MG_EVENT_ip_out, SOCK, 1000 + 500 * i, 500);
		ev_packet(&c, 1301 + 10 * i, TID, MG_EVENT_ip_post, SOCK, 1000 + 500 * i, 500);
	}
	ev_elsewhere(&c, 1350, MG_EVENT_dev_xmit, 1000, 500);
	for (int i = 0; i < 2; i++)
		ev_packet(&c, 1400 + i, TID, MG_EVENT_dev_queue, SOCK, 1000 + 500 * i, 500);
	ev_exit(&c, 1500, TID, SOCK, MG_SYS_sendto, 2000, 1000);
	ev_app(&c, TID, MG_FN_send, 1000, 1600, 1000);
	ev_elsewhere(&c, 2000, MG_EVENT_dev_xmit, 1000, 500);
	ev_elsewhere(&c, 2100, MG_EVENT_dev_done, 1000, 500);
	ev_elsewhere(&c, 2200, MG_EVENT_dev_xmit, 1000, 500);
	ev_packet(&c, 2300, 0, MG_EVENT_dev_xmit, SOCK, 1500, 500);
	ev_done(&c, 2400, 0, SOCK, 1500, 500);
	ev_elsewhere(&c, 2500, MG_EVENT_dev_xmit, 1500, 500);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_XMIT].n, 2);
	ev_ack(&c, 3000, SOCK, 2000);
	core_finish(&c);
	assert_bytes(&c, 1000, 0);
	feed_end(&c);
}

static void write_500(struct core *c)
{
	ev_enter(c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(c, 1200, TID, SOCK, 1000, 500, 1000);
	ev_packet(c, 1300, TID, MG_EVENT_ip_out, SOCK, 1000, 500);
	ev_packet(c, 1301, TID, MG_EVENT_ip_post, SOCK, 1000, 500);
	ev_at_device(c, 1400, MG_EVENT_dev_queue, 1000, 500, 7, 0);
	ev_exit(c, 1500, TID, SOCK, MG_SYS_sendto, 1500, 500);
	ev_app(c, TID, MG_FN_send, 1000, 1600, 500);
}

/* A VLAN's or macvlan's driver transmits through the device below, which is done first. */
static void the_device_below_is_not_the_driver(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	write_500(&c);
	ev_at_device(&c, 2000, MG_EVENT_dev_xmit, 1000, 500, 7, 0);
	ev_at_device(&c, 2100, MG_EVENT_dev_queue, 1000, 500, 3, 1);
	ev_at_device(&c, 2200, MG_EVENT_dev_xmit, 1000, 500, 3, 1);
	ev_at_device(&c, 2300, MG_EVENT_dev_done, 1000, 500, 3, 1);
	ev_at_device(&c, 2900, MG_EVENT_dev_done, 1000, 500, 7, 0);
	f = tx_of(&c, SOCK);
	assert_int_equal(measures_in(f)->units[TX_DONE].n, 1);
	assert_int_equal(measures_in(f)->units[TX_DONE].again_n, 0);
	assert_int_equal(measures_in(f)->units[TX_DONE].first_t, 2900);
	assert_bytes(&c, 500, 0);
	feed_end(&c);
}

/* The dev_xmit of its own device was lost: that of a device further on does not replace it. */
static void lost_event_is_not_replaced_by_another_device(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	write_500(&c);
	ev_at_device(&c, 2200, MG_EVENT_dev_xmit, 1000, 500, 3, 1);
	ev_at_device(&c, 2300, MG_EVENT_dev_done, 1000, 500, 3, 1);
	ev_ack(&c, 3000, SOCK, 1500);
	core_finish(&c);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_XMIT].n, 0);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_DONE].n, 0);
	assert_bytes(&c, 0, 500);
	feed_end(&c);
}

/* A driver without room refuses a frame; one that drops it has taken it. */
static void only_a_busy_driver_refuses(void **unused)
{
	static const int rc[] = {1 /* dropped */, 2 /* congestion */, 0x10 /* busy */};
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 1000, 1000);
	for (int i = 0; i < 3; i++) {
		struct mg_event e = feed_event(MG_EVENT_dev_done, 1300 + i, TID);

		e.dev_done = (struct mg_dev_done){
			.sock = SOCK, .seq = 1000, .len = 1000, .rc = rc[i], .segs = 1};
		feed(&c, &e);
	}
	assert_int_equal(tx_of(&c, SOCK)->drops.refused, 1);
	feed_end(&c);
}

/* A layer's hook that was attached later will not tell of bytes that have left the driver. */
static void a_layer_that_is_missing_is_not_waited_for(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "sys_enter,sys_exit," TX_HOOKS);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t seq = 1000 + 100 * i;
		uint64_t t = 1000 + 1000 * i;

		ev_enter(&c, t, TID, SOCK, MG_SYS_sendto, seq);
		ev_send(&c, t + 100, TID, SOCK, seq, 100, 1000);
		if (i)
			ev_packet(&c, t + 200, TID, MG_EVENT_ip_out, SOCK, seq, 100);
		if (i)
			ev_packet(&c, t + 201, TID, MG_EVENT_ip_post, SOCK, seq, 100);
		ev_packet(&c, t + 202, TID, MG_EVENT_dev_queue, SOCK, seq, 100);
		ev_packet(&c, t + 203, TID, MG_EVENT_dev_xmit, SOCK, seq, 100);
		ev_done(&c, t + 204, TID, SOCK, seq, 100);
		ev_exit(&c, t + 300, TID, SOCK, MG_SYS_sendto, seq + 100, 100);
	}
	ev_sync(&c, 2000000000, 2000000000, 0); /* calls wait for what the program tells of them */
	assert_int_equal(tx_of(&c, SOCK)->done, 200);
	core_finish(&c);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_that_the_queue_made_is_the_frame),
		cmocka_unit_test(the_device_below_is_not_the_driver),
		cmocka_unit_test(lost_event_is_not_replaced_by_another_device),
		cmocka_unit_test(only_a_busy_driver_refuses),
		cmocka_unit_test(a_layer_that_is_missing_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
