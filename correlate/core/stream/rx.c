/* SPDX-License-Identifier: MIT */
/* Follows received bytes from the device until the program copies them (method, "Byte lineage"). */
#include "stream/rx.h"

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/ack.h"
#include "stream/buffer.h"
#include "stream/head_of_line.h"
#include "stream/low_water.h"
#include "stream/request.h"
#include "stream/rx_unseen.h"
#include "stream/seen.h"
#include "stream/state.h"
#include "stream/tx.h"
#include "stream/why.h"
#include "task/piece.h"
#include "task/threads.h"

#define TCP_FIN 1
#define TCP_URG 32

static void arrives(struct core *c, struct flow *f, enum rx_layer layer, const struct seen *p,
	struct annotation *a)
{
	uint64_t off, fresh, t = p->t;
	uint32_t len = p->len;

	if (!flow_offset(f, p->seq, &off))
		return;
	a->rx = true;
	a->has_offset = true;
	a->offset = off;
	a->length = len;
	if (!len)
		return;
	flow_touch(f, t);
	if (!flow_clip(f, &off, &len))
		return;
	fresh = ranges_add_again(&f->layer[layer], &f->copies.again, off, off + len, t);
	if (f->sock->unclaimed)
		flow_pass(f, &f->layer[layer], off + len);
	layer_pass(c, f, layer,
		&(struct passing){.t = t,
			.offset = off,
			.payload = len,
			.fresh = fresh,
			.wire = p->wire,
			.packets = p->packets});
}

void rx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_packet *p = &e->packet;
	bool request = p->sock & MG_REQUEST_ID;
	/* without data they move no byte of the socket that the request becomes */
	struct mg_sock *s = !request ? sock_get(c, p->sock)
			    : p->len ? request_on_packet(c, e)
				     : NULL;
	enum rx_layer layer = (enum rx_layer)rx_stage_of(e->id);

	if (!s)
		return;
	arrives(c, &s->rx, layer,
		&(struct seen){.seq = first_byte(p),
			.len = p->len,
			.wire = packet_frame(p),
			.packets = p->segs,
			.t = e->cycles},
		a);
	if (request && a->offset + a->length > s->rx.handshake.request_end)
		s->rx.handshake.request_end = a->offset + a->length;
	a->rx = true;
	if (p->tcp_flags & TCP_URG)
		s->rx.urgent.seen = true;
	if (p->tcp_flags & TCP_FIN) {
		s->rx.fin.seen = true;
		s->rx.fin.seq = p->seq + p->len;
	}
	if ((layer == RX_DEV || layer == RX_IP) && !request && acks_wanted(c))
		ack_on_arrival(c, s, e);
	if (layer == RX_DEV && p->tcp_flags & 16)
		tx_acked_by_frame(c, &s->tx, p->ack, e->cycles);
	if (layer == RX_IP && s->tx.why) /* by the window before it */
		why_on_arrival(s, t, e->cycles);
	if (layer == RX_IP && s->state > MG_TCP_SYN_RECV) { /* an end has closed */
		state_on_arrival(c, s, p, e->cycles);
		buffer_on_segment(c, s, e->cycles);
	}
}

void rx_on_tcp(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_tcp_recv *p = &e->tcp_recv;
	struct mg_sock *s = sock_get(c, p->sock);

	a->rx = true;
	if (!s)
		return;
	if (c->low_water)
		rx_in_order_unreported(c, &s->rx, UINT64_MAX, e->cycles);
	s->rx.last.processed = e->cycles;
	if (acks_wanted(c))
		ack_on_processed(c, s, e);
	arrives(c, &s->rx, RX_TCP, &(struct seen){.seq = p->seq, .len = p->len, .t = e->cycles}, a);
	why_on_segment(s, t, p, e->cycles);
	buffer_on_segment(c, s, e->cycles);
}

/*
 * Returns whether TCP's own event, which exists in established connections only, covers these
 * bytes. They may have come with the peer's FIN, which changes the state before they are readable.
 */
static bool reported_by_tcp(const struct core *c, const struct mg_sock *s, uint64_t from)
{
	return (s->state == MG_TCP_ESTABLISHED || s->state == MG_TCP_CLOSE_WAIT) &&
	       from >= s->rx.handshake.request_end && core_observes(c, MG_EVENT_tcp_recv);
}

/* Everything before rcv_nxt is in order now. */
void rx_on_ready(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->tcp_ready.sock);
	struct flow *f = s ? &s->rx : NULL;
	uint64_t off, from;

	a->rx = true;
	if (!f || !flow_offset(f, before_fin(f, e->tcp_ready.rcv_nxt), &off))
		return;
	flow_touch(f, e->cycles);
	rx_consumed(c, f, e->tcp_ready.copied_seq, e->cycles);
	buffer_on_ready(c, s, e);
	from = ranges_reach(&f->layer[RX_READY], f->layer[RX_READY].base);
	if (from < f->done)
		from = f->done;
	if (off <= from)
		return;
	rx_note_overtaking(c, f, from, off, reported_by_tcp(c, s, from));
	ranges_add(&f->layer[RX_READY], from, off, e->cycles);
	if (s->unclaimed)
		flow_pass(f, &f->layer[RX_READY], off);
	layer_pass_call(c, f, RX_READY, e->cycles, from, off - from);
	a->has_offset = true;
	a->offset = from;
	a->length = off - from;
}

void rx_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a)
{
	const struct mg_sock_copy *p = &e->sock_copy;
	struct piece *piece;
	uint64_t off;

	if (!flow_offset(&s->rx, p->seq, &off))
		return;
	flow_touch(&s->rx, e->cycles);
	if (!s->user.pid) /* no system calls are recorded */
		sock_used_by(c, s, t);
	a->length = p->len;
	/*
	 * peeking at several buffers does not move the position; errors have a queue of their own
	 */
	if (t->in_call && t->now.flags & MOVES_NOTHING)
		return;
	buffer_on_copy(c, s, e);
	a->has_offset = true;
	a->offset = off;
	if (!t->in_call || t->in_softirq)
		return;
	piece = call_add_piece(&t->now, &s->rx, off, p->len, e->cycles);
	if (piece && t->wake.sock == p->sock) {
		piece->waking = t->wake.at;
		piece->switch_in = t->wake.ran;
	}
}
