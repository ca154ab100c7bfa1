/* SPDX-License-Identifier: MIT */
#include "stream/tx.h"

#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "clock/clockmap.h"
#include "event_table.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "socket/synack.h"
#include "stage.h"
#include "stream/ack.h"
#include "stream/seen.h"
#include "stream/tx_range.h"
#include "stream/why.h"

/* Bytes that a gap keeps waiting are given up this long after their acknowledgement. */
#define GIVE_UP_NS 20000000

/*
 * Returns whether a number in a frame's header lies beyond all that TCP has handed to IP: the
 * header was damaged in a queue (netem does that), and its bytes cannot be identified. `end` is the
 * end of the frame's bytes, or what it acknowledges; a FIN has a number, too.
 */
static bool is_damaged(const struct core *c, const struct flow *f, uint32_t end, bool bytes)
{
	const struct ranges *handed = &f->layer[TX_IP_OUT];
	uint64_t at;

	if (!f->last.ip || !flow_place(f, end, &at) || at <= ranges_end(handed) + !bytes)
		return false;
	return !mg_events_have(f->missing.events, MG_EVENT_ip_out) &&
	       mg_events_have(core_hooked(c, f->sock->netns), MG_EVENT_ip_out);
}

/* Notes when bytes left that had not before. */
static void note_leaving(struct flow *f, enum tx_layer layer, uint64_t t)
{
	uint64_t *last = layer == TX_IP_OUT ? &f->last.ip
			 : layer == TX_XMIT ? &f->last.driver
					    : NULL;

	if (last && t > *last)
		*last = t;
}

/*
 * Records that a packet of the flow has passed a layer, and fills in the event's offset and length.
 * Returns false if it has no bytes that the recording follows.
 */
static bool passes(struct core *c, struct flow *f, enum tx_layer layer, const struct seen *p,
	struct annotation *a)
{
	uint64_t off, fresh, t = p->t;
	uint32_t len = p->len;

	if (layer > TX_IP_OUT && is_damaged(c, f, p->seq + len, len > 0))
		return false;
	if (!flow_offset(f, p->seq, &off))
		return false;
	a->has_offset = true;
	a->offset = off;
	a->length = len;
	if (!len)
		return false;
	flow_touch(f, t);
	if (!flow_clip(f, &off, &len))
		return false;
	if (off + len > f->total)
		f->total = off + len;
	if (layer == TX_IP_OUT) {
		fresh = ranges_add_again(&f->layer[layer], &f->copies.again, off, off + len, t);
		/* if earlier repeated bytes were TCP's retransmission, its event has come by now */
		f->copies.resent += f->copies.pending;
		f->copies.pending = len - fresh;
		if (fresh < len)
			resent_on_copy(c, f, off, off + len, t);
	} else {
		fresh = ranges_add(&f->layer[layer], off, off + len, t);
	}
	if (f->sock->unclaimed)
		flow_pass(f, &f->layer[layer], off + len);
	if (fresh)
		note_leaving(f, layer, t);
	layer_pass(c, f, layer,
		&(struct passing){.t = t,
			.offset = off,
			.payload = len,
			.fresh = fresh,
			.wire = p->wire,
			.packets = p->packets});
	return true;
}

/*
 * Returns whether a frame without its socket is a copy that the sender's queue made (netem's
 * corrupt does): at the device where it was queued, its bytes have passed the queue and not the
 * driver. Forwarded bytes have passed both, or are at another device. Where driver events are lost,
 * frames without a socket cannot be identified.
 */
static bool is_own_copy(struct flow *f, const struct mg_packet *p)
{
	const struct ranges *before = &f->layer[TX_QUEUE], *here = &f->layer[TX_XMIT];
	uint64_t off;

	if (!p->len || f->sock->kind != MG_KIND_tcp || p->ifindex != f->device.queued_at ||
		mg_events_have(f->missing.events, MG_EVENT_dev_xmit) ||
		!flow_place(f, first_byte(p), &off) || ranges_reach(before, off) < off + p->len ||
		ranges_reach(here, off) != off)
		return false;
	f->device.copied.seq = first_byte(p);
	f->device.copied.len = p->len;
	return true;
}

/* Returns the same when the driver has taken the frame. */
static bool is_own_copy_done(struct flow *f, const struct mg_dev_done *p)
{
	bool own = f->device.copied.len && p->ifindex == f->device.queued_at &&
		   p->seq == f->device.copied.seq && p->len == f->device.copied.len;

	if (own && !p->rc)
		f->device.copied.len = 0;
	return own;
}

