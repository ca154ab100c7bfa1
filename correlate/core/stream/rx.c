/* SPDX-License-Identifier: MIT */
/* Follows received bytes from the device to the program (method, "Byte lineage", "Residence"). */
#include "stream/rx.h"

#include <string.h>

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "clock/clockmap.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/peer.h"
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
#include "stream/urgent.h"
#include "stream/why.h"
#include "task/piece.h"
#include "task/threads.h"

#define TCP_FIN 1
#define TCP_URG 32

#define MSG_OOB_FLAG  0x1
#define MSG_PEEK_FLAG 0x2

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

struct settling {
	struct core *c;
	struct flow *f;
	const struct kernel_call *call;
	const struct piece *piece;
	uint64_t user; /* U1, or the system call's exit */
	uint64_t slack;
	uint64_t call_end; /* offset after its last byte */
	uint32_t required;
};

/* Indices of a settled range's lists after those of its layers. */
enum { AGAIN = RX_LAYERS, OVERTOOK, LISTS };

#define BELOW_TCP (1u << RX_DEV | 1u << RX_IP)

/* Returns when IP, or else the device or TCP, had the bytes. */
static uint64_t arrived(const uint64_t t[], uint32_t present)
{
	if (present & 1u << RX_IP)
		return t[RX_IP];
	return present & 1u << RX_DEV ? t[RX_DEV] : t[RX_TCP];
}

/*
 * Returns where the stage in_order begins. It is as long as the bytes waited for preceding ones to
 * arrive; the rest of the time until they are readable is ip_to_tcp.
 */
static uint64_t begin_of_order(const uint64_t t[], uint32_t present)
{
	uint64_t ready = t[RX_READY], wait;

	if (!(present & 1u << OVERTOOK) || t[OVERTOOK] == OVERTOOK_UNKNOWN)
		return ready;
	wait = t[OVERTOOK] - arrived(t, present);
	return t[OVERTOOK] > arrived(t, present) && wait < ready ? ready - wait : ready;
}

/*
 * Computes the stage boundaries of a byte range. The time in the socket queue depends on how the
 * reader came: if bytes of this socket woke it, it divides into the time until the wakeup, until it
 * ran, and until it called; otherwise the reader was absent until it called. A reader that slept
 * for another reason was absent.
 */
static void edges(const struct settling *s, const uint64_t t[], uint32_t present,
	uint64_t edge[RX_STAGES + 1])
{
	const struct piece *p = s->piece;
	uint64_t ready = t[RX_READY], entry = s->call->enter;
	bool woken = p->waking && p->switch_in >= p->waking && p->switch_in >= ready &&
		     p->switch_in <= p->t;

	/* A missing layer has no stage: the next stage begins where it would have. */
	edge[RX_STAGE_ORDER] = begin_of_order(t, present);
	edge[RX_STAGE_IP_TCP] =
		present & (BELOW_TCP | 1u << RX_TCP) ? arrived(t, present) : edge[RX_STAGE_ORDER];
	edge[RX_STAGE_DEV_IP] = present & 1u << RX_DEV ? t[RX_DEV] : edge[RX_STAGE_IP_TCP];
	edge[RX_STAGE_ABSENT] = ready;
	edge[RX_STAGE_WAKE] = woken || entry < ready ? ready : entry;
	/* bytes that came after the wakeup wait for the CPU only */
	edge[RX_STAGE_RUNQ] = woken && p->waking > ready ? p->waking : edge[RX_STAGE_WAKE];
	edge[RX_STAGE_POLL] = woken ? p->switch_in : edge[RX_STAGE_WAKE];
	edge[RX_STAGE_COPY] = woken && entry > p->switch_in ? entry : edge[RX_STAGE_POLL];
	edge[RX_STAGE_RETURN] = p->t;
	edge[RX_STAGES] = s->user;
}

/* Returns the latest boundary, computed independently to check the stages by. */
static uint64_t latest(const uint64_t edge[RX_STAGES + 1])
{
	uint64_t t = edge[0];

	for (int i = 1; i <= RX_STAGES; i++)
		t = edge[i] > t ? edge[i] : t;
	return t;
}

/* Returns whether a needed event may be lost: TCP's own, or those that show how the reader came. */
static bool lost_between(const struct settling *s, const uint64_t t[], uint32_t present)
{
	uint64_t first = present & 1u << RX_DEV ? t[RX_DEV] : t[RX_READY];

	return gap_within(s->c, MG_LAYER_SCHED, t[RX_READY], s->piece->t, -1, -1) ||
	       (!(present & 1u << RX_TCP) &&
		       gap_within(s->c, MG_LAYER_TCP, first, t[RX_READY], -1, -1));
}

