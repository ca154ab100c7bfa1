/* SPDX-License-Identifier: MIT */
/* Follows sent bytes from the program's call to the driver (method, "Byte lineage"). */
#include "stream/tx.h"

#include <errno.h>
#include <string.h>

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "clock/clockmap.h"
#include "message/datagram.h"
#include "socket/anchor.h"
#include "socket/peer.h"
#include "socket/socket.h"
#include "socket/synack.h"
#include "stream/call_ends.h"
#include "stream/ranges.h"
#include "stream/resent.h"
#include "stream/seen.h"
#include "stream/unsent.h"
#include "stream/why.h"
#include "task/call.h"
#include "task/threads.h"

/* Bytes that a gap keeps waiting are given up this long after their acknowledgement. */
#define GIVE_UP_NS 20000000

/* Limit of retransmitted ranges kept for a peer that may be met later. */
#define AGAIN_MAX 1024
/* Index after the layers and the label: time of a retransmission. */
#define AGAIN (TX_LAYERS + 1)

/* Returns the layers in which this recording can have seen the bytes, as bits. */
static uint32_t required(const struct core *c, const struct flow *f)
{
	return 1u << TX_CALL | tx_stages(core_hooked(c, f->sock->netns));
}

/*
 * Returns whether one call may hold several sends: then the remaining length starts over, and the
 * position decides.
 */
static bool several_sends(const struct kernel_call *k)
{
	return k->call == MG_SYS_sendfile || k->call == MG_SYS_sendmmsg || k->call == MG_SYS_splice;
}

static void end_piece(struct kernel_call *k, uint64_t next, uint32_t left)
{
	struct piece *p = &k->piece[k->pieces - 1];

	if (several_sends(k) && next - p->off >= k->left)
		p->len = k->left;
	else
		p->len = left < k->left ? k->left - left : left > k->left ? k->left : 0;
}

void tx_on_send(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_tcp_send *p = &e->tcp_send;
	struct mg_sock *s = sock_get(c, p->sock);
	struct kernel_call *k = &t->now;
	uint64_t off;

	if (!s || !flow_offset(&s->tx, p->seq, &off))
		return;
	flow_touch(&s->tx, e->cycles);
	if (!s->user.pid) /* no system calls are recorded */
		sock_used_by(c, s, t);
	tx_acked(c, &s->tx, p->snd_una, e->cycles);
	why_on_write(&s->tx, t, p, e->cycles);
	a->has_offset = true;
	a->offset = off;
	if (!t->in_call || t->in_softirq)
		return;
	/*
	 * the difference of the remaining lengths was copied in between; sendfile() sometimes
	 * starts over
	 */
	if (k->copied && k->pieces)
		end_piece(k, off, p->left);
	if (call_add_piece(k, &s->tx, off, 0, e->cycles))
		k->copied = true;
	k->left = p->left;
}

/*
 * Adds bytes that went with the SYN (RFC 7413), which no send copied: they belong to a connection's
 * first call, whose copying begins behind them.
 */
static void add_syn_data(struct kernel_call *k, uint32_t exit_seq)
{
	struct flow *f = k->piece[0].flow;
	uint64_t off, len = k->piece[0].off;

	if (f->start || f->use.calls || !len || !flow_offset(f, exit_seq, &off) ||
		off != (uint64_t)k->ret || !call_add_piece(k, f, 0, 0, 0))
		return;
	memmove(k->piece + 1, k->piece, (k->pieces - 1) * sizeof(*k->piece));
	k->piece[0] = (struct piece){.flow = f, .len = len, .t = k->enter};
}

/* The last piece gets what the call returned minus the earlier pieces. */
void tx_end_call(struct kernel_call *k, uint32_t exit_seq)
{
	uint64_t before = 0, all = k->ret > 0 ? (uint64_t)k->ret : 0;
	uint32_t kept = 0;

	if (!k->copied || !k->pieces)
		return;
	why_on_written(k->piece[k->pieces - 1].flow, exit_seq);
	if (k->ret > 0)
		add_syn_data(k, exit_seq);
	/* returns messages: then by position, if it is consistent */
	if (k->call == MG_SYS_sendmmsg)
		all = k->ret > 0 ? exit_seq - k->enter_seq : 0;
	for (uint32_t i = 0; i + 1 < k->pieces; i++)
		before += k->piece[i].len;
	k->piece[k->pieces - 1].len = all > before ? all - before : 0;
	for (uint32_t i = 0; i < k->pieces; i++)
		if (k->piece[i].len)
			k->piece[kept++] = k->piece[i];
		else
			piece_release(&k->piece[i]);
	k->pieces = kept;
}

