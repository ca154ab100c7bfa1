/* SPDX-License-Identifier: MIT */
/*
 * Bytes that cannot be followed as usual: retransmitted, refused, urgent, or not the program's own.
 */
#include <math.h>

#include "report.h"

static json_t *count_if(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static void sent(json_t *j, const struct report *r, const struct flow *f)
{
	static const struct dist nothing;
	const struct resent *times = f->copies.resent_times;
	bool again = core_observes(r->core, MG_EVENT_tcp_retransmit);

	json_object_set_new(
		j, "syn_ack_retries", count_if(losses_know_synacks(r), f->synack_retries));
	json_object_set_new(j, "retransmitted_bytes", count_if(again, f->copies.retransmitted));
	json_object_set_new(j, "resent_bytes", count_if(flow_resends_known(r, f), flow_resent(f)));
	json_object_set_new(j, "resent_wait_ns", json_spread(r, times ? &times->wait : &nothing));
	json_object_set_new(j, "unsent_bytes", count_if(f->unsent_known, f->unsent));
	json_object_set_new(j, "refused_calls", count_if(!f->sock->unclaimed, f->refusals.n));
	json_object_set_new(j, "retry_gap_ns", json_spread(r, &f->refusals.gap));
}

void json_lineage(json_t *j, const struct report *r, const struct flow *f)
{
	static const struct dist nothing;
	const struct resent *times = f->copies.resent_times;
	const char *ulp = flow_ulp(f);

	json_object_set_new(j, "unmapped", ulp ? json_string(ulp) : json_null());
	if (f->sock->kind != MG_KIND_tcp)
		return;
	json_object_set_new(
		j, "ambiguous_bytes", count_if(!f->sock->unclaimed, f->copies.ambiguous));
	json_object_set_new(
		j, "ambiguous_wait_ns", json_spread(r, times ? &times->left_out : &nothing));
	if (!f->rx) {
		sent(j, r, f);
		return;
	}
	json_object_set_new(j, "opening_bytes", count_if(!f->gaps, f->opening));
	json_object_set_new(j, "undivided_bytes", json_integer((json_int_t)f->copies.undivided));
	json_object_set_new(
		j, "transit_ambiguous_bytes", count_if(f->sock->peer, f->copies.transit_ambiguous));
	json_object_set_new(
		j, "urgent_unread_bytes", json_integer((json_int_t)f->urgent.discarded));
}
