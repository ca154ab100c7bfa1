/* SPDX-License-Identifier: MIT */
/* Headers of packets: parsed from captured bytes, and built from what events record. */
#ifndef MAGNET_CORRELATE_CAPTURE_FRAME_H
#define MAGNET_CORRELATE_CAPTURE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* link types (LINKTYPE_*) */
enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_BSD = 12,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_COOKED = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_COOKED_2 = 276,
};

/* An address and its port; IPv4 as ::ffff:a.b.c.d. */
struct frame_end {
	uint8_t addr[16];
	uint16_t port; /* 0 if the protocol has none */
};

/* The fields have the meaning and the names of the event table's packets. */
struct frame {
	struct frame_end from, to;
	bool is_ipv6;
	uint8_t proto, tcp_flags, icmp_type;
	uint32_t seq, ack, len;
	uint16_t ip_id, frag;
	uint16_t icmp_id; /* of an echo request or reply */
	uint16_t window;  /* TCP */
	uint32_t options; /* TCP: bytes of options */
};

/* X(ID, json, text): why a captured packet cannot be compared */
#define MG_FRAME_PROBLEMS(X)                                                   \
	X(NONE, "", "")                                                        \
	X(LINK, "link_type", "their link type is not known to magnet")         \
	X(NOT_IP, "not_ip", "they are not of IP")                              \
	X(PROTOCOL, "protocol", "their protocol is none of TCP, UDP and ICMP") \
	X(CUT, "cut", "too few bytes were captured: a part of their headers is missing")
#define MG_FRAME_PROBLEM(ID, json, text) FRAME_##ID,
enum frame_problem { MG_FRAME_PROBLEMS(MG_FRAME_PROBLEM) FRAME_PROBLEM_COUNT };
#undef MG_FRAME_PROBLEM

/* Parses the headers of a packet of which `length` bytes of `original` were captured. */
enum frame_problem frame_parse(struct frame *f, uint16_t link_type, const uint8_t *data,
	uint32_t length, uint32_t original);

#define FRAME_MOST 128 /* bytes of headers that frame_build() writes */
/*
 * Writes IP and transport headers. Returns their bytes. A packet that is longer than IP's length
 * field can say has 0 there, as Linux writes it.
 */
size_t frame_build(const struct frame *f, uint8_t out[FRAME_MOST]);

#endif
