/* SPDX-License-Identifier: MIT */
/* Headers that are built are parsed as they were; and what cannot be parsed is refused for its
 * reason. */
#include "capture/frame.h"

#include <netinet/in.h>

#include "unit.h"

static struct frame_end ipv4(uint8_t last, uint16_t port)
{
	return (struct frame_end){.addr = {[10] = 0xff, [11] = 0xff, 10, 0, 0, last}, .port = port};
}

static struct frame segment(void)
{
	return (struct frame){.from = ipv4(1, 40000),
		.to = ipv4(2, 80),
		.proto = IPPROTO_TCP,
		.tcp_flags = 0x18,
		.seq = 0xfffffff0,
		.ack = 77,
		.len = 1448,
		.window = 65535,
		.options = 12};
}

static void same(const struct frame *a, const struct frame *b)
{
	assert_memory_equal(a->from.addr, b->from.addr, 16);
	assert_memory_equal(a->to.addr, b->to.addr, 16);
	assert_int_equal(a->from.port, b->from.port);
	assert_int_equal(a->to.port, b->to.port);
	assert_int_equal(a->is_ipv6, b->is_ipv6);
	assert_int_equal(a->proto, b->proto);
	assert_int_equal(a->tcp_flags, b->tcp_flags);
	assert_int_equal(a->icmp_type, b->icmp_type);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->ack, b->ack);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->ip_id, b->ip_id);
	assert_int_equal(a->frag, b->frag);
	assert_int_equal(a->icmp_id, b->icmp_id);
	assert_int_equal(a->window, b->window);
	assert_int_equal(a->options, b->options);
}

/* Builds the headers and parses them as a packet whose payload was not captured. */
static void passes(const struct frame *f)
{
	uint8_t bytes[FRAME_MOST];
	size_t size = frame_build(f, bytes);
	struct frame back;

	assert_int_equal(
		frame_parse(&back, LINK_RAW, bytes, (uint32_t)size, (uint32_t)size + f->len),
		FRAME_NONE);
	same(&back, f);
}

static void built_headers_are_parsed_as_they_were(void **unused)
{
	struct frame f = segment();

	(void)unused;
	passes(&f);
	f.len = 0;
	f.options = 0;
	passes(&f);
	f.is_ipv6 = true;
	f.from.addr[0] = f.to.addr[0] = 0xfd;
	passes(&f);
	f = (struct frame){.from = ipv4(1, 53),
		.to = ipv4(2, 5353),
		.proto = IPPROTO_UDP,
		.len = 100,
		.ip_id = 9};
	passes(&f);
	f.frag = 0x2000; /* the first fragment */
	passes(&f);
	f.frag = 0x2000 | 185; /* a later one has no ports */
	f.from.port = f.to.port = 0;
	passes(&f);
	f.is_ipv6 = true;
	f.from.addr[0] = f.to.addr[0] = 0xfd;
	passes(&f);
	f = (struct frame){.from = ipv4(1, 0),
		.to = ipv4(2, 0),
		.proto = IPPROTO_ICMP,
		.icmp_type = 8,
		.icmp_id = 7,
		.len = 56};
	passes(&f);
}

static void ipv4_checksum_is_right(void **unused)
{
	struct frame f = segment();
	uint8_t bytes[FRAME_MOST];
	uint32_t sum = 0;

	(void)unused;
	frame_build(&f, bytes);
	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
}

static void length_beyond_the_field_is_taken_from_the_capture(void **unused)
{
	struct frame f = segment();

	(void)unused;
	f.len = 180000;
	passes(&f);
}

static void link_layers_are_passed(void **unused)
{
	static const struct {
		uint16_t type;
		uint8_t size, bytes[24];
	} links[] = {
		{LINK_ETHERNET, 14, {[12] = 8}},
		{LINK_ETHERNET, 22, {[12] = 0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0}}, /* two tags */
		{LINK_COOKED, 16, {[14] = 8}},
		{LINK_COOKED_2, 20, {8}},
		{LINK_NULL, 4, {2}},
		{LINK_LOOP, 4, {[3] = 2}},
		{LINK_IPV4, 0, {0}},
	};
	struct frame f = segment(), back;
	uint8_t bytes[24 + FRAME_MOST];
	size_t size;

	(void)unused;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		memcpy(bytes, links[i].bytes, links[i].size);
		size = links[i].size + frame_build(&f, bytes + links[i].size);
		assert_int_equal(frame_parse(&back, links[i].type, bytes, (uint32_t)size,
					 (uint32_t)size + f.len),
			FRAME_NONE);
		same(&back, &f);
	}
}

static void padding_of_ethernet_is_no_payload(void **unused)
{
	struct frame f = segment(), back;
	uint8_t bytes[14 + FRAME_MOST] = {[12] = 8};

	(void)unused;
	f.len = 0;
	f.options = 0;
	frame_build(&f, bytes + 14);
	assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, 60, 60), FRAME_NONE);
	assert_int_equal(back.len, 0);
}

static void what_cannot_be_compared_has_its_reason(void **unused)
{
	struct frame f = segment(), back;
	uint8_t bytes[14 + FRAME_MOST] = {[12] = 8};
	uint32_t size = 14 + (uint32_t)frame_build(&f, bytes + 14);

	(void)unused;
	for (uint32_t n = 0; n < 14 + 20 + 14; n++)
		assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, n, 2000), FRAME_CUT);
	assert_int_equal(frame_parse(&back, 147, bytes, size, size), FRAME_LINK);
	bytes[12 + 1] = 6; /* ARP */
	assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, size, size), FRAME_NOT_IP);
	bytes[12 + 1] = 0;
	bytes[14] = 0x75;
	assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, size, size), FRAME_NOT_IP);
	bytes[14] = 0x44; /* a header of 16 bytes */
	assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, size, size), FRAME_NOT_IP);
	bytes[14] = 0x45;
	bytes[14 + 9] = 47;
	assert_int_equal(frame_parse(&back, LINK_ETHERNET, bytes, size, size), FRAME_PROTOCOL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_headers_are_parsed_as_they_were),
		cmocka_unit_test(ipv4_checksum_is_right),
		cmocka_unit_test(length_beyond_the_field_is_taken_from_the_capture),
		cmocka_unit_test(link_layers_are_passed),
		cmocka_unit_test(padding_of_ethernet_is_no_payload),
		cmocka_unit_test(what_cannot_be_compared_has_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
