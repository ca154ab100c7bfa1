/* SPDX-License-Identifier: MIT */
/*
 * Follows sent datagrams. What leaves while a thread is in a call on its socket belongs to that
 * call, together with what earlier calls have corked if it is longer than the call's data. From
 * there on it is known by its buffer, and its fragments and segments by their IP header.
 */
#include "message/datagram_tx.h"

#include "core.h"
#include "event_table.h"
#include "message/arrival.h"
#include "message/datagram.h"
#include "message/frames.h"
#include "message/parcel.h"
#include "message/pieces.h"
#include "task/piece.h"
#include "task/threads.h"

#define UDP        17
#define UDP_HEADER 8
/* A datagram being cut is among this many newest frames. */
#define LOOK         256
#define DATAGRAM_MAX 65535

static struct piece *add_piece(
	struct kernel_call *k, struct flow *f, struct parcel *p, uint32_t off, uint32_t len)
{
	uint64_t since = k->message.since ? k->message.since : k->enter;
	struct piece *piece = call_add_piece(k, f, p->off + off, len, since);

	if (piece)
		piece->parcel = parcel_get(p);
	return piece;
}

/* Makes a frame for a datagram that leaves: corked data and the call's own. */
static struct frame *begin(
	struct core *c, struct thread *t, struct mg_sock *s, const struct mg_packet *p)
{
	struct queues *q = queues_of(s);
	uint32_t len = datagram_length(p);
	struct parcel *parcel;
	struct frame *f;

	if (!q || !datagram_in_call(t, s))
		return NULL;
	parcel = q->corked;
	q->corked = NULL;
	if (parcel && len < parcel->len) { /* its leaving was not seen */
		parcel_put(parcel);
		parcel = NULL;
	}
	if (!parcel)
		parcel = parcel_new(&s->tx, q->sent, 0);
	if (!parcel)
		return NULL;
	if (len > parcel->len)
		add_piece(&t->now, &s->tx, parcel, parcel->len, len - parcel->len);
	q->sent += len - parcel->len;
	parcel->len = len;
	parcel->sent = true;
	f = frame_add(c, parcel, p->seq);
	if (f) {
		f->len = len;
		f->ip_id = p->ip_id;
		f->icmp_type = p->icmp_type;
		f->segs = p->segs;
		f->gso_size = p->gso_size;
		if (p->segs > 1)
			frame_is_uncut(q, f);
	}
	parcel_put(parcel);
	return f;
}

/* Makes a frame for a part of a larger one, which is finished when all of it has one. */
static struct frame *cut(
	struct core *c, struct frame *whole, const struct mg_packet *p, uint32_t off, uint32_t len)
{
	struct frame *f;

	if (off >= whole->len || len > whole->len - off)
		return NULL;
	f = frame_add(c, whole->parcel, p->seq);
	if (!f)
		return NULL;
	f->off = whole->off + off;
	f->len = len;
	f->ip_id = p->ip_id;
	f->icmp_type = p->icmp_type;
	f->segs = p->segs;
	f->gso_size = p->gso_size;
	f->is_piece = true;
	f->present = whole->present;
	for (int i = 0; i < TX_LAYERS; i++)
		f->t[i] = whole->t[i];
	whole->split += len;
	whole->cut_to = off + len;
	if (whole->split + whole->lost >= whole->len)
		frame_forget(c, whole);
	return f;
}

/*
 * Returns whether the packet may be a fragment of the frame; IPv6 assigns an id only when it
 * fragments.
 */
static bool is_fragment_of(
	const struct frame *f, const struct flow *flow, const struct mg_packet *p)
{
	return f->parcel->flow == flow && !f->is_piece && !f->dropped && f->split < f->len &&
	       f->len > p->len && (f->ip_id == p->ip_id || !f->ip_id || f->split);
}

static struct frame *fragment(struct core *c, struct flow *flow, const struct mg_packet *p)
{
	uint32_t header = p->proto == UDP ? UDP_HEADER : 0;
	struct frame *f = c->frames ? c->frames->newest : NULL;

