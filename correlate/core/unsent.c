/* SPDX-License-Identifier: MIT */
/*
 * Bytes that were written and never left: a connection that is reset, or closed for good, throws
 * away what lies in its send buffer, and what lies there as the recording ends leaves later. They
 * have no boundaries that could be missing.
 */
#include "event_table.h"
#include "parts.h"

/* Whether segments may have been handed to IP unseen after this time, while it was open. */
static bool may_miss(struct core *c, const struct mg_sock *s, uint64_t after)
{
	for (uint32_t i = 0; i < c->gap_count; i++) {
		const struct gap *g = &c->gaps[i];

		if (g->events & 1ull << MG_EVENT_ip_out && g->layers >> MG_LAYER_IP & 1 &&
			clockmap_cycles(&c->clock, g->to_ns) > after &&
			!(s->state == MG_TCP_CLOSE && g->from_ns > s->closed_ns))
			return true;
	}
	return false;
}

void tx_find_unsent(struct core *c, struct flow *f)
{
	const struct ranges *r = &f->layer[TX_IP_OUT];
	uint64_t left = r->len ? r->v[r->head + r->len - 1].b : r->base;

	if (left < f->acked)
		left = f->acked;
	f->unsent_known = core_hooked(c, f->sock->netns) >> MG_EVENT_ip_out & 1 &&
			  !f->sock->unclaimed && !f->sock->ulp &&
			  !may_miss(c, f->sock, f->units[TX_IP_OUT].last_t);
	if (f->unsent_known && f->total > left)
		f->unsent = f->total - (left > f->start ? left : f->start);
}
