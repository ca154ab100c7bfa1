/* SPDX-License-Identifier: MIT */
#include "stream/tx_call.h"

#include <errno.h>
#include <string.h>

#include "bytes/call_ends.h"
#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "event_table.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/buffer.h"
#include "stream/tx.h"
#include "stream/tx_range.h"
#include "stream/why.h"
#include "task/piece.h"
#include "task/threads.h"

/*
 * Returns whether one call may hold several sends: then the remaining length starts over, and the
 * position decides.
 */
static bool several_sends(const struct kernel_call *k)
{
	return k->call == MG_SYS_sendfile || k->call == MG_SYS_sendmmsg || k->call == MG_SYS_splice;
}

/* Sets the length of the last piece, as the next one begins at offset `next`. */
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
	buffer_on_write(c, s, e);
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
uint32_t tx_end_call(struct kernel_call *k, uint32_t exit_seq)
{
	uint64_t before = 0, all = k->ret > 0 ? (uint64_t)k->ret : 0;
	uint32_t kept = 0;

	if (!k->copied || !k->pieces)
		return k->pieces;
	why_on_written(k->piece[k->pieces - 1].flow, exit_seq);
	if (k->ret > 0)
		add_syn_data(k, exit_seq);
	/* returns messages: then by position, if it is consistent */
	if (k->call == MG_SYS_sendmmsg)
		all = k->ret > 0 ? exit_seq - k->enter_seq : 0;
	for (uint32_t i = 0; i + 1 < k->pieces; i++)
		before += k->piece[i].len;
	k->piece[k->pieces - 1].len = all > before ? all - before : 0;
	for (uint32_t i = 0; i < k->pieces; i++) {
		struct piece p = k->piece[i];

		if (!p.len)
			continue;
		k->piece[i] = k->piece[kept];
		k->piece[kept++] = p;
	}
	return kept;
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
	tx_settle_ranges(c, f, false);
}