	for (int i = 0; f && i < LOOK; i++, f = f->older)
		if (is_fragment_of(f, flow, p))
			break;
	if (!f || !is_fragment_of(f, flow, p))
		return NULL;
	f->ip_id = p->ip_id;
	if (packet_is_first_part(p))
		return cut(c, f, p, 0, datagram_length(p));
	return cut(c, f, p, packet_at(p) - header, p->len);
}

/*
 * Finds where the segment begins in the frame, if it may be one of it: each begins after the ones
 * before.
 */
static bool begins_at(const struct frame *f, const struct mg_packet *p, uint32_t *at)
{
	uint16_t nth = (uint16_t)(p->ip_id - f->ip_id);

	if (p->ip_id && nth >= f->segs)
		return false;
	*at = p->ip_id ? nth * (uint32_t)f->gso_size : f->cut_to;
	return *at >= f->cut_to && (p->len == f->gso_size || *at + p->len == f->len);
}

/*
 * Finds the frame of a segment of a super-datagram. IPv4's ids are consecutive, and the next
 * datagram's may begin among them; queued segments leave in order, so the segment belongs to the
 * first frame it may be of. Without ids they leave in order, but among several such datagrams the
 * owner is not certain.
 */
static struct frame *segment(struct core *c, struct queues *q, const struct mg_packet *p)
{
	struct frame *f = q->uncut;
	uint32_t at;

	if (f && !p->ip_id && f->next_uncut)
		return NULL;
	while (f && !begins_at(f, p, &at))
		f = f->next_uncut;
	if (!f)
		return NULL;
	while (q->uncut != f && q->uncut->cut_to) /* the rest of it was dropped */
		frame_is_over(q->uncut);
	return cut(c, f, p, at, p->len);
}

static int lowest(uint32_t layers)
{
	return __builtin_ctz(layers);
}

static int highest(uint32_t layers)
{
	return 31 - __builtin_clz(layers);
}

static struct frame *frame_of(struct core *c, struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, enum tx_layer layer, uint32_t network)
{
	struct frame *f;

	if ((int)layer == lowest(network) && !packet_is_later_part(p))
		return begin(c, t, s, p);
	f = frame_find(c, p->seq, &s->tx);
	/*
	 * the whole may share its buffer with its first part, and an older frame may have had any
	 * buffer
	 */
	if (f && !f->is_done && !f->waits && f->len == datagram_length(p) && f->ip_id == p->ip_id &&
		(!p->frag || f->is_piece))
		return f;
	if (p->frag)
		return fragment(c, &s->tx, p);
	return segment(c, s->queues, p);
}

static void annotate(struct annotation *a, const struct frame *f)
{
	a->has_offset = true;
	a->offset = f->parcel->off + f->off;
	a->length = f->len;
}

static void goes_on(struct mg_sock *s, struct frame *f)
{
	uint32_t len = f->len - f->split - f->lost;

	f->dropped = false;
	f->parcel->dropped -= len;
	s->tx.drops.bytes -= len;
}

void datagram_out(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	enum tx_layer layer, struct annotation *a)
{
	uint32_t network = datagram_required(c, &s->tx) & ~(1u << TX_CALL | 1u << TX_COPY);
	struct frame *f;

	if (!(network & 1u << layer))
		return;
	f = frame_of(c, t, s, &e->packet, layer, network);
	if (!f)
		return;
	annotate(a, f);
	if (f->dropped)
		goes_on(s, f);
	if (!(f->present & 1u << layer)) {
		f->present |= 1u << layer;
		f->t[layer] = e->cycles;
	}
	if ((int)layer == highest(network))
		parcel_passed(c, f);
}

void datagram_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a)
{
	struct frame *f = frame_find(c, e->dev_done.seq, &s->tx);

	if (!f)
		return;
	annotate(a, f);
	f->present |= 1u << TX_DONE;
	f->t[TX_DONE] = e->cycles;
	parcel_passed(c, f);
}

