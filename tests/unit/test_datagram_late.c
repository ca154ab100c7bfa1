/* SPDX-License-Identifier: MIT */
/* Datagrams whose socket is known only at IP: the device's time comes late and counts as it was. */
#include "feed_datagrams.h"

static void late(struct core *c, uint64_t t, uint32_t ago, uint32_t buffer, uint32_t len,
	const struct piece_of *p)
{
	struct mg_event e = feed_event(MG_EVENT_dev_recv_late, t, SEND);

	e.dev_recv_late = (struct mg_dev_recv_late){.sock = B,
		.seq = buffer,
		.len = len,
		.ago_ns = ago,
		.headers = 42,
		.segs = 1,
		.ip_id = p->id,
		.frag = p->frag | (p->part == 1 ? MG_FRAG_MORE : 0),
		.proto = 17};
	feed(c, &e);
}

/* A packet translated on arrival: its owner is not yet known at the device. */
static void late_device_time_counts_as_it_was(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100);
	late(&c, 1050, 30, 7, 100, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_ip_in, 1051, 7, 100, &(struct piece_of){.id = 1});
	dg_ready(&c, 1052, SEND, B, 7, 100, MG_KIND_udp);
	dg_reads(&c, 1100, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 100 * 31);
	assert_int_equal(measures_in(rx_of(&c, B))->units[RX_DEV].bytes, 100);
	feed_end(&c);
}

/* Reassembled IPv6 datagrams have lost the fragment header, and so their id. */
static void datagram_without_an_id_is_known_by_its_buffer(void **unused)
{
	struct piece_of first = {.id = 9, .part = 1}, second = {.id = 9, .frag = 126, .part = 2};
	struct core c;

	(void)unused;
	dg_begin(&c);
	late(&c, 1050, 30, 7, 1000, &first);
	late(&c, 1050, 10, 8, 500, &second);
	dg_packet(&c, MG_EVENT_ip_in, 1051, 7, 1500, &(struct piece_of){.id = 0});
	dg_ready(&c, 1052, SEND, B, 7, 1500, MG_KIND_udp);
	dg_reads(&c, 1100, 1500, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 1500);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 1000 * 31 + 500 * 11);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_device_time_counts_as_it_was),
		cmocka_unit_test(datagram_without_an_id_is_known_by_its_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