/* Counts a refused call (EAGAIN): nothing was taken, and the program must retry. */
static void refused(struct core *c, const struct kernel_call *k, uint64_t leave)
{
	struct mg_sock *s = sock_find(c, k->cookie);

	if (!s)
		return;
	s->tx.refusals.n++;
	if (!s->tx.refusals.since)
		s->tx.refusals.since = leave ? leave : k->exit;
}

/* Settles what was refused before; `copied` is 0 where the event of copying is lost. */
static void retried(const struct core *c, struct flow *f, uint64_t copied)
{
	if (!f->refusals.since)
		return;
	emit_refusal(&c->facts,
		&(struct fact_refusal){
			.flow = flow_fact(f), .begin = f->refusals.since, .end = copied});
	f->refusals.since = 0;
}

void tx_settle(struct core *c, struct kernel_call *k, uint64_t user, uint64_t leave)
{
	uint64_t t = user ? user : k->enter, sum = 0;
	struct flow *f = NULL;

	for (uint32_t i = 0; i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];
		uint64_t end = p->off + p->len;

		if (!f)
			retried(c, p->flow, p->t);
		f = p->flow;
		ranges_add(&f->layer[TX_CALL], p->off, end, t);
		if (p->t) { /* otherwise it was lost */
			ranges_add(&f->layer[TX_COPY], p->off, end, p->t);
			layer_pass_call(c, f, TX_COPY, p->t, p->off, p->len);
		}
		sum += p->len;
		if (end > f->total)
			f->total = end;
	}
	if (!f) {
		if (k->ret == -EAGAIN)
			refused(c, k, leave);
		return;
	}
	call_ends_add(&f->call_ends, k->piece[k->pieces - 1].off + k->piece[k->pieces - 1].len);
	flow_touch(f, k->exit);
	layer_pass_call(c, f, TX_CALL, t, k->piece[0].off, sum);
	if (f->use.calls++ == 0)
		f->use.first = t;
	f->use.last = t;
	tx_make_atoms(c, f, false);
}

/*
 * Returns whether a number in a frame's header lies beyond all that TCP has handed to IP: the
 * header was damaged in a queue (netem does that), and its bytes cannot be identified. `end` is the
 * end of the frame's bytes, or what it acknowledges; a FIN has a number, too.
 */
static bool is_damaged(const struct core *c, const struct flow *f, uint32_t end, bool bytes)
{
	const struct ranges *handed = &f->layer[TX_IP_OUT];
	uint64_t at;

	if (!f->left_last.ip || mg_events_have(f->missing.events, MG_EVENT_ip_out) ||
		!mg_events_have(core_hooked(c, f->sock->netns), MG_EVENT_ip_out))
		return false;
	return flow_place(f, end, &at) && at > ranges_end(handed) + !bytes;
}

/* Notes when bytes left that had not before. */
static void note_leaving(struct flow *f, enum tx_layer layer, uint64_t t)
{
	uint64_t *last = layer == TX_IP_OUT ? &f->left_last.ip
			 : layer == TX_XMIT ? &f->left_last.driver
					    : NULL;

	if (last && t > *last)
		*last = t;
}

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
	struct mg_sock *s = sock_get(c, p->sock);
	int layer = tx_stage_of(e->id);

	if (!s)
		return;
	if (layer == TX_QUEUE)
		s->tx.device.queued_at = p->ifindex;
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

void tx_on_done(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_dev_done *p = &e->dev_done;
	struct mg_sock *s = sock_get(c, p->sock);

	if (s && s->kind != MG_KIND_tcp) {
		datagram_on_done(c, s, e, a);
		return;
	}
	if (!s)
		return;
	if (p->rc != 0) {
		s->tx.drops.refused++;
		return;
	}
	if (passes(c, &s->tx, TX_DONE, &(struct seen){.seq = p->seq, .len = p->len, .t = e->cycles},
		    a))
		tx_make_atoms(c, &s->tx, false);
}