/*
 * Handles a refused call: data that left the socket were dropped, and nothing is corked any more.
 */
static void refused(struct mg_sock *s, struct kernel_call *k)
{
	for (uint32_t i = k->message.piece; i < k->pieces; i++)
		if (k->piece[i].parcel)
			s->tx.drops.bytes -= k->piece[i].parcel->dropped;
	call_drop_pieces(k, k->message.piece);
	if (s->queues->corked)
		parcel_put(s->queues->corked);
	s->queues->corked = NULL;
}

static void cork(struct queues *q, struct kernel_call *k, struct mg_sock *s, uint32_t len)
{
	if (!q->corked)
		q->corked = parcel_new(&s->tx, q->sent, 0);
	if (q->corked && q->corked->len + len > DATAGRAM_MAX) { /* its leaving was not seen */
		parcel_put(q->corked);
		q->corked = parcel_new(&s->tx, q->sent, 0);
	}
	if (!q->corked || !add_piece(k, &s->tx, q->corked, q->corked->len, len))
		return;
	q->corked->len += len;
	q->sent += len;
}

void datagram_sent(struct thread *t, struct mg_sock *s, int64_t ret)
{
	struct kernel_call *k = &t->now;
	struct queues *q = queues_of(s);
	struct piece *last = k->pieces > k->message.piece ? &k->piece[k->pieces - 1] : NULL;
	uint64_t more;

	if (!q)
		return;
	if (ret < 0) {
		refused(s, k);
		return;
	}
	if (!last) {
		if (ret > 0)
			cork(q, k, s, (uint32_t)ret);
		return;
	}
	if ((uint64_t)ret == last->len || !last->parcel)
		return;
	if ((uint64_t)ret < last->len || last->off != last->parcel->off || s->kind == MG_KIND_udp) {
		last->parcel->sent = false; /* it was not part of that datagram */
		return;
	}
	/* the program has made the IP header, too */
	more = (uint64_t)ret - last->len;
	last->len += more;
	last->parcel->len += (uint32_t)more;
	q->sent += more;
}

void datagram_settle_tx(struct core *c, const struct kernel_call *k, uint64_t call)
{
	for (uint32_t i = 0; i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];

		if (p->parcel && p->len && p->len < LEN_UNKNOWN)
			parcel_settle(c, p->parcel,
				&(struct slice){.off = (uint32_t)(p->off - p->parcel->off),
					.len = (uint32_t)p->len,
					.copy = p->t,
					.call = call,
					.exit = k->exit,
					.ends_call = i + 1 == k->pieces});
	}
}

static void lose(struct mg_sock *s, struct frame *f, uint32_t len)
{
	f->parcel->dropped += len;
	s->tx.drops.bytes += len;
}

/*
 * Handles the drop of a part that is not known by its buffer, while the call's datagram is being
 * cut.
 */
static void drop_part(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_drop *p)
{
	struct frame *f = c->frames ? c->frames->newest : NULL;

	if (!datagram_in_call(t, s))
		return;
	for (int i = 0; f && i < LOOK && (f->is_piece || f->parcel->flow != &s->tx); i++)
		f = f->older;
	if (!f || f->is_piece || f->parcel->flow != &s->tx || f->is_done || f->dropped ||
		!(f->is_uncut || f->split) || p->len > f->len - f->split - f->lost)
		return;
	f->lost += p->len;
	lose(s, f, p->len);
	if (f->split + f->lost == f->len)
		frame_forget(c, f);
}

/*
 * Handles the drop of a datagram on its way out. One that has left already has its byte ranges: it
 * was dropped elsewhere. A frame that goes on after its drop was a copy, such as that of a
 * broadcast which this host receives itself and has no reader for.
 */
void datagram_drop_out(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_drop *p)
{
	struct frame *f = frame_find(c, p->seq, &s->tx);

	if (!f || f->is_done || f->waits || f->dropped) {
		drop_part(c, t, s, p);
		return;
	}
	lose(s, f, f->len - f->split - f->lost);
	f->dropped = true;
	frame_is_over(f);
}
