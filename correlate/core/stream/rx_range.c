/* SPDX-License-Identifier: MIT */
#include "stream/rx_range.h"

#include "core.h"
#include "stage.h"
#include "bytes/ranges.h"
#include "clock/clockmap.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/peer.h"
#include "stream/head_of_line.h"
#include "stream/low_water.h"
#include "stream/seen.h"
#include "task/threads.h"

/* A read of which byte ranges are being settled. */
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

void rx_emit_unseen(struct core *c, struct flow *f, uint64_t off, uint64_t len)
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

/*
 * Returns when TCP, or else IP, first had bytes that came again, if that was a later copy; 0 if it
 * was the first one, or neither was recorded.
 */
static uint64_t copy_taken(const uint64_t t[], uint32_t present)
{
	uint64_t ip = present & 1u << RX_IP ? t[RX_IP] : 0;
	uint64_t tcp = present & 1u << RX_TCP && t[RX_TCP] <= t[RX_READY] ? t[RX_TCP] : 0;
	uint64_t taken = tcp > ip ? tcp : ip;

	return taken >= t[AGAIN] ? taken : 0;
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

static void settle(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
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
		if (r.outcome == OUTCOME_SENT_AGAIN)
			r.transmitted = copy_taken(t, present);
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
static void settle_once(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	if (!(present & 1u << RX_COPY))
		settle(arg, a, b, t, present);
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

bool rx_settle_range(struct core *c, const struct piece *p, const struct kernel_call *k,
	uint64_t user, uint32_t layers, uint64_t a, uint64_t b, const uint64_t t[],
	uint32_t present)
{
	struct settling s = {.c = c,
		.f = p->flow,
		.call = k,
		.piece = p,
		.user = user,
		.slack = (uint64_t)core_clock_error(c) + 1,
		.required = layers};
	uint64_t before = p->flow->complete;

	settle(&s, a, b, t, present);
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
	ranges_atoms(lists, LISTS, off, end, settle_once, &s);
}
