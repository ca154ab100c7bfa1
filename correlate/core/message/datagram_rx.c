/* SPDX-License-Identifier: MIT */
/* Follows received datagrams from a device, through reassembly, into the queue of their socket. */
#include "message/datagram_rx.h"

#include "core.h"
#include "event_table.h"
#include "message/arrival.h"
#include "message/datagram.h"
#include "message/frames.h"
#include "message/parcel.h"

#define UDP        17
#define UDP_HEADER 8
#define LOOK       64
#define PARTS_MAX  8192 /* fragments of a datagram: each but the last has 8 bytes or more */

/*
 * Returns whether a datagram may be for this socket: an answer may have the buffer and length of
 * its question, if the question's receiver is not followed. It goes to the asking socket; a
 * connected socket receives only from its peer.
 */
static bool may_be_answer(const struct mg_sock *from, const struct mg_sock *to)
{
	return to->kind == MG_KIND_udp &&
	       (from == to || (to->rport && from->lport && to->rport != from->lport));
}

/* Sets the sender, if the buffer came directly from a driver of this machine. */
static void land(
	struct core *c, const struct mg_sock *s, struct part *part, const struct mg_packet *p)
{
	struct frame *f = frame_find(c, p->seq, NULL);

	if (!f || f->landed || f->len != datagram_length(p) || f->ip_id != p->ip_id ||
		f->icmp_type != p->icmp_type || may_be_answer(f->parcel->flow->sock, s))
		return;
	f->landed = true;
	part->from = parcel_get(f->parcel);
	part->from_off = f->off;
	part->xmit = f->t[TX_XMIT];
}

static struct arrival *fragments_of(const struct queues *q, const struct mg_packet *p)
{
	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		struct arrival *x = arrival_at(q, q->n - 1 - i);

		if (x->is_fragmented && x->ip_id == p->ip_id && !x->is_gone && !x->ready)
			return x;
	}
	return NULL;
}

/* Returns where a fragment begins in the message. */
static uint32_t place_in(const struct mg_packet *p)
{
	uint32_t header = p->proto == UDP ? UDP_HEADER : 0;

	return packet_is_later_part(p) ? packet_at(p) - header : 0;
}

static struct part *add(struct queues *q, const struct mg_packet *p)
{
	struct arrival *x = p->frag ? fragments_of(q, p) : NULL;
	uint32_t len = datagram_length(p), off;

	if (!x)
		x = arrival_push(q, p->seq, 0);
	if (!x)
		return NULL;
	off = place_in(p);
	x->is_fragmented = p->frag;
	x->ip_id = p->ip_id;
	x->segs = p->segs;
	x->gso_size = p->gso_size;
	if (off + len > x->len)
		x->len = off + len;
	q->came += len;
	return x->parts < PARTS_MAX ? arrival_part(x, off, len) : NULL;
}

/*
 * Finds a datagram that was copied into another buffer since the device, for example for a generic
 * XDP program that needs headroom: the one with this id and length that has not reached IP, if
 * there is only one.
 */
static struct arrival *copied(const struct queues *q, const struct mg_packet *p)
{
	struct arrival *found = NULL;

	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		struct arrival *x = arrival_at(q, q->n - 1 - i);

		if (x->is_gone || x->is_fragmented || x->part.ip || !x->part.dev ||
			x->ip_id != p->ip_id || x->len != datagram_length(p))
			continue;
		if (found)
			return NULL;
		found = x;
	}
	return found;
}

/*
 * Finds a reassembled datagram, which is in the buffer of its first fragment; an IPv6 one has no id
 * then.
 */
static struct arrival *whole(const struct queues *q, const struct mg_packet *p)
{
	struct arrival *x = arrival_newest(q, p->seq);

	if (x && !x->part.ip && (!x->is_fragmented || !p->frag))
		return x;
	x = fragments_of(q, p);
	return x || p->frag ? x : copied(q, p);
}

/* Finds the datagram at IP, reassembled or, for IPv6, still in fragments. */
static struct arrival *at_ip(struct queues *q, const struct mg_event *e)
{
	const struct mg_packet *p = &e->packet;
	struct arrival *x = whole(q, p);
	struct part *part;

	if (!x) {
		part = add(q, p);
		if (!part)
			return NULL;
		part->ip = e->cycles;
		x = arrival_at(q, q->n - 1);
		x->cpu = e->cpu;
		return x;
	}
	for (part = &x->part; part; part = part->next)
		if (!part->ip && (!p->frag || part->off == place_in(p)))
			part->ip = e->cycles;
	if (!p->frag)
		x->buffer = p->seq;
	x->cpu = e->cpu;
	return x;
}

void arrival_annotate(struct annotation *a, const struct arrival *x, uint32_t off, uint32_t len)
{
	a->has_offset = true;
	a->offset = x->off + off;
	a->length = len;
}

void datagram_in(struct core *c, struct mg_sock *s, const struct mg_event *e, enum rx_layer layer,
	struct annotation *a)
{
	struct queues *q = queues_of(s);
	struct arrival *x;
	struct part *part;