bool tx_is_own(struct core *c, const struct mg_event *e)
{
	struct mg_sock *s;

	if (e->id == MG_EVENT_dev_xmit && e->packet.via == 1) {
		s = sock_get(c, e->packet.sock);
		return s && is_own_copy(&s->tx, &e->packet);
	}
	if (e->id == MG_EVENT_dev_done && e->dev_done.via == 1) {
		s = sock_get(c, e->dev_done.sock);
		return s && is_own_copy_done(&s->tx, &e->dev_done);
	}
	return e->id == MG_EVENT_dev_done ? !e->dev_done.via : !e->packet.via;
}

void tx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_packet *p = &e->packet;
	/* a request's SYN-ACK moves no byte of the socket that it becomes */
	struct mg_sock *s = p->sock & MG_REQUEST_ID ? NULL : sock_get(c, p->sock);
	int layer = tx_stage_of(e->id);

	if (!s)
		return;
	if (layer == TX_QUEUE)
		s->tx.device.queued_at = p->ifindex;
	if ((layer == TX_IP_OUT || layer == TX_XMIT) && acks_wanted(c))
		ack_on_departure(c, s, e);
	if (!passes(c, &s->tx, (enum tx_layer)layer,
		    &(struct seen){.seq = first_byte(p),
			    .len = p->len,
			    .wire = packet_frame(p),
			    .packets = p->segs,
			    .t = e->cycles},
		    a))
		return;
	if (layer == TX_IP_OUT)
		why_on_out(c, t, s, p, a->offset, e->cycles);
}

#define NETDEV_TX_BUSY 0x10 /* of a driver: it has not taken the packet, which is tried again */

void tx_on_done(struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a)
{
	const struct mg_dev_done *p = &e->dev_done;

	if (p->rc != 0) {
		s->tx.drops.refused +=
			p->rc >= NETDEV_TX_BUSY; /* below it has dropped the packet */
		return;
	}
	if (passes(c, &s->tx, TX_DONE, &(struct seen){.seq = p->seq, .len = p->len, .t = e->cycles},
		    a))
		tx_settle_ranges(c, &s->tx, false);
}

void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_tcp_retransmit *p = &e->tcp_retransmit;
	uint64_t sent, syn;
	struct mg_sock *s;

	if (p->syn_ack) {
		synack_on_retransmit(c, p);
		return;
	}
	s = sock_get(c, p->sock);
	if (!s)
		return;
	flow_lives(&s->tx, e->cycles);
	a->has_offset = flow_offset(&s->tx, p->seq, &a->offset);
	a->length = p->len;
	/* the event comes when the bytes have passed IP */
	sent = p->err >= 0 || s->tx.copies.pending ? p->len : 0;
	syn = p->err >= 0 && s->state == MG_TCP_SYN_SENT ? p->segs : 0;
	if (facts_wanted(&c->facts, FACT_retransmit))
		emit_retransmit(&c->facts, &(struct fact_retransmit){.time = e->cycles,
						   .flow = flow_fact(&s->tx),
						   .offset = a->has_offset ? a->offset : FACT_NONE,
						   .length = p->len,
						   .segments = p->segs,
						   .result = p->err,
						   .sent = sent,
						   .syn = syn});
	s->tx.copies.retransmitted += sent;
	s->tx.copies.pending = 0;
	/* a refused one (the first copy is still in a queue of this machine) sends nothing */
	if (p->err < 0)
		return;
	s->tx.retried.segments += p->segs;
	s->tx.retried.syn += syn;
	/* without IP's events; a copy may have arrived before TCP's event about it */
	if (a->has_offset && !mg_events_have(core_hooked(c, s->netns), MG_EVENT_ip_out))
		ranges_add(&s->tx.copies.again, a->offset, a->offset + p->len, 0);
}

bool tx_may_be_acked(const struct core *c, const struct flow *f, uint32_t ack)
{
	uint64_t at, written = ranges_end(&f->layer[TX_COPY]);

	/* written bytes may have left unseen: some machines do not run all hooks */
	return !is_damaged(c, f, ack, false) || (flow_place(f, ack, &at) && at <= written + 1);
}

void tx_acked_by_frame(struct core *c, struct flow *f, uint32_t ack, uint64_t now)
{
	if (tx_may_be_acked(c, f, ack))
		tx_acked(c, f, ack, now);
}

void tx_acked(struct core *c, struct flow *f, uint32_t ack, uint64_t now)
{
	uint64_t off;

	if (!f->anchor.set || !flow_offset(f, ack, &off) || off <= f->ack.to)
		return;
	if (now - f->ack.before_t > clockmap_span(&c->clock, GIVE_UP_NS)) {
		f->ack.before = f->ack.to;
		f->ack.before_t = now;
	}
	f->ack.to = off;
	ranges_drop(&f->layer[TX_IP_OUT], off < f->done ? off : f->done);
	if (!f->copies.resent_times)
		return;
	resent_settle(c, f, off);
	exchange_on_acknowledged(c, f->sock);
}
