/* SPDX-License-Identifier: MIT */
/* Handles bytes that were read although some event about it is missing. */
#include "stream/rx_unseen.h"

#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"
#include "clock/clockmap.h"
#include "socket/anchor.h"
#include "socket/peer.h"
#include "stream/rx_range.h"
#include "stream/urgent.h"

/* Bytes read longer ago than this, in no known call, were read unobserved. */
#define UNSEEN_NS 500000000 /* calls are settled sooner */

struct giving_up {
	struct core *c;
	struct flow *f;
};

static void hole(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	const struct giving_up *g = arg;

	(void)t;
	if (present || urgent_hole(g->c, g->f, a, b))
		return;
	/* read before the handshake was complete, as Fast Open allows: the call has no event */
	if (a == g->f->handshake.unseen && b <= g->f->handshake.request_end)
		g->f->handshake.unseen = b;
	g->f->incomplete += b - a;
	if (facts_wanted(&g->c->facts, FACT_range))
		rx_emit_unseen(g->c, g->f, a, b - a);
	peer_received(g->c, g->f, a, b, 0, 0);
}

/* Gives up holes when no thread is reading: the bytes were read, but the events are lost. */
void rx_give_up_holes(struct core *c, struct flow *f, uint64_t upto)
{
	const struct ranges *copied[] = {&f->layer[RX_COPY]};
	struct giving_up g = {c, f};

	ranges_atoms(copied, 1, f->done, upto, hole, &g);
	f->done = upto;
}

void rx_drop_done(struct flow *f)
{
	for (int l = 0; l <= RX_OVERTOOK; l++)
		ranges_drop(&f->layer[l], f->done);
	ranges_drop(&f->copies.again, f->done);
}

/*
 * Notes how far the program has read. If some events about it are still missing some time later, an
 * unrecorded reader read the bytes.
 */
void rx_consumed(struct core *c, struct flow *f, uint32_t copied_seq, uint64_t now)
{
	uint64_t off;

	if (flow_offset(f, before_fin(f, copied_seq), &off) && off > f->total)
		f->total = off;
	if (f->use.open || f->done >= f->total) {
		f->unclaimed.t = 0;
	} else if (!f->unclaimed.t) {
		f->unclaimed.t = now;
		f->unclaimed.off = f->total;
	} else if (now - f->unclaimed.t > clockmap_span(&c->clock, UNSEEN_NS)) {
		f->unclaimed.t = 0;
		rx_give_up_holes(c, f, f->unclaimed.off);
		rx_drop_done(f);
	}
}
