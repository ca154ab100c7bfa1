/* SPDX-License-Identifier: MIT */
#include "reported/flow.h"

#include "event_table.h"
#include "figures/window.h"
#include "reported/getters.h"

/* ---- layers ---- */

bool next_flow_layers(const struct flow_figures *f, uintptr_t *at, struct layer_figures *to)
{
	uintptr_t all = (uintptr_t)layer_count(f->f);

	while (*at < all && !measures(f->f)->units[*at].n)
		(*at)++;
	if (*at >= all)
		return false;
	*to = (struct layer_figures){f->r, f->f, (int)*at, &measures(f->f)->units[*at]};
	(*at)++;
	return true;
}

/* Returns a time between packets, unknown if there are none with a time between them. */
static struct value spacing(const struct layer_figures *f, double cycles)
{
	return value_if(f->u->gaps.n, value_number(report_ns(f->r, cycles)));
}

/* clang-format off */
KNOWN(layer, frames, f->u->frames)
GET(layer, name, value_text(layer_name(f->f, f->layer)))
GET(layer, n, value_count(f->u->n))
GET(layer, repeated_n, value_count(f->u->again_n))
GET(layer, frames, value_count(f->u->frames))
GET(layer, repeated_frames, value_count(f->u->again_frames))
GET(layer, bytes, value_count(f->u->bytes))
GET(layer, mean_size, value_number(unit_mean_size(f->u)))
GET(layer, cov_size, value_number(unit_cov_size(f->u)))
GET(layer, mean_spacing_ns, spacing(f, unit_mean_gap(f->u)))
GET(layer, p50_spacing_ns, f->u->gaps.n ? spacing(f, dist_quantile(&f->u->gaps, 0.5)) : value_unknown())
GET(layer, cov_spacing, value_if(f->u->gaps.n, value_number(unit_cov_gap(f->u))))
GET(layer, repeated_bytes, value_count(f->u->again))
GET(layer, wire_bytes, value_if(f->u->wire_bytes, value_count(f->u->wire_bytes)))
/* clang-format on */

/* ---- modulation ---- */

bool into_flow_modulation(const struct flow_figures *f, struct modulation_figures *to)
{
	to->m = flow_modulation(f->r, f->f);
	to->goodput_ratio = flow_goodput(f->r, f->f).ratio;
	return true;
}

/* clang-format off */
KNOWN(modulation, compared, f->m.known)
GET(modulation, from, value_text(f->m.from))
GET(modulation, to, value_text(f->m.to))
GET(modulation, J_ns, value_number(f->m.j_ns))
GET(modulation, tau_ns, value_number(f->m.tau_ns))
GET(modulation, M, value_number(f->m.m))
GET(modulation, S, value_number(f->m.s))
GET(modulation, blocked_share, value_number(f->m.blocked_share))
GET(modulation, w1_spacing_ns, value_number(f->m.w1_spacing_ns))
GET(modulation, bytes, value_count(f->m.bytes))
GET(modulation, goodput_ratio, value_number(f->goodput_ratio))
/* clang-format on */

/* ---- drops ---- */

bool next_flow_drops(const struct flow_figures *f, uintptr_t *at, struct drop_figures *to)
{
	size_t n;
	const struct flow_drop *all = report_drops_of(f->r, f->f->flow.sock, f->f->flow.rx, &n);

	if (*at >= n)
		return false;
	to->d = all[(*at)++].d;
	return true;
}

/* clang-format off */
GET(drop, reason, value_text(f->d->key.reason))
GET(drop, location, value_text(f->d->key.location))
GET(drop, layer, value_text(f->d->layer))
GET(drop, n, value_count(f->d->n))
GET(drop, segments, value_count(f->d->segs))
GET(drop, bytes, value_count(f->d->bytes))
GET(drop, discarded, value_count(f->d->discarded))
/* clang-format on */

/* ---- the flow ---- */

/* Returns a counter of a flow; not all are known of a window of time. */
static struct value flow_counter(const struct report *r, uint64_t n, size_t offset)
{
	return value_if(!report_has_window(r) || window_knows(offset), value_count(n));
}

struct value flow_retransmits(const struct report *r, const struct fact_flow *f)
{
	bool known = f->kind == MG_KIND_tcp && !f->flow.rx &&
		     core_has_observed(r->core, MG_EVENT_tcp_retransmit) &&
		     (f->retransmits || !flow_misses(f, MG_EVENTS(tcp_retransmit)));

