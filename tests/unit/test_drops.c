/* SPDX-License-Identifier: MIT */
/* The kernel's drops, summed by socket, direction, reason and place, with their layer. */
#include "feed.h"
#include "report.h"
#include "reported.h"
#include "socket/drops.h"

#define SOCK ((1ull << 62) + 4711)

static void ev_drop(struct core *c, uint64_t sock, bool rx, const char *reason,
	const char *location, uint32_t len, uint16_t segs)
{
	struct mg_event e = feed_event(MG_EVENT_drop, 100, 10);

	e.drop = (struct mg_drop){.sock = sock, .len = len, .segs = segs, .proto = 17, .rx = rx};
	memcpy(e.drop.reason, reason, strnlen(reason, sizeof(e.drop.reason)));
	memcpy(e.drop.location, location, strnlen(location, sizeof(e.drop.location)));
	feed(c, &e);
}

static void begin(struct core *c)
{
	struct mg_event e = feed_event(MG_EVENT_sock_new, 10, 10);

	feed_begin(c, ALL_HOOKS ",drop");
	e.sock_new =
		(struct mg_sock_new){.sock = SOCK, .lport = 53, .family = 2, .kind = MG_KIND_udp};
	feed(c, &e);
}

static void drops_are_added_up_by_reason_and_place(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c);
	ev_drop(&c, SOCK, true, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", 100, 1);
	ev_drop(&c, SOCK, true, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", 200, 3);
	ev_drop(&c, SOCK, true, "UDP_CSUM", "udp_recvmsg", 10, 1);
	j = reported(&c);
	assert_int_equal(
		/* everything was dropped: the flow is still shown */
		json_array_size(at(j, "flows")), 1);
	assert_string_equal(json_string_value(at(j, "flows.0.direction")), "rx");
	assert_int_equal(json_array_size(at(j, "flows.0.drops")), 2);
	assert_fields(j, "flows.0.drops.0", "reason location layer n segments bytes");
	assert_number_at(j, "flows.0.drops.0.n", 2);
	assert_number_at(j, "flows.0.drops.0.segments", 4);
	assert_number_at(j, "flows.0.drops.0.bytes", 300);
	assert_number_at(j, "flows.0.drops.1.n", 1);
	json_decref(j);
}

/* A token bucket cuts a packet into segments: if all are refused, so is what is left of it. */
static void a_packet_that_was_cut_is_counted_by_its_segments(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c);
	ev_drop(&c, SOCK, false, "NOT_SPECIFIED", "tbf_enqueue", 2896, 2);
	ev_drop(&c, SOCK, false, "QDISC_DROP", "__dev_queue_xmit", 1448, 1);
	ev_drop(&c, SOCK, false, "QDISC_DROP", "__dev_queue_xmit", 1448, 1);
	j = reported(&c);
	assert_number_at(j, "losses.dropped", 2);
	assert_int_equal(json_array_size(at(j, "losses.drops")), 1);
	json_decref(j);
}

static void each_direction_has_its_own(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c);
	ev_drop(&c, SOCK, true, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", 100, 1);
	ev_drop(&c, SOCK, false, "QDISC_DROP", "__dev_queue_xmit", 100, 1);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "flows")), 2);
	assert_int_equal(json_array_size(at(j, "flows.0.drops")), 1);
	assert_int_equal(json_array_size(at(j, "flows.1.drops")), 1);
	json_decref(j);
}

/*
 * Tens of thousands of flows may have drops, so those of each are found in an index: the table of
 * all, which this test takes away, would be walked once for each of them.
 */
static void drops_of_a_flow_are_found_without_those_of_others(void **unused)
{
	struct core c;
	struct figures *figures;
	struct drop *all;
	struct report r;
	char name[32];
	json_t *j;

	(void)unused;
	begin(&c);
	for (uint64_t other = 1; other < 100; other++)
		ev_drop(&c, SOCK - 50 + other, !(other & 1), "UDP_CSUM", "udp_recvmsg", 10, 1);
	ev_drop(&c, SOCK, true, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", 100, 1);
	core_finish(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	flow_name(name, SOCK, true);
	figures = c.attached.what;
	all = figures->drops;
	figures->drops = NULL;
	j = json_flow(&r, report_flow(&r, report_find_flow(&r, name)));
	figures->drops = all;
	assert_int_equal(json_array_size(at(j, "drops")), 2);
	assert_string_equal(json_string_value(at(j, "drops.0.reason")), "UDP_CSUM");
	assert_string_equal(json_string_value(at(j, "drops.1.reason")), "SOCKET_RCVBUFF");
	json_decref(j);
	report_free(&r);
	feed_end(&c);
}

/* Without the hook it is unknown whether anything was dropped. */
static void without_the_hook_drops_are_null(void **unused)
{
	json_t *j = reported_connection();

	(void)unused;
	assert_null_at(j, "flows.0.drops");
	json_decref(j);
}

/* A text that fills its field has no terminator. */
static void names_may_fill_their_fields(void **unused)
{
	static const char name[] = "a_function_of_exactly_32_letters";
	struct core c;
	json_t *j;

	(void)unused;
	assert_int_equal(strlen(name), 32);
	begin(&c);
	ev_drop(&c, SOCK, true, name, name, 1, 1);
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "flows.0.drops.0.location")), name);
	assert_string_equal(json_string_value(at(j, "flows.0.drops.0.reason")), name);
	json_decref(j);
}

static void the_place_tells_the_layer(void **unused)
{
	static const struct {
		const char *reason, *location, *layer;
	} known[] = {
		{"SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", "socket"},
		{"NO_SOCKET", "__udp4_lib_rcv", "udp"},
		{"NO_SOCKET", "tcp_v6_rcv", "tcp"},
		{"QDISC_DROP", "__dev_queue_xmit", "qdisc"},
		{"NETFILTER_DROP", "nft_do_chain", "netfilter"},
		{"IP_INHDR", "ip6_forward", "ip"},
		{"NEIGH_FAILED", "arp_error_report", "neighbour"},
		{"NOT_SPECIFIED", "veth_xmit", "device"},
		{"NOT_SPECIFIED", "do_xdp_generic", "device"},
		{"NOT_SPECIFIED", "ipvlan_queue_xmit", "device"},
		{"NOT_SPECIFIED", "xfrm_input", "ip"},
		{"NOT_SPECIFIED", "sfq_enqueue", "qdisc"},
		{"NOT_SPECIFIED", "skb_queue_purge_reason", NULL},
		{"NOT_SPECIFIED", "not reported", NULL},
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(known); i++) {
		const char *layer = drop_layer(known[i].reason, known[i].location);

		if (known[i].layer)
			assert_string_equal(layer, known[i].layer);
		else
			assert_null(layer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_are_added_up_by_reason_and_place),
		cmocka_unit_test(a_packet_that_was_cut_is_counted_by_its_segments),
		cmocka_unit_test(each_direction_has_its_own),
		cmocka_unit_test(drops_of_a_flow_are_found_without_those_of_others),
		cmocka_unit_test(without_the_hook_drops_are_null),
		cmocka_unit_test(names_may_fill_their_fields),
		cmocka_unit_test(the_place_tells_the_layer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
