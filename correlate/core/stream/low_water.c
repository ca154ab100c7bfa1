/* SPDX-License-Identifier: MIT */
/*
 * Handles bytes in order that a socket does not report, as fewer are there than its reader wants
 * (SO_RCVLOWAT). TCP's own events then show when the last byte before them came.
 */
#include "stream/low_water.h"

#include "core.h"
#include "event_table.h"
#include "bytes/layer.h"
#include "bytes/ranges.h"
#include "coverage/gap.h"
#include "stream/head_of_line.h"

static void latest(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	uint64_t *last = arg;

	(void)a, (void)b, (void)present;
	if (t[0] > *last)
		*last = t[0];
}

/* Settles bytes up to `end` that came before `now` and would have been reported by now. */
void rx_in_order_unreported(struct core *c, struct flow *f, uint64_t end, uint64_t now)
{
	const struct ranges *tcp[] = {&f->layer[RX_TCP]};
	struct ranges *ready = &f->layer[RX_READY];
	uint64_t from = ranges_reach(ready, ready->base), to, t = 0;

	if (from < f->done)
		from = f->done;
	to = ranges_reach(tcp[0], from);
	if (to > end)
		to = end;
	if (to <= from)
		return;
	ranges_atoms(tcp, 1, from, to, latest, &t);
	if (gap_within(c, MG_LAYER_TCP, t, now, -1, -1))
		return;
	rx_note_overtaking(c, f, from, to, true);
	ranges_add(ready, from, to, t);
	layer_pass_call(c, f, RX_READY, t, from, to - from);
}