/*
 * Notes bytes that came with the opening, when the connection had no socket, and were not recorded:
 * those in a SYN (RFC 7413), and those for a request whose SYN-ACK was not seen.
 */
static void note_opening(const struct settling *s, uint64_t a, uint64_t b, uint32_t present)
{
	const struct mg_sock *sock = s->f->sock;

	if (a == s->f->handshake.unseen && s->required & BELOW_TCP && !(present & BELOW_TCP) &&
		(sock->opener == OPENER_PEER || sock->state == MG_TCP_SYN_RECV))
		s->f->handshake.unseen = b;
}

/* Divides the time by the boundaries. Returns false if they contradict each other by too much. */
static bool divide(
	const struct settling *s, const uint64_t edge[RX_STAGES + 1], uint64_t length[RX_STAGES])
{
	uint64_t at = edge[0];

	for (int i = 0; i < RX_STAGES; i++) {
		if (edge[i + 1] + s->slack < at)
			return false;
		length[i] = edge[i + 1] > at ? edge[i + 1] - at : 0;
		at += length[i];
	}
	return true;
}

static void fill_stages(
	const struct settling *s, const uint64_t length[RX_STAGES], struct fact_range *r)
{
	r->total = 0;
	for (int i = 0; i < RX_STAGES; i++) {
		r->total += length[i];
		if (i != RX_STAGE_ORDER || s->f->sock->kind == MG_KIND_tcp)
			r->stage[TX_STAGES + i] = length[i];
	}
	/* a hook may have been detached since the layer saw these bytes */
	if (!(s->required & 1u << RX_DEV) && !length[RX_STAGE_DEV_IP])
		r->stage[TX_STAGES + RX_STAGE_DEV_IP] = FACT_NONE;
	if (!(s->required & BELOW_TCP) && !length[RX_STAGE_IP_TCP])
		r->stage[TX_STAGES + RX_STAGE_IP_TCP] = FACT_NONE;
}

void rx_tell_unseen(struct core *c, struct flow *f, uint64_t off, uint64_t len)
{
	struct fact_range r;

	range_begin(&r, f, off, len);
	emit_range(&c->facts, &r);
}

/* Returns what becomes of bytes with every time. */
static enum fact_outcome outcome_of(const uint64_t t[], uint32_t present)
{
	/* it came again before it was readable: the boundaries may belong to two copies */
	if (present & 1u << AGAIN && t[AGAIN] < t[RX_READY])
		return OUTCOME_SENT_AGAIN;
	return present & 1u << OVERTOOK && t[OVERTOOK] == OVERTOOK_UNKNOWN ? OUTCOME_UNDIVIDED
									   : OUTCOME_FOLLOWED;
}

/* Settles bytes with every time. */
static void known(const struct settling *s, const uint64_t edge[RX_STAGES + 1],
	const uint64_t length[RX_STAGES], struct fact_range *r)
{
	uint64_t elapsed = latest(edge) - edge[0];
	struct flow *f = s->f;

	r->begin = edge[0];
	f->complete += r->length;
	switch (r->outcome) {
	case OUTCOME_SENT_AGAIN:
		r->elapsed = elapsed;
		f->copies.ambiguous += r->length;
		break;
	case OUTCOME_UNDIVIDED:
		f->copies.undivided += r->length;
		break;
	default:
		r->elapsed = elapsed;
		fill_stages(s, length, r);
		f->closure += r->total > elapsed ? r->total - elapsed : elapsed - r->total;
	}
}

static void atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct settling *s = arg;
	struct flow *f = s->f;
	uint64_t edge[RX_STAGES + 1], length[RX_STAGES];
	struct fact_range r;

	range_begin(&r, f, a, b - a);
	r.calls_end = b == s->call_end;
	if ((present & s->required) == s->required && !lost_between(s, t, present)) {
		edges(s, t, present, edge);
		if (divide(s, edge, length))
			r.outcome = (uint8_t)outcome_of(t, present);
	}
	if (r.outcome != OUTCOME_INCOMPLETE) {
		known(s, edge, length, &r);
		emit_range(&s->c->facts, &r);
		exchange_on_range(f, &r);
		peer_received(s->c, f, a, b, r.outcome == OUTCOME_FOLLOWED ? edge[0] : 0, s->user);
		return;
	}
	note_opening(s, a, b, present);
	f->incomplete += r.length;
	if (present & 1u << AGAIN)
		f->copies.incomplete += r.length;
	r.begin = present & 1u << RX_DEV ? t[RX_DEV] : 0;
	emit_range(&s->c->facts, &r);
	exchange_on_range(f, &r);
	peer_received(s->c, f, a, b, 0, 0);
}

/* Settles bytes once: after a loss two calls may seem to have read the same ones. */
static void atom_once(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	if (!(present & 1u << RX_COPY))
		atom(arg, a, b, t, present);
}

