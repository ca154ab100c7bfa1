/* SPDX-License-Identifier: MIT */
#include "reported/report.h"

#include "event_table.h"
#include "filter/text.h"
#include "reported/getters.h"
#include "version.h"

struct report_figures report_figures_of(const struct report *r, const char *only)
{
	struct report_figures f = {.r = r, .only = only};

	if (only)
		f.one = report_find_flow(r, only);
	if (!only || !*only)
		f.groups = report_together(r, &f.groups_n);
	return f;
}

void report_figures_free(struct report_figures *f)
{
	report_together_free(f->groups, f->groups_n);
}

bool into_report_events(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool into_report_clock(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool next_report_calls(const struct report_figures *f, uintptr_t *at, struct call_figures *to)
{
	if (*at >= f->r->call_count)
		return false;
	*to = call_figures_of(f->r, f->r->calls[(*at)++]);
	return true;
}

bool next_report_flows(const struct report_figures *f, uintptr_t *at, struct flow_figures *to)
{
	if (f->only && *at < f->one)
		*at = f->one;
	if (*at >= f->r->flow_count || (f->only && *at > f->one))
		return false;
	*to = flow_figures_of(f->r, report_flow(f->r, (*at)++));
	return true;
}

void part_report_whole(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
}

void part_report_report_on_demand(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
}

bool into_whole_losses(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool into_whole_connects(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool into_whole_time_lost(const struct report_figures *f, struct time_lost *to)
{
	*to = report_time_lost(f->r);
	return true;
}

bool next_whole_together(const struct report_figures *f, uintptr_t *at, struct group_figures *to)
{
	if (*at >= f->groups_n)
		return false;
	*to = group_figures_of(f->r, &f->groups[(*at)++]);
	return true;
}

bool into_report_filter(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return f->r->filter;
}

bool into_report_scheduler(const struct report_figures *f, struct scheduler_figures *to)
{
	*to = scheduler_figures_of(f->r);
	return true;
}

bool into_report_tracer(const struct report_figures *f, struct own_cost *to)
{
	*to = report_own_cost(f->r);
	return true;
}

struct value next_report_kinds_not_observed(const struct report_figures *f, uintptr_t *at)
{
	static const char *const kinds[] = {"unix", "netlink", "vsock", NULL};

	return value_text(report_sees_packets_only(f->r) ? kinds[(*at)++] : NULL);
}

static const char *clock_source(const struct fact_recording *c)
{
	static const char *const names[] = {NULL, "clock_sync", "session", "events"};

	return c->clock_points >= 2 ? names[c->clock] : NULL;
}

/* With lost events a zero cannot be distinguished from "not seen". */
static bool loss_known(const struct report *r, uint16_t event, uint64_t n)
{
	return core_has_observed(r->core, event) &&
	       (n || !losses_may_miss(r, mg_events_of(&event, 1)));
}

static bool synacks_known(const struct report *r)
{
	return !r->filter && losses_know_synacks(r) &&
	       (r->losses.synack_retries || !losses_may_miss(r, MG_EVENTS(tcp_retransmit)));
}

/* Returns whether it is known what listening sockets dropped: other tracers do not record it. */
static bool listen_drops_known(const struct report *r)
{
	return !r->filter && !r->recording.kernel_tracer &&
	       (r->losses.listen_drops || !losses_may_miss(r, MG_EVENTS(tcp_listen)));
}

bool into_losses_resent_wait_ns(const struct report_figures *f, struct spread_figures *to)
{
	*to = spread_of(&f->r->losses.wait, true, f->r->hz);
	return true;
}

bool next_losses_drops(const struct report_figures *f, uintptr_t *at, struct drop_sum_figures *to)
{
	if (*at >= f->r->losses.drops.n)
		return false;
	to->d = &f->r->losses.drops.v[(*at)++];
	return true;
}

/* Returns the text, valid until the next call. */
static const char *options_of(const struct filter *f)
{
	static char text[FILTER_TEXT];

	filter_text(f, text, sizeof(text));
	return text;
}

/* clang-format off */
#define CONNECTS(f) (&figures_of((f)->r->core)->connects)
GET(connects, n, value_count(CONNECTS(f)->n))
GET(connects, failed, value_count(CONNECTS(f)->failed))
GET(connects, open, value_count(CONNECTS(f)->open))
GET(connects, total_ns, value_number(report_ns(f->r, (double)CONNECTS(f)->took.sum)))

GET(time_lost, stack_ns, value_number(f->messages))
GET(time_lost, calls_ns, value_number(f->calls))
GET(time_lost, run_queue_ns, value_number(f->run_queue))
#define RECORDING (f->r->recording)
#define LOSSES (f->r->losses)
#define LOSS(name, event) \
	KNOWN(losses, name, loss_known(f->r, MG_EVENT_##event, LOSSES.name)) \
	GET(losses, name, value_count(LOSSES.name))

KNOWN(report, whole, !f->only || !*f->only)
KNOWN(report, demanded, f->r->demand)
KNOWN(report, app, report_has_app(f->r))
KNOWN(report, threads, !f->r->filter || !filter_chooses_sockets(f->r->filter))
GET(report, schema, value_count(REPORT_SCHEMA))
GET(report, magnet, value_text(MAGNET_VERSION))
GET(report, marks_left_out, value_count(RECORDING.marks_left_out))
GET(report, unjoined_calls, value_count(RECORDING.unjoined))
GET(report, state_sum_mismatches, value_count(RECORDING.state_mismatches))
GET(report, quantile_error, value_number(report_quantile_error(f->r)))
GET(report_on_demand, on_demand, value_given(demand_of_all(f->r)))

KNOWN(filter, from, f->r->filter->from_ns)
KNOWN(filter, to, f->r->filter->to_ns)
GET(filter, options, value_text(options_of(f->r->filter)))
GET(filter, from_ns, value_count(f->r->filter->from_ns))
GET(filter, to_ns, value_count(f->r->filter->to_ns))
GET(filter, flows, value_count(f->r->flow_count))
GET(filter, all_flows, value_count(f->r->flows_there))
GET(filter, calls, value_count(figures_of(f->r->core)->calls_taken))
GET(filter, all_calls, value_count(figures_of(f->r->core)->calls_all))

GET(events, app, value_count(RECORDING.app_events))
GET(events, kernel, value_count(RECORDING.kernel_events))

GET(clock, source, value_text(clock_source(&RECORDING)))
GET(clock, max_error_ns, value_number(report_clock_error_ns(f->r)))
GET(clock, no_max_error, value_text(report_no_clock_error(f->r)))
GET(clock, rate_error_ppm, value_number(report_rate_error_ppm(f->r)))
GET(clock, cpu_offset_ns, value_number(report_cpu_offset_ns(f->r)))
GET(clock, ns_only, value_flag(RECORDING.ns_only))
GET(clock, points, value_count(RECORDING.clock_points))
GET(clock, longest_gap_ns, value_if(RECORDING.clock_points >= 2, value_number((double)RECORDING.clock_longest)))
GET(clock, gaps, value_count(RECORDING.clock_gaps))

KNOWN(whole, kernel, RECORDING.kernel_events)
KNOWN(whole, states, core_knows_states(f->r->core))
GET(losses, connections, value_count(LOSSES.connections))
GET(losses, connections_hit, value_count(LOSSES.connections_hit))
GET(losses, sockets, value_count(LOSSES.sockets))
GET(losses, sockets_hit, value_count(LOSSES.sockets_hit))
LOSS(retransmits, tcp_retransmit)
LOSS(retransmitted_bytes, tcp_retransmit)
KNOWN(losses, syn_retries, loss_known(f->r, MG_EVENT_tcp_retransmit, LOSSES.syn_retries))
GET(losses, syn_retries, value_count(LOSSES.syn_retries))
KNOWN(losses, syn_ack_retries, synacks_known(f->r))
GET(losses, syn_ack_retries, value_count(LOSSES.synack_retries))
LOSS(timeouts, tcp_retransmit)
KNOWN(losses, listen_drops, listen_drops_known(f->r))
GET(losses, listen_drops, value_count(LOSSES.listen_drops))
LOSS(resets_sent, tcp_reset)
LOSS(resets_received, tcp_reset)
LOSS(dropped, drop)
KNOWN(losses, drops, core_has_observed(f->r->core, MG_EVENT_drop))
GET(losses, at_least, value_flag(losses_may_miss(f->r, LOSS_EVENTS)))

GET(tracer, app_cost_ns_per_call, value_number(f->app_ns_per_call))
GET(tracer, kernel_cost_ns_per_event, value_number(f->kernel_ns_per_event))
GET(tracer, cpu_share, value_number(f->cpu_share))
GET(tracer, setup_cpu_ns, value_number(f->setup_cpu_ns))
/* clang-format on */