	if (!q)
		return;
	arrival_expire(c, q, e->cycles);
	if (layer == RX_DEV) {
		part = add(q, &e->packet);
		if (!part)
			return;
		part->dev = e->cycles;
		land(c, s, part, &e->packet);
		x = e->packet.frag ? fragments_of(q, &e->packet) : arrival_at(q, q->n - 1);
		if (x)
			arrival_annotate(a, x, part->off, part->len);
		return;
	}
	x = at_ip(q, e);
	if (x)
		arrival_annotate(a, x, 0, datagram_length(&e->packet));
}

/* ---- several sockets ---- */

static struct unclaimed *unclaimed_at(const struct core *c, uint32_t buffer)
{
	for (uint32_t i = 0; c->frames && i < UNCLAIMED_PACKETS; i++) {
		struct unclaimed *u = &c->frames->unclaimed[(c->frames->unclaimed_n - 1 - i) &
							    (UNCLAIMED_PACKETS - 1)];

		if (u->dev && u->packet.seq == buffer)
			return u;
	}
	return NULL;
}

void datagram_unclaimed(struct core *c, const struct mg_event *e)
{
	struct frames *all = frames_of(c);
	struct unclaimed *u;

	if (!all || e->packet.frag)
		return;
	if (e->id == MG_EVENT_dev_recv) {
		u = &all->unclaimed[all->unclaimed_n++ & (UNCLAIMED_PACKETS - 1)];
		*u = (struct unclaimed){e->packet, e->cycles, 0, -1};
		return;
	}
	u = e->id == MG_EVENT_ip_in ? unclaimed_at(c, e->packet.seq) : NULL;
	if (!u || u->ip || u->packet.ip_id != e->packet.ip_id)
		return;
	u->ip = e->cycles;
	u->cpu = e->cpu;
}

static struct arrival *claim(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	struct queues *q = queues_of(s);
	const struct unclaimed *u = unclaimed_at(c, e->sock_ready.buffer);
	struct part *part = u && u->ip && u->cpu == e->cpu ? add(q, &u->packet) : NULL;
	struct arrival *x;

	if (!part)
		return NULL;
	x = arrival_at(q, q->n - 1);
	part->dev = u->dev;
	part->ip = u->ip;
	x->cpu = u->cpu;
	land(c, s, part, &u->packet);
	return x;
}

/* ---- in the queue ---- */

/*
 * Returns the last one that this CPU brought and that is not in the queue yet; another CPU's may
 * be, too.
 */
static struct arrival *last_brought(struct queues *q, const struct mg_event *e)
{
	struct arrival *last = NULL;

	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		struct arrival *x = arrival_at(q, q->n - 1 - i);

		if (x->is_gone || x->ready) {
			if (last)
				break;
		} else if (x->cpu != e->cpu) {
			if (x->part.ip && !x->ready_elsewhere)
				x->ready_elsewhere = e->cycles;
		} else if (!last) {
			last = x;
		}
	}
	return last;
}

/* Takes the next of several datagrams that came as one and are queued one by one. */
static uint32_t take_segment(struct queues *q, struct arrival *x, uint32_t *at)
{
	uint32_t len = x->len - x->taken;

	if (len > x->gso_size)
		len = x->gso_size;
	*at = x->taken;
	x->taken += len;
	if (x->taken == x->len)
		arrival_gone(q, x);
	return len;
}

static struct arrival *segment_ready(struct queues *q, struct arrival *of, uint32_t buffer)
{
	struct part from = of->part;
	uint64_t off = of->off;
	int16_t cpu = of->cpu;
	uint32_t at, len;
	struct arrival *x;

	if (from.from) /* its segments keep the reference */
		parcel_get(from.from);
	len = take_segment(q, of, &at);
	x = arrival_push(q, buffer, len);
	if (!x) {
		if (from.from)
			parcel_put(from.from);
		return NULL;
	}
	x->off = off + at;
	x->cpu = cpu;
	x->part = from;
	x->part.next = NULL;
	x->part.off = 0;
	x->part.len = len;
	x->part.from_off += at;
	return x;
}

void datagram_ready(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a)
{
	uint32_t buffer = e->sock_ready.buffer;
	struct queues *q = queues_of(s);
	struct arrival *x, *known;

	if (!q)
		return;
	q->reported = true;
	x = last_brought(q, e);
	known = buffer ? arrival_newest(q, buffer) : NULL;
	if (known && !known->ready && known->cpu == e->cpu)
		x = known;
	else if (x && x->segs > 1 && (buffer ? buffer != x->buffer : x->taken > 0))
		x = segment_ready(q, x, buffer);
	else if (buffer && !known && (known = claim(c, s, e)))
		x = known;
	if (!x)
		return;
	x->ready = e->cycles;
	arrival_annotate(a, x, 0, x->len);
}

void datagram_drop_in(struct mg_sock *s, const struct mg_event *e)
{
	struct queues *q = queues_of(s);
	struct arrival *x = q ? arrival_newest(q, e->drop.seq) : NULL;
	uint32_t at;

	if (!q)
		return;
	if (x) {
		arrival_gone(q, x);
		return;
	}
	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		x = arrival_at(q, q->n - 1 - i);
		if (x->segs > 1 && !x->is_gone && !x->ready && x->cpu == e->cpu) {
			take_segment(q, x, &at);
			return;
		}
	}
}
