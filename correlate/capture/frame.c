/* SPDX-License-Identifier: MIT */
#include "capture/frame.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8

#define ICMP_ECHO_REPLY   0
#define ICMP_ECHO         8
#define ICMPV6_ECHO       128
#define ICMPV6_ECHO_REPLY 129
#define ECHO_HEADER       8
#define TCP_HEADER        20
#define UDP_HEADER        8
#define FRAGMENT_AT       0x1fff

/* The bytes that are left of a packet. */
struct rest {
	const uint8_t *at;
	uint32_t length;   /* captured */
	uint32_t original; /* of the packet, captured or not */
};

static uint16_t number16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t number32(const uint8_t *at)
{
	return (uint32_t)number16(at) << 16 | number16(at + 2);
}

/* Leaves out the next bytes. Returns false if not all of them were captured. */
static bool pass(struct rest *r, uint32_t bytes)
{
	if (r->length < bytes)
		return false;
	r->at += bytes;
	r->length -= bytes;
	r->original = r->original > bytes ? r->original - bytes : 0;
	return true;
}

static void mapped(uint8_t out[16], const uint8_t ipv4[4])
{
	memset(out, 0, 10);
	out[10] = out[11] = 0xff;
	memcpy(out + 12, ipv4, 4);
}

/* ---- the link layer ---- */

/* Passes an Ethernet type and VLAN tags; `at` is where the type stands. */
static bool pass_type(struct rest *r, uint32_t at, uint16_t *type)
{
	if (!pass(r, at) || r->length < 2)
		return false;
	*type = number16(r->at);
	if (!pass(r, 2))
		return false;
	while (*type == TYPE_VLAN || *type == TYPE_QINQ) {
		if (r->length < 4)
			return false;
		*type = number16(r->at + 2);
		pass(r, 4);
	}
	return true;
}

/* Passes the link layer's header; `version` gets 4 or 6. */
static enum frame_problem pass_link(struct rest *r, uint16_t link_type, int *version)
{
	uint16_t type = 0;
	bool whole = true;

	switch (link_type) {
	case LINK_ETHERNET:
		whole = pass_type(r, 12, &type);
		break;
	case LINK_COOKED:
		whole = pass_type(r, 14, &type);
		break;
	case LINK_COOKED_2:
		type = r->length >= 2 ? number16(r->at) : 0;
		whole = pass(r, 20);
		break;
	case LINK_NULL:
	case LINK_LOOP:
		whole = pass(r, 4);
		break;
	case LINK_RAW:
	case LINK_RAW_BSD:
	case LINK_IPV4:
	case LINK_IPV6:
		break;
	default:
		return FRAME_LINK;
	}
	if (!whole)
		return FRAME_CUT;
	if (type && type != TYPE_IPV4 && type != TYPE_IPV6)
		return FRAME_NOT_IP;
	if (!r->length)
		return FRAME_CUT;
	*version = r->at[0] >> 4;
	return *version == 4 || *version == 6 ? FRAME_NONE : FRAME_NOT_IP;
}

/* ---- IP ---- */

/* Takes the length that IP tells, which padding of the link layer follows; 0 tells nothing. */
static void limit(struct rest *r, uint32_t told)
{
	if (!told || told > r->original)
		return;
	r->original = told;
	r->length = r->length < told ? r->length : told;
}

static enum frame_problem pass_ipv4(struct rest *r, struct frame *f)
{
	const uint8_t *h = r->at;
	uint32_t header;

	if (r->length < 20)
		return FRAME_CUT;
	header = (h[0] & 15u) * 4u;
	if (header < 20)
		return FRAME_NOT_IP;
	limit(r, number16(h + 2));
	f->ip_id = number16(h + 4);
	f->frag = number16(h + 6) & 0x3fff;
	f->proto = h[9];
	mapped(f->from.addr, h + 12);
	mapped(f->to.addr, h + 16);
	return pass(r, header) ? FRAME_NONE : FRAME_CUT;
}

static enum frame_problem pass_ipv6(struct rest *r, struct frame *f)
{
	uint8_t next;

	if (r->length < 40)
		return FRAME_CUT;
	f->is_ipv6 = true;
	next = r->at[6];
	if (number16(r->at + 4))
		limit(r, 40u + number16(r->at + 4));
	memcpy(f->from.addr, r->at + 8, 16);
	memcpy(f->to.addr, r->at + 24, 16);
	pass(r, 40);
	while (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
		next == IPPROTO_FRAGMENT) {
		uint32_t header;

		if (r->length < 8)
			return FRAME_CUT;
		header = next == IPPROTO_FRAGMENT ? 8 : 8u + 8u * r->at[1];
		if (next == IPPROTO_FRAGMENT) {
			uint16_t at = number16(r->at + 2);

			f->frag = (uint16_t)(at >> 3 | (at & 1) << 13);
			f->ip_id = number16(r->at + 6);
		}
		next = r->at[0];
		if (!pass(r, header))
			return FRAME_CUT;
	}
	f->proto = next;
	return FRAME_NONE;
}

/* ---- transport ---- */

static enum frame_problem pass_tcp(struct rest *r, struct frame *f)
{
	uint32_t header;

	if (r->length < 14)
		return FRAME_CUT;
	f->from.port = number16(r->at);
	f->to.port = number16(r->at + 2);
	f->seq = number32(r->at + 4);
	f->ack = number32(r->at + 8);
	f->tcp_flags = r->at[13];
	header = (r->at[12] >> 4) * 4u;
	f->window = r->length < 16 ? 0 : number16(r->at + 14);
	f->options = header > TCP_HEADER ? header - TCP_HEADER : 0;
	f->len = r->original > header ? r->original - header : 0;
	return FRAME_NONE;
}

