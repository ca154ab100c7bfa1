/* SPDX-License-Identifier: MIT */
#include "lttng_net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "members.h"

#define TCP  6
#define UDP  17
#define ICMP 1
#define NONE 255 /* the protocol is unknown */

#define FIN 1
#define SYN 2

/* Larger distances between two segments' numbers are no segment length. */
#define LONGEST (1u << 20)

/* ---- connections ---- */

/* Assigns a TCP packet to its connection; a SYN after other segments begins a new one. */
static void follow(struct lttng_net *n, struct lttng_sock *s, const struct sock_known *k,
	struct mg_packet *p, bool in)
{
	if (p->tcp_flags & SYN) {
		if (s->data[in]) {
			s->data[0] = s->data[1] = false;
			socks_renew(&n->socks, s, k);
		}
	} else {
		s->data[in] = true;
	}
	p->sock = s->id;
}

static const bt_field *chosen(const bt_field *variant)
{
	return variant && bt_field_class_type_is(
				  bt_field_get_class_type(variant), BT_FIELD_CLASS_TYPE_VARIANT)
		       ? bt_field_variant_borrow_selected_option_field_const(variant)
		       : NULL;
}

static bool addresses(const bt_field *ip, bool v6, const char *name, uint8_t out[16])
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (v6)
		return field_bytes(member_of(ip, name), out, 16, 2);
	memcpy(out, mapped, sizeof(mapped));
	return field_bytes(member_of(ip, name), out + 12, 4, 1);
}

/*
 * Fills in a packet from the recorded headers. Returns false if they were not recorded, or their
 * protocol is not followed.
 */
static bool by_headers(const bt_field *payload, bool in, struct sock_key *key, struct mg_packet *p,
	struct sock_known *known)
{
	const bt_field *ip = chosen(member_of(payload, "network_header"));
	const bt_field *t = chosen(member_of(ip, "transport_header"));
	bool v6 = member_integer(ip, "version", 0) == 6;
	uint64_t length, header, src, dst;

	if (!t || !addresses(ip, v6, in ? "daddr" : "saddr", key->laddr) ||
		!addresses(ip, v6, in ? "saddr" : "daddr", key->raddr))
		return false;
	p->proto = key->proto = (uint8_t)member_integer(ip, v6 ? "nexthdr" : "protocol", NONE);
	p->ip_id = p->proto == TCP ? 0 : (uint16_t)member_integer(ip, "id", 0);
	src = member_integer(t, "source_port", 0);
	dst = member_integer(t, "dest_port", 0);
	key->lport = (uint16_t)(in ? dst : src);
	key->rport = (uint16_t)(in ? src : dst);
	length = v6 ? member_integer(ip, "payload_len", 0)
		    : member_integer(ip, "tot_len", 0) - 4 * member_integer(ip, "ihl", 0);
	header = p->proto == TCP ? 4 * member_integer(t, "data_offset", 0) : 8;
	p->len = length > header && length < LONGEST ? (uint32_t)(length - header) : 0;
	if (p->proto == TCP) {
		p->seq = (uint32_t)member_integer(t, "seq", 0);
		p->ack = (uint32_t)member_integer(t, "ack_seq", 0);
		p->tcp_flags = (uint8_t)member_integer(t, "flags", 0);
	}
	*known = (struct sock_known){.kind = p->proto == TCP   ? MG_KIND_tcp
					     : p->proto == UDP ? MG_KIND_udp
							       : MG_KIND_raw,
		.family = v6 ? AF_INET6 : AF_INET,
		.lport = key->lport,
		.rport = key->rport,
		.has_addr = true};
	memcpy(known->laddr, key->laddr, sizeof(known->laddr));
	memcpy(known->raddr, key->raddr, sizeof(known->raddr));
	return true;
}

/*
 * Returns the socket that stands for the device: without headers, frames are counted per device,
 * each with its own length.
 */
static struct lttng_sock *by_device(struct lttng_net *n, const bt_field *payload)
{
	struct sock_known known = {.kind = MG_KIND_other};
	struct sock_key key;

	memset(&key, 0, sizeof(key));
	if (!field_text(member_of(payload, "name"), key.device, sizeof(key.device)))
		return NULL;
	memcpy(known.name, key.device, sizeof(known.name));
	return socks_get(&n->socks, &key, &known);
}

bool net_packet(struct lttng_net *n, const bt_field *payload, struct mg_event *e, bool in)
{
	uint32_t frame = (uint32_t)member_integer(payload, "len", 0);
	struct mg_packet *p = &e->packet;
	struct sock_known known;
	struct lttng_sock *s;
	struct sock_key key;

	memset(&key, 0, sizeof(key));
	if (by_headers(payload, in, &key, p, &known)) {
		s = socks_get(&n->socks, &key, &known);
		if (!s)
			return false;
		follow(n, s, &known, p, in);
		p->headers = frame > p->len ? (uint16_t)(frame - p->len) : 0;
	} else {
		s = by_device(n, payload);
		if (!s)
			return false;
		p->sock = s->id;
		p->proto = NONE;
		p->len = frame;
	}
	if (!in)
		socks_queued(&n->socks, member_integer(payload, "skbaddr", 0), p);
	return true;
}

/*
 * Completes a packet that the driver has taken, found by its buffer. Returns false where the kernel
 * has cut the packet into segments, which have other buffers.
 */
bool net_sent(struct lttng_net *n, const bt_field *payload, struct mg_event *e)
{
	struct mg_dev_done done;
	struct lttng_sock *s;

	if (socks_sent(&n->socks, member_integer(payload, "skbaddr", 0), &done)) {
		done.rc = e->dev_done.rc;
		e->dev_done = done;
		return true;
	}
	s = by_device(n, payload);
	if (s)
		e->dev_done.sock = s->id;
	return s;
}

/* ---- segments without a length: the next segment's sequence number gives it ---- */

static int release(struct lttng_net *n, struct held *h, uint32_t next_seq, bool known)
{
	struct mg_packet *p = &h->event.packet;
	uint32_t distance = next_seq - p->seq;

	/* one sequence number belongs to the SYN or FIN, not to a byte */
	if (known && (p->tcp_flags & (SYN | FIN)) && distance)
		distance--;
	p->len = known && distance < LONGEST ? distance : 0;
	h->is = false;
	return core_push(n->socks.core, &h->event);
}

bool net_segment(struct lttng_net *n, const bt_field *payload, struct mg_event *e, bool in)
{
	struct sock_known known = {.kind = MG_KIND_tcp};
	struct mg_packet *p = &e->packet;
	struct lttng_sock *s;
	struct sock_key key;
	struct held *h;

	memset(&key, 0, sizeof(key));
	key.pointer = member_integer(payload, "sk", 0);
	if (!key.pointer)
		return false;
	s = socks_get(&n->socks, &key, &known);
	if (!s)
		return false;
	p->proto = TCP;
	p->tcp_flags = (uint8_t)member_integer(payload, "flags", 0);
	h = &s->held[in];
	if (h->is)
		release(n, h, p->seq, !(p->tcp_flags & SYN));
	follow(n, s, &known, p, in);
	h->event = *e;
	h->event.tid = h->event.pid = 0; /* emitted later, when its thread does something else */
	h->is = true;
	return false;
}

int net_finish(struct lttng_net *n)
{
	struct lttng_sock *s, *tmp;
	int err = 0;

	HASH_ITER (hh, n->socks.socks, s, tmp) {
		for (int in = 0; in < 2 && !err; in++)
			if (s->held[in].is)
				err = release(n, &s->held[in], 0, false);
	}
	return err;
}
