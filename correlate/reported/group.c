/* SPDX-License-Identifier: MIT */
#include "reported/group.h"

#include "event_table.h"
#include "reported/getters.h"

struct group_figures group_figures_of(const struct report *r, const struct together *g)
{
	return (struct group_figures){g, flow_figures_of(r, &g->sum)};
}

bool next_group_drops(const struct group_figures *f, uintptr_t *at, struct drop_sum_figures *to)
{
	if (*at >= f->g->drops.n)
		return false;
	to->d = &f->g->drops.v[(*at)++];
	return true;
}

void part_group_residence(const struct group_figures *f, struct flow_figures *to)
{
	*to = f->sum;
}

void part_group_lineage(const struct group_figures *f, struct flow_figures *to)
{
	*to = f->sum;
}

bool into_group_transit_ns(const struct group_figures *f, struct spread_figures *to)
{
	*to = spread_of(&measures(&f->g->sum)->transit, true, f->sum.r->hz);
	return true;
}

bool into_group_timed_sends(const struct group_figures *f, struct timed_sends_figures *to)
{
	return timed_sends_figures_of(f->sum.r, &f->g->sum, to);
}

bool into_group_tcp(const struct group_figures *f, struct tcp_figures *to)
{
	return tcp_figures_of(f->sum.r, &f->g->sum, &f->g->tcp, to);
}

static const char *side(const struct together *g)
{
	return !g->sum.side ? NULL : g->sum.side == SIDE_CLIENT ? "client" : "server";
}

/* clang-format off */
GET(drop_sum, direction, value_text(f->d->rx ? "rx" : "tx"))
GET(drop_sum, reason, value_text(f->d->reason))
GET(drop_sum, location, value_text(f->d->location))
GET(drop_sum, layer, value_text(f->d->layer))
GET(drop_sum, n, value_count(f->d->n))
GET(drop_sum, segments, value_count(f->d->segs))
GET(drop_sum, bytes, value_count(f->d->bytes))
GET(drop_sum, discarded, value_count(f->d->discarded))

KNOWN(group, retransmits, flow_retransmits(f->sum.r, &f->g->sum).kind != VALUE_UNKNOWN)
KNOWN(group, drops, core_has_observed(f->sum.r->core, MG_EVENT_drop))
KNOWN(group, tcp, f->g->sum.kind == MG_KIND_tcp && f->sum.r->recording.kernel_events)
GET(group, comm, value_text(f->g->key.comm[0] ? f->g->key.comm : NULL))
GET(group, proto, value_text(flow_proto(&f->g->sum)))
GET(group, direction, value_text(f->g->sum.flow.rx ? "rx" : "tx"))
GET(group, flows, value_count(f->g->count))
GET(group, bytes, value_count(flow_bytes(&f->g->sum)))
GET(group, coverage, value_number(f->sum.coverage))
GET(group, complete_bytes, value_count(f->g->sum.followed))
GET(group, incomplete_bytes, value_count(f->g->sum.incomplete))
GET(group, side, value_text(side(f->g)))
GET(group, server_port, value_if(f->g->key.port, value_count(f->g->key.port)))
GET(group, retransmits, flow_retransmits(f->sum.r, &f->g->sum))
/* clang-format on */
