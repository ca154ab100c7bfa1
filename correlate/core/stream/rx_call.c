/* SPDX-License-Identifier: MIT */
#include "stream/rx_call.h"

#include "core.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/rx_range.h"
#include "stream/rx_unseen.h"
#include "stream/urgent.h"
#include "task/threads.h"

/* Handles a call without bytes, which may have ended behind an urgent byte. */
static void without_bytes(struct core *c, const struct kernel_call *k, uint64_t leave)
{
	struct mg_sock *s = k->ret < 0 ? NULL : sock_find(c, k->cookie);
	struct flow *f = s ? &s->rx : NULL;
	uint64_t off;

	if (!f || mg_syscall_direction(k->call) != MG_DIR_RX || !(f->urgent.seen || k->ret))
		return;
	if (urgent_is_read(k)) {
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
