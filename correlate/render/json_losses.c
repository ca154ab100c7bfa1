/* SPDX-License-Identifier: MIT */
/* Losses as JSON; null stands for what was not observed. */
#include "event_table.h"
#include "losses.h"
#include "report.h"
#include "reported/json.h"

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* With lost events a zero cannot be told from "not seen". */
static json_t *count_of(const struct report *r, uint16_t event, uint64_t n)
{
	bool known = core_observes(r->core, event) &&
		     (n || !losses_may_miss(r, mg_events_of(&event, 1)));

	return known ? count(n) : json_null();
}

/*
 * Returns the packets that listening sockets dropped: magnet's tracer always records them, other
 * tracers do not.
 */
static json_t *listen_drops(const struct report *r, uint64_t n)
{
	bool known =
		!r->core->kernel_tracer[0] && (n || !losses_may_miss(r, MG_EVENTS(tcp_listen)));

	return known ? count(n) : json_null();
}

static json_t *drop_sums(const struct report *r, const struct drop_sums *all)
{
	json_t *list;

	if (!core_observes(r->core, MG_EVENT_drop))
		return json_null();
	list = json_array();
	for (size_t i = 0; i < all->n; i++) {
		struct drop_sum_figures of = {&all->v[i]};

		json_array_append_new(list, json_of_drop_sum(&of));
	}
	return list;
}

static json_t *spread(const struct report *r, const struct dist *d)
{
	struct spread_figures of = spread_of(d, true, r->hz);

	return json_of_spread(&of);
}

/* Returns the retransmitted SYN-ACKs; null in older recordings, which lack the hook for them. */
static json_t *syn_ack_retries(const struct report *r, uint64_t n)
{
	bool known =
		losses_know_synacks(r) && (n || !losses_may_miss(r, MG_EVENTS(tcp_retransmit)));

	return known ? count(n) : json_null();
}

json_t *json_losses(const struct report *r)
{
	const uint16_t again = MG_EVENT_tcp_retransmit, reset = MG_EVENT_tcp_reset,
		       drop = MG_EVENT_drop;
	const struct losses *l = &r->losses;
	json_t *j;

	if (!r->core->kernel_events)
		return json_null();
	j = json_object();
	json_object_set_new(j, "connections", count(l->connections));
	json_object_set_new(j, "connections_hit", count(l->connections_hit));
	json_object_set_new(j, "sockets", count(l->sockets));
	json_object_set_new(j, "sockets_hit", count(l->sockets_hit));
	json_object_set_new(j, "retransmits", count_of(r, again, l->retransmits));
	json_object_set_new(j, "retransmitted_bytes", count_of(r, again, l->retransmitted_bytes));
	json_object_set_new(j, "resent_wait_ns", spread(r, &l->wait));
	json_object_set_new(j, "syn_retries", count_of(r, again, l->syn_retries));
	json_object_set_new(j, "syn_ack_retries", syn_ack_retries(r, l->synack_retries));
	json_object_set_new(j, "timeouts", count_of(r, again, l->timeouts));
	json_object_set_new(j, "listen_drops", listen_drops(r, l->listen_drops));
	json_object_set_new(j, "resets_sent", count_of(r, reset, l->resets_sent));
	json_object_set_new(j, "resets_received", count_of(r, reset, l->resets_received));
	json_object_set_new(j, "dropped", count_of(r, drop, l->dropped));
	json_object_set_new(j, "drops", drop_sums(r, &l->drops));
	json_object_set_new(j, "at_least", json_boolean(losses_may_miss(r, LOSS_EVENTS)));
	return j;
}