/*
 * Returns the layers in which this recording can have seen the bytes, as bits; TCP's own is not
 * always there.
 */
static uint32_t required(const struct core *c, const struct flow *f)
{
	uint32_t seen = rx_stages(core_hooked(c, f->sock->netns));

	return 1u << RX_READY | (seen & (1u << RX_DEV | 1u << RX_IP));
}

bool rx_atom(struct core *c, const struct piece *p, const struct kernel_call *k, uint64_t user,
	uint32_t layers, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct settling s = {.c = c,
		.f = p->flow,
		.call = k,
		.piece = p,
		.user = user,
		.slack = (uint64_t)core_clock_error(c) + 1,
		.required = layers};
	uint64_t before = p->flow->complete;

	atom(&s, a, b, t, present);
	return p->flow->complete > before;
}

void rx_settle_piece(
	struct core *c, const struct kernel_call *k, const struct piece *p, uint64_t user)
{
	struct flow *f = p->flow;
	struct settling s = {.c = c,
		.f = f,
		.call = k,
		.piece = p,
		.user = user,
		.slack = clock_slack(core_clock_error(c)),
		.required = required(c, f),
		.call_end = p->off + p->len};
	const struct ranges *lists[LISTS] = {NULL};
	uint64_t off = p->off, end = p->off + p->len;

	if (k->pieces)
		s.call_end = k->piece[k->pieces - 1].off + k->piece[k->pieces - 1].len;
	if (off < f->done) /* settled already: its numbers were seen twice */
		off = f->done < end ? f->done : end;
	if (c->low_water)
		rx_in_order_unreported(c, f, end, p->t);
	for (int l = RX_DEV; l <= RX_READY; l++)
		lists[l] = &f->layer[l];
	if (c->counts.lost_kernel)
		lists[RX_COPY] = &f->layer[RX_COPY];
	lists[AGAIN] = &f->copies.again;
	lists[OVERTOOK] = &f->layer[RX_OVERTOOK];
	ranges_atoms(lists, LISTS, off, end, atom_once, &s);
}

/* Handles a call without bytes, which may have ended behind an urgent byte. */
static void without_bytes(struct core *c, const struct kernel_call *k, uint64_t leave)
{
	struct mg_sock *s = k->ret < 0 ? NULL : sock_find(c, k->cookie);
	struct flow *f = s ? &s->rx : NULL;
	uint64_t off;

	if (!f || mg_syscall_direction(k->call) != MG_DIR_RX || !(f->urgent.seen || k->ret))
		return;
	if (k->ret == 1 && (k->flags & (MSG_OOB_FLAG | MSG_PEEK_FLAG)) == MSG_OOB_FLAG) {
		urgent_read(c, f, k, leave);
		return;
	}
	if (k->ret || f->use.open || !f->fin.seen || k->exit_seq != f->fin.seq + 1 ||
		!flow_offset(f, f->fin.seq, &off) || off <= f->done)
		return;
	if (off > f->total)
		f->total = off;
	rx_give_up_holes(c, f, off);
	rx_drop_done(f);
}

void rx_settle(struct core *c, struct kernel_call *k, uint64_t user)
{
	uint64_t leave = user ? user : k->exit, sum = 0, last = 0;
	struct flow *f = NULL;

	for (uint32_t i = 0; i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];
		uint64_t off = p->off, end = p->off + p->len;

		f = p->flow;
		if (end <= f->start) /* queued before the recording: does not count */
			continue;
		if (off < f->start)
			off = f->start;
		sum += end - off;
		last = end;
		rx_settle_piece(c, k, p, leave);
		ranges_add(&f->layer[RX_COPY], off, end, p->t);
		layer_pass_call(c, f, RX_COPY, p->t, off, end - off);
		if (last > f->total)
			f->total = last;
	}
	if (!f) {
		without_bytes(c, k, leave);
		return;
	}
	if (!sum)
		return;
	flow_touch(f, leave);
	layer_pass_call(c, f, RX_CALL, leave, last - sum, sum);
	if (f->use.calls++ == 0)
		f->use.first = k->enter;
	f->use.last = k->enter;
	/* bytes that another thread is still reading are kept */
	f->done = ranges_reach(&f->layer[RX_COPY], f->done);
	if (!f->use.open && f->done < last)
		rx_give_up_holes(c, f, last);
	rx_drop_done(f);
}

/* Calls still open at the recording's end, mostly a waiting read, will fill no hole. */
void rx_finish(struct core *c, struct flow *f)
{
	f->use.open = 0;
	if (f->done < f->total)
		rx_give_up_holes(c, f, f->total);
	rx_drop_done(f);
}