static enum frame_problem pass_udp(struct rest *r, struct frame *f)
{
	if (r->length < 4)
		return FRAME_CUT;
	f->from.port = number16(r->at);
	f->to.port = number16(r->at + 2);
	f->len = r->original > UDP_HEADER ? r->original - UDP_HEADER : 0;
	return FRAME_NONE;
}

static bool is_echo(uint8_t proto, uint8_t type)
{
	return proto == IPPROTO_ICMP ? type == ICMP_ECHO || type == ICMP_ECHO_REPLY
				     : type == ICMPV6_ECHO || type == ICMPV6_ECHO_REPLY;
}

static enum frame_problem pass_icmp(struct rest *r, struct frame *f)
{
	if (r->length < ECHO_HEADER)
		return FRAME_CUT;
	f->icmp_type = r->at[0];
	if (is_echo(f->proto, f->icmp_type))
		f->icmp_id = number16(r->at + 4);
	f->len = r->original > ECHO_HEADER ? r->original - ECHO_HEADER : 0;
	return FRAME_NONE;
}

enum frame_problem frame_parse(struct frame *f, uint16_t link_type, const uint8_t *data,
	uint32_t length, uint32_t original)
{
	struct rest r = {data, length, original < length ? length : original};
	enum frame_problem problem;
	int version = 0;

	memset(f, 0, sizeof(*f));
	problem = pass_link(&r, link_type, &version);
	if (problem == FRAME_NONE)
		problem = version == 4 ? pass_ipv4(&r, f) : pass_ipv6(&r, f);
	if (problem != FRAME_NONE)
		return problem;
	if (f->frag & FRAGMENT_AT) { /* no transport header */
		f->len = r.original;
		return f->proto == IPPROTO_UDP || f->proto == IPPROTO_ICMP ||
				       f->proto == IPPROTO_ICMPV6
			       ? FRAME_NONE
			       : FRAME_PROTOCOL;
	}
	switch (f->proto) {
	case IPPROTO_TCP:
		return pass_tcp(&r, f);
	case IPPROTO_UDP:
		return pass_udp(&r, f);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return pass_icmp(&r, f);
	default:
		return FRAME_PROTOCOL;
	}
}

/* ---- building ---- */

static uint8_t *put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, value >> 16), value);
}

/* Returns the header's checksum (RFC 1071). */
static uint16_t checksum(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += number16(at + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static size_t transport_size(const struct frame *f)
{
	if (f->frag & FRAGMENT_AT)
		return 0;
	switch (f->proto) {
	case IPPROTO_TCP:
		return TCP_HEADER + f->options;
	case IPPROTO_UDP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return UDP_HEADER;
	default:
		return 0;
	}
}

/* A length that does not fit is written as 0. */
static uint32_t fitting(uint64_t length)
{
	return length <= UINT16_MAX ? (uint32_t)length : 0;
}

static uint8_t *put_ipv4(uint8_t *at, const struct frame *f, uint64_t payload)
{
	uint8_t *begin = at;

	memset(at, 0, 20);
	at[0] = 0x45;
	put16(at + 2, fitting(20 + payload));
	put16(at + 4, f->ip_id);
	put16(at + 6, f->frag);
	at[9] = f->proto;
	memcpy(at + 12, f->from.addr + 12, 4);
	memcpy(at + 16, f->to.addr + 12, 4);
	put16(begin + 10, checksum(begin, 20));
	return at + 20;
}

static uint8_t *put_ipv6(uint8_t *at, const struct frame *f, uint64_t payload)
{
	bool in_parts = f->frag != 0;

	memset(at, 0, 48);
	at[0] = 0x60;
	put16(at + 4, fitting(payload + (in_parts ? 8 : 0)));
	at[6] = in_parts ? IPPROTO_FRAGMENT : f->proto;
	memcpy(at + 8, f->from.addr, 16);
	memcpy(at + 24, f->to.addr, 16);
	if (!in_parts)
		return at + 40;
	at[40] = f->proto;
	put16(at + 42, (uint32_t)(f->frag & FRAGMENT_AT) << 3 | f->frag >> 13);
	put16(at + 46, f->ip_id);
	return at + 48;
}

static void put_transport(uint8_t *at, const struct frame *f, size_t size)
{
	memset(at, 0, size);
	if (f->proto == IPPROTO_TCP || f->proto == IPPROTO_UDP) {
		put16(at, f->from.port);
		put16(at + 2, f->to.port);
	}
	if (f->proto == IPPROTO_TCP) {
		put32(at + 4, f->seq);
		put32(at + 8, f->ack);
		at[12] = (uint8_t)(size / 4 << 4);
		at[13] = f->tcp_flags;
		put16(at + 14, f->window);
	} else if (f->proto == IPPROTO_UDP) {
		put16(at + 4, f->frag ? 0 : fitting(UDP_HEADER + (uint64_t)f->len));
	} else {
		at[0] = f->icmp_type;
		put16(at + 4, f->icmp_id);
	}
}

size_t frame_build(const struct frame *f, uint8_t out[FRAME_MOST])
{
	size_t size = transport_size(f);
	uint64_t payload = size + (uint64_t)f->len;
	uint8_t *at = f->is_ipv6 ? put_ipv6(out, f, payload) : put_ipv4(out, f, payload);

	if (size)
		put_transport(at, f, size);
	return (size_t)(at - out) + size;
}
