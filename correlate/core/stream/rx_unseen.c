/* SPDX-License-Identifier: MIT */
/* Bytes that were read, though not all that would tell how has been seen. */
#include "stream/rx_unseen.h"

#include "core.h"
#include "event_table.h"
#include "clock/clockmap.h"
#include "socket/anchor.h"
#include "socket/peer.h"
#include "stream/ranges.h"
#include "stream/rx.h"
#include "stream/urgent.h"

/* What was read this long ago, in no call that is known, was read unseen. */
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
	/* read before the handshake was complete, as Fast Open allows: nothing tells of the call */
	if (a == g->f->opening && b <= g->f->request_end)
		g->f->opening = b;
	g->f->incomplete += b - a;
	if (facts_wanted(&g->c->facts, FACT_range))
		rx_tell_unseen(g->c, g->f, a, b - a);
	peer_received(g->f, a, b, 0, 0);
}

/* Nobody else is reading: what was not read by now was, but the events are lost. */
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
 * The program has read so far, whether or not the events that tell how are all there. If they still
 * are not some time later, nobody that is recorded read it.
 */
void rx_consumed(struct core *c, struct flow *f, uint32_t copied_seq, uint64_t now)
{
	uint64_t off;

	if (flow_offset(f, before_fin(f, copied_seq), &off) && off > f->total)
		f->total = off;
	if (f->open_calls || f->done >= f->total) {
		f->unseen_t = 0;
	} else if (!f->unseen_t) {
		f->unseen_t = now;
		f->unseen = f->total;
	} else if (now - f->unseen_t > clockmap_span(&c->clock, UNSEEN_NS)) {
		f->unseen_t = 0;
		rx_give_up_holes(c, f, f->unseen);
		rx_drop_done(f);
	}
}