void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a)
{
	const struct mg_tcp_retransmit *p = &e->tcp_retransmit;
	struct mg_sock *s;

	if (p->syn_ack) {
		synack_on_retransmit(c, p);
		return;
	}
	s = sock_get(c, p->sock);
	if (!s)
		return;
	a->has_offset = flow_offset(&s->tx, p->seq, &a->offset);
	a->length = p->len;
	if (facts_wanted(&c->facts, FACT_retransmit))
		emit_retransmit(&c->facts, &(struct fact_retransmit){.time = e->cycles,
						   .flow = flow_fact(&s->tx),
						   .offset = a->has_offset ? a->offset : FACT_NONE,
						   .length = p->len,
						   .segments = p->segs,
						   .result = p->err});
	/* the event comes when the bytes have passed IP */
	if (p->err >= 0 || s->tx.copies.pending)
		s->tx.copies.retransmitted += p->len;
	s->tx.copies.pending = 0;
	/* a refused one (the first copy is still in a queue of this machine) sends nothing */
	if (p->err < 0)
		return;
	s->tx.retried.segments += p->segs;
	if (s->state == MG_TCP_SYN_SENT)
		s->tx.retried.syn += p->segs;
	/* without IP's events; a copy may have arrived before TCP's event about it */
	if (a->has_offset && !mg_events_have(core_hooked(c, s->netns), MG_EVENT_ip_out))
		ranges_add(&s->tx.copies.again, a->offset, a->offset + p->len, 0);
}

void tx_acked_by_frame(const struct core *c, struct flow *f, uint32_t ack, uint64_t now)
{
	uint64_t at, written = ranges_end(&f->layer[TX_COPY]);

	/* written bytes may have left unseen: some machines do not run all hooks */
	if (!is_damaged(c, f, ack, false) || (flow_place(f, ack, &at) && at <= written + 1))
		tx_acked(c, f, ack, now);
}

void tx_acked(const struct core *c, struct flow *f, uint32_t ack, uint64_t now)
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
}

void tx_closed(const struct core *c, struct flow *f)
{
	resent_settle(c, f, UINT64_MAX);
	ranges_drop(&f->layer[TX_IP_OUT], f->done);
}

/*
 * Limit of ranges for which the time of handing to IP is kept until they are acknowledged, as they
 * may be sent again; it applies where acknowledgements are not recorded.
 */
#define IN_FLIGHT_MAX 4096

static void drop_done(struct flow *f, bool at_end)
{
	struct ranges *sent = &f->layer[TX_IP_OUT];

	for (int i = 0; i < TX_LAYERS; i++)
		if (i != TX_IP_OUT)
			ranges_drop(&f->layer[i], f->done);
	if (at_end || sent->len > IN_FLIGHT_MAX || f->ack.to > f->done)
		ranges_drop(sent, f->done);
	else
		ranges_drop(sent, f->ack.to);
}

struct making {
	struct core *c;
	struct flow *f;
	uint32_t required;
	uint64_t slack;
};

/* A stage ends where the next layer that is hooked begins. */
static const enum tx_layer edge[TX_STAGES + 1] = {
	TX_CALL, TX_COPY, TX_IP_OUT, TX_QUEUE, TX_XMIT, TX_DONE};

/* Returns whether a layer is hooked at which this stage, or one behind it, ends. */
static bool is_ended(const struct making *m, int stage)
{
	for (int i = stage + 1; i <= TX_STAGES; i++)
		if (m->required & 1u << edge[i])
			return true;
	return false;
}

/* Returns whether a layer is hooked at which this stage begins, and one at which it ends. */
static bool is_known(const struct making *m, int stage)
{
	return m->required & 1u << edge[stage] && is_ended(m, stage);
}

/*
 * Divides the time from the call on by the layers that are hooked. Returns false if a layer had the
 * bytes before the one above it, by more than the clocks may differ.
 */
static bool divide(const struct making *m, const uint64_t t[], uint64_t length[TX_STAGES])
{
	uint64_t at = t[TX_CALL];
	int from = 0;

	for (int i = 1; i <= TX_STAGES; i++) {
		uint64_t next = t[edge[i]];

		if (!(m->required & 1u << edge[i]))
			continue;
		if (next + m->slack < at)
			return false;
		length[from] = next > at ? next - at : 0;
		at += length[from];
		from = i;
	}
	return true;
}

/* Returns the latest time, computed independently to check the stages by. */
static uint64_t latest(const struct making *m, const uint64_t t[])
{
	uint64_t last = t[TX_CALL];

	for (int i = 1; i <= TX_STAGES; i++)
		if (m->required & 1u << edge[i] && t[edge[i]] > last)
			last = t[edge[i]];
	return last;
}

