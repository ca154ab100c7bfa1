/* SPDX-License-Identifier: MIT */
/*
 * Finds bytes that were written and never left: a connection that is reset, or closed for good,
 * discards its send buffer; and what is there or in a queue when the recording ends leaves later.
 * Such bytes have no timestamps that could be missing.
 */
#include "stream/unsent.h"

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "bytes/ranges.h"
#include "clock/clockmap.h"
#include "socket/anchor.h"

/*
 * Returns whether events of this kind may be missing after this time, while the connection was
 * open.
 */
static bool may_miss(struct core *c, const struct mg_sock *s, uint16_t event, uint64_t after)
{
	for (uint32_t i = 0; i < c->finish.gaps; i++) {
		const struct gap *g = &c->losses.gaps[i];

		if (mg_events_have(g->events, event) &&
			clockmap_cycles(&c->clock, g->to_ns) > after &&
			!(s->state == MG_TCP_CLOSE && g->from_ns > s->listed.closed_ns))
			return true;
	}
	return false;
}

void tx_find_unsent(struct core *c, struct flow *f)
{
	static const uint16_t way[] = {MG_EVENT_ip_out, MG_EVENT_dev_xmit};
	struct mg_events hooked = core_hooked(c, f->sock->netns);
	uint64_t left = f->total;

	if (!core_knows_hooks(c) &&
		f->sock->unclaimed) /* another tracer's: what was written is not known */
		return;
	if (f->sock->ulp)
		return;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		int layer = tx_stage_of(way[i]);
		uint64_t last = layer == TX_XMIT ? f->last.driver : f->last.ip;

		if (!mg_events_have(hooked, way[i]) || may_miss(c, f->sock, way[i], last))
			continue;
		f->never_sent.known = true;
		if (ranges_end(&f->layer[layer]) < left)
			left = ranges_end(&f->layer[layer]);
	}
	if (left < f->ack.to) /* even if their leaving was not seen */
		left = f->ack.to;
	if (left < f->start)
		left = f->start;
	if (left < f->total)
		f->never_sent.bytes = f->total - left;
}