	return value_if(known, value_count(f->retransmits));
}

struct value get_flow_local(const struct flow_figures *f)
{
	static char local[64];
	char remote[64];
	bool shown = f->f->local.addr || f->f->device;

	flow_ends(f->f, local, remote);
	return value_text(shown ? local : NULL);
}

struct value get_flow_remote(const struct flow_figures *f)
{
	static char remote[64];
	char local[64];

	flow_ends(f->f, local, remote);
	return value_text(f->f->local.addr ? remote : NULL);
}

struct value get_flow_several_remotes(const struct flow_figures *f)
{
	return value_if(flow_has_far_ends(f->f), value_flag(flow_has_several_ends(f->f)));
}

struct value get_flow_comm(const struct flow_figures *f)
{
	const char *comm = flow_comm(f->f);

	return value_text(comm[0] ? comm : NULL);
}

struct value get_flow_peer(const struct flow_figures *f)
{
	struct fact_flow peer;
	bool shown = flow_peer(f->r, f->f, &peer) && flow_is_shown(&peer);

	return value_text(shown ? flow_id(peer.flow) : NULL);
}

struct value next_flow_touched(const struct flow_figures *f, uintptr_t *at)
{
	while (*at < MG_LAYER_END && !(f->f->missing_layers & 1u << *at))
		(*at)++;
	return value_text(*at < MG_LAYER_END ? mg_layer_names[(*at)++] : NULL);
}

void part_flow_lineage(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

void part_flow_residence(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

void part_flow_zerocopy(const struct flow_figures *f, struct zerocopy_figures *to)
{
	*to = zerocopy_figures_of(f->r, f->f);
}

bool into_flow_timed_sends(const struct flow_figures *f, struct timed_sends_figures *to)
{
	return timed_sends_figures_of(f->r, f->f, to);
}

void part_flow_flow_on_demand(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

bool into_flow_transit_ns(const struct flow_figures *f, struct spread_figures *to)
{
	*to = spread_of(&measures(f->f)->transit, true, f->r->hz);
	return true;
}

bool into_flow_tcp(const struct flow_figures *f, struct tcp_figures *to)
{
	return tcp_figures_of(f->r, f->f, measures_tcp(f->f), to);
}

static bool is_tcp(const struct flow_figures *f)
{
	return f->f->kind == MG_KIND_tcp;
}

/* clang-format off */
#define COUNTER(S, name, member, use) \
	GET(S, name, flow_counter(f->r, (uint64_t)f->f->member, offsetof(struct fact_flow, member)))
#define NO(...)
MG_FLOW_COUNTERS(COUNTER, NO)
KNOWN(flow, claimed, !f->f->unclaimed)
KNOWN(flow, sent_claimed, !f->f->flow.rx && !f->f->unclaimed)
KNOWN(flow, sent, !f->f->flow.rx)
KNOWN(flow, retransmits, flow_retransmits(f->r, f->f).kind != VALUE_UNKNOWN)
KNOWN(flow, captured, f->r->wire)
KNOWN(flow, drops, core_has_observed(f->r->core, MG_EVENT_drop))
KNOWN(flow, messages, !is_tcp(f))
KNOWN(flow, messages_received, !is_tcp(f) && f->f->flow.rx)
KNOWN(flow, tcp, is_tcp(f) && f->r->recording.kernel_events)
KNOWN(flow, demanded, f->r->demand)
GET(flow, id, value_text(flow_id(f->f->flow)))
GET(flow, proto, value_text(flow_proto(f->f)))
GET(flow, netns, value_if(f->f->netns, value_count(f->f->netns)))
GET(flow, direction, value_text(f->f->flow.rx ? "rx" : "tx"))
GET(flow, pid, value_if(f->f->pid, value_count(f->f->pid)))
GET(flow, bytes, value_count(flow_bytes(f->f)))
GET(flow, first_offset, value_count(f->f->offset))
GET(flow, offsets, value_text(f->f->relative ? "from_recording" : "from_connection"))
GET(flow, coverage, value_number(f->coverage))
GET(flow, tx_call_n, value_count(f->f->calls))
GET(flow, retransmits, flow_retransmits(f->r, f->f))
GET(flow_on_demand, on_demand, value_given(demand_of_flow(f->r, f->f)))
/* clang-format on */