static void fill_stages(const struct making *m, const uint64_t length[TX_STAGES],
	const uint64_t t[], uint32_t present, struct fact_range *r)
{
	struct flow *f = m->f;
	uint64_t label = present & 1u << TX_LAYERS ? t[TX_LAYERS] : 0, handed;

	r->total = 0;
	for (int i = 0; i < TX_STAGES; i++) {
		r->total += length[i];
		if (is_known(m, i))
			r->stage[i] = length[i];
	}
	if (f->sock->kind != MG_KIND_tcp || !(m->required & 1u << TX_IP_OUT))
		return;
	r->why = WHY_OF(label);
	r->released_by = RELEASE_OF(label);
	handed = r->begin + length[TX_STAGE_CALL] + length[TX_STAGE_SNDBUF];
	why_times(f, handed - length[TX_STAGE_SNDBUF], handed, r->held);
}

static void count_closure(struct flow *f, uint64_t total, uint64_t elapsed)
{
	f->closure += total > elapsed ? total - elapsed : elapsed - total;
}

/* Settles bytes with every time. */
static void known(const struct making *m, const uint64_t length[TX_STAGES], const uint64_t t[],
	uint32_t present, struct fact_range *r)
{
	struct flow *f = m->f;

	r->elapsed = latest(m, t) - r->begin;
	r->transmitted = m->required & 1u << TX_XMIT ? t[TX_XMIT] : 0;
	if (present & 1u << AGAIN && t[AGAIN] < r->begin + r->elapsed) {
		r->outcome = OUTCOME_SENT_AGAIN;
		f->copies.ambiguous += r->length;
	} else {
		r->outcome = OUTCOME_FOLLOWED;
		fill_stages(m, length, t, present, r);
		count_closure(f, r->total, r->elapsed);
	}
	f->complete += r->length;
}

static void atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct making *m = arg;
	struct flow *f = m->f;
	uint64_t length[TX_STAGES] = {0};
	struct fact_range r;

	range_begin(&r, f, a, b - a);
	r.begin = present & 1u << TX_CALL ? t[TX_CALL] : 0;
	while (call_ends_take(&f->call_ends, b))
		r.calls_end++;
	if ((present & m->required) == m->required && divide(m, t, length)) {
		known(m, length, t, present, &r);
	} else {
		f->incomplete += r.length;
		if (present & 1u << AGAIN)
			f->copies.incomplete += r.length;
	}
	emit_range(&m->c->facts, &r);
	if (r.outcome == OUTCOME_INCOMPLETE)
		peer_sent(m->c, f, a, b, 0, 0);
	else
		peer_sent(m->c, f, a, b, r.begin, r.transmitted);
}

void tx_atom(struct core *c, struct flow *f, uint32_t layers, uint64_t a, uint64_t b,
	const uint64_t t[], uint32_t present)
{
	struct making m = {c, f, layers, clock_slack(core_clock_error(c))};
	uint64_t all[AGAIN + 1] = {0}; /* lists that only streams have are empty */

	memcpy(all, t, TX_LAYERS * sizeof(*t));
	atom(&m, a, b, all, present);
}

void tx_make_atoms(struct core *c, struct flow *f, bool at_end)
{
	const struct ranges *layers[AGAIN + 1];
	struct making m = {c, f, required(c, f), clock_slack(core_clock_error(c))};
	uint64_t until = ranges_reach(&f->layer[TX_CALL], f->done);

	for (int i = 0; i < TX_LAYERS; i++) {
		layers[i] = &f->layer[i];
		if (m.required & 1u << i && until > f->done) {
			uint64_t reach = ranges_reach(layers[i], f->done);

			if (reach < until)
				until = reach;
		}
	}
	/* acknowledged long ago: missing events were lost from the trace and will not come */
	if (!f->use.open && f->ack.before > until)
		until = f->ack.before;
	if (at_end && f->ack.to > until)
		until = f->ack.to;
	if (until > f->total) /* the FIN has a sequence number, but is no byte */
		until = f->total;
	if (until <= f->done)
		return;
	layers[TX_LAYERS] = f->why ? &f->why->label : NULL;
	layers[AGAIN] = &f->copies.again;
	ranges_atoms(layers, AGAIN + 1, f->done, until, atom, &m);
	f->done = until;
	if (f->why)
		ranges_drop(&f->why->label, until);
	if (!f->sock->peer && f->copies.again.len > AGAIN_MAX)
		ranges_drop(&f->copies.again, until);
	drop_done(f, at_end);
}
