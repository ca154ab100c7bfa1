/* SPDX-License-Identifier: MIT */
/* Prints the report as text, to be read from top to bottom. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "report.h"
#include "table.h"
#include "text.h"
#include "text_answer.h"
#include "text_exchanges.h"

#define FLOWS_SHOWN    4
#define GROUPS_SHOWN   4
#define GAPS_SHOWN     5
#define COMMAND_BESIDE 45
#define COMMAND_ALONE  95
#define COMMENT_MAX    120

static const char *session_text(const struct report *r, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(r->session, key));

	return s ? s : otherwise;
}

/* ---- recorded and missing ---- */

static void heading(const struct report *r, FILE *to, bool colour)
{
	const char *command = session_text(r, "command", r->source ? r->source : "trace");
	bool is_long = strlen(command) > COMMAND_BESIDE;

	/* a long command has a line of its own */
	fprintf(to, "%s%s%s%s%s%s", colour ? "\033[1m" : "", text_plain(command, COMMAND_ALONE),
		strlen(command) > COMMAND_ALONE ? "..." : "", colour ? "\033[0m" : "",
		is_long ? "\n" : "   ", text_ns(report_duration_ns(r)));
	if (r->session)
		fprintf(to, "   Linux %s", text_plain(session_text(r, "kernel", "?"), 40));
	if (r->hz > 0 && !r->recording.ns_only)
		fprintf(to, r->hz < 0.9995e9 ? "   counter %.3f MHz" : "   counter %.3f GHz",
			r->hz / (r->hz < 0.9995e9 ? 1e6 : 1e9));
	fprintf(to, "\n");
}

/*
 * Prints the share of bytes that some layer's hook did not see although no event was lost: some
 * machines do not run tracing programs at times, and count nothing then.
 */
static void missed(const struct report *r, FILE *to)
{
	const struct flow_sums *s = &r->sums;

	if (s->followable && (double)s->incomplete > 0.001 * (double)s->followable)
		fprintf(to,
			"%s of the bytes were not seen at every layer%s; the stages leave them "
			"out\n",
			text_percent((double)s->incomplete / (double)s->followable),
			s->incomplete_again * 2 > s->incomplete
				? " (most of them were retransmitted)"
				: "");
}

/* Prints how many events were read and lost, and how well their times are known. */
static void counts(const struct report *r, FILE *to, bool whole, bool colour)
{
	const struct fact_recording *c = &r->recording;

	if (!c->lost_app && !c->lost_kernel) {
		fprintf(to,
			whole ? "nothing lost: %s application and %s kernel events"
			      : "read: %s application and %s kernel events; no other loss is "
				"reported",
			text_count(c->app_events), text_count(c->kernel_events));
	} else {
		fprintf(to, "%sLOST: %s application and %s kernel events%s, of %s and %s",
			colour ? "\033[31m" : "", text_count(c->lost_app),
			text_count(c->lost_kernel), colour ? "\033[0m" : "",
			text_count(c->app_events + c->lost_app),
			text_count(c->kernel_events + c->lost_kernel));
	}
	if (c->kernel_events && c->clock == CLOCK_SYNC && c->clock_points >= 2 && !c->ns_only)
		fprintf(to, "; clocks agree within %s", text_ns(report_clock_error_ns(r)));
	if (c->cpus_compared && !c->ns_only)
		fprintf(to, ", CPUs within %s", text_ns(report_cpu_offset_ns(r)));
	fprintf(to, "\n");
}

/* Returns a bound of a rate, which is bad if it is no small number of ppm. */
static const char *rate_error(double ppm)
{
	static char text[32];

	if (ppm >= 1000)
		return text_percent(ppm / 1e6);
	snprintf(text, sizeof(text), "%.3g ppm", ppm);
	return text;
}

/* Prints what the times are that are not as exact as a cycle counter's with its readings. */
static void times(const struct report *r, FILE *to)
{
	const struct fact_recording *c = &r->recording;

	if (c->kernel_tracer)
		fprintf(to,
			"kernel events come from %s: times are CLOCK_MONOTONIC, and what it does "
			"not record is n/a\n",
			c->kernel_tracer);
	else if (c->ns_only)
		fprintf(to, "the cycle counter has no constant rate on this machine: times are "
			    "CLOCK_MONOTONIC, those of calls without an error bound\n");
	else if (c->clock == CLOCK_GUESSED && c->clock_bounded)
		fprintf(to,
			"no readings of the counter in this trace: its rate is estimated from the "
			"calls' times, within %s\n",
			rate_error(report_rate_error_ppm(r)));
	else if (c->clock == CLOCK_GUESSED)
		fprintf(to,
			"no readings of the counter in this trace: its rate is that between the "
			"first and the last call, without an error bound\n");
	if (report_steal_share(r) > 0.01)
		fprintf(to,
			"the hypervisor took the CPUs for %s of the time (steal), which the "
			"figures "
			"include\n",
			text_percent(report_steal_share(r)));
	if (figures_of(r->core)->memory.dists.coarse)
		fprintf(to,
			"quantiles of a flow are exact within %s: with so many flows, "
			"distributions "
			"have wide bins\n",
			text_percent(report_quantile_error(r)));
}

static void gap(const struct report *r, const struct fact_loss *g, FILE *to)
{
	bool is_loss = loss_is_one(g->reason);

	if (is_loss && !g->events) /* an earlier gap has counted them */
		fprintf(to, "  still missing: %s", text_plain(g->producer, 32));
	else if (g->reason == MG_LOST_APP_UNREACHED)
		fprintf(to,
			"  lost: all calls of %s program%s, and of those they ran, executed where "
			"the files of magnet are not, as in a chroot,",
			text_count(g->events), plural(g->events));
	else if (is_loss)
		fprintf(to, "  %s lost by %s", text_count(g->events), text_plain(g->producer, 32));
	else if (g->reason == MG_LOST_NOT_HERE)
		fprintf(to, "  missing: %s %s", text_count(g->events), g->producer);
	else
		fprintf(to, "  not recorded (%s)", text_plain(g->producer, 32));
	if (g->cpu >= 0)
		fprintf(to, " on CPU %d", g->cpu);
	fprintf(to, " between %.6f s and %.6f s\n",
		(double)(int64_t)(g->begin - r->recording.first) / 1e9,
		(double)(int64_t)(g->end - r->recording.first) / 1e9);
}

static void gaps(const struct report *r, FILE *to)
{
	struct fact_loss g;
	uintptr_t at = 0;
	size_t n = 0;

	for (; core_next_loss(r->core, &at, &g); n++)
		if (n < GAPS_SHOWN && g.reason != MG_LOST_NOT_COVERED) /* reported above */
			gap(r, &g, to);
	if (n > GAPS_SHOWN)
		fprintf(to, "  and %zu more gap%s (--json has them all)\n", n - GAPS_SHOWN,
			plural(n - GAPS_SHOWN));
}

/* Prints which side there is not, and what the kernel side could not be attached to. */
static void not_recorded(const struct report *r, FILE *to)
{
	const struct fact_recording *c = &r->recording;
	struct fact_hook hook;
	uintptr_t at = 0;
	const char *missing = json_string_value(
		json_object_get(json_object_get(r->session, "kernel_side"), "missing"));
	const char *no_app = session_text(r, "app_missing", NULL);

	if (no_app)
		fprintf(to, "kernel side only: %s\n", text_plain(no_app, COMMENT_MAX));
	if (missing)
		fprintf(to, "application side only: %s\n", text_plain(missing, COMMENT_MAX));
	else if (!c->kernel_events)
		fprintf(to, "application side only: no kernel events in this trace\n");
	else if (!c->has_end && c->part_ended)
		fprintf(to, "one part of a recording that went on: up to part %llu\n",
			(unsigned long long)c->part);
	if (report_sees_packets_only(r))
		fprintf(to, "not observed by the kernel side: " MG_UNSEEN_KINDS
			    ", which pass none of the layers recorded (--layers)\n");
	while (core_next_hook(r->core, &at, &hook))
		if (hook.status && !mg_hook_is_of_lock(hook.hook))
			fprintf(to, "not observed: %s %s (%s)\n", text_plain(hook.layer, 16),
				text_plain(hook.hook, 32),
				hook.status == -ENOLINK ? "switched off"
							: strerror((int)-hook.status));
}

static void recorded(const struct report *r, FILE *to, bool colour)
{
	bool whole = text_whole(r, to, colour);

	counts(r, to, whole, colour);
	times(r, to);
	missed(r, to);
	text_dumps(r, to);
	gaps(r, to);
	not_recorded(r, to);
}

/* ---- summary ---- */

static int longest_stage(const struct fact_flow *f, const struct probes *p)
{
	int longest = 0;

	for (int i = 1; i < stage_count(f); i++)
		if (stage_mean(f, p, i) > stage_mean(f, p, longest))
			longest = i;
	return longest;
}

/* Returns the last point at which the sent bytes were seen. */
static const char *passed(const struct fact_flow *f)
{
	return measures(f)->stage[TX_STAGE_DRIVER].n  ? "the driver"
	       : measures(f)->stage[TX_STAGE_QDISC].n ? "the end of the queue (qdisc)"
	       : measures(f)->stage[TX_STAGE_IP].n    ? "the end of IP"
						      : "the end of the send buffer";
}

/* Returns the cause of most of the wait in the send buffer; -1 if there is none or it is not known.
 */
static int main_reason(const struct fact_flow *f)
{
	for (unsigned int i = 0; measures(f)->why && i < WHYS; i++)
		if (measures(f)->why->wait[i] * 2 > measures(f)->stage[TX_STAGE_SNDBUF].sum &&
			i != WHY_NOT_KNOWN && i != WHY_IMMEDIATE)
			return (int)i;
	return -1;
}

/*
 * Returns the group of flows with the longest waits if the flow is only a minor part of it; else
 * NULL.
 */
static const struct together *rather_together(
	const struct fact_flow *f, const struct together *groups, size_t count)
{
	const struct together *g = count ? &groups[0] : NULL; /* the longest waits */

	return g && measures(f)->residence.sum * 2 < measures(&g->sum)->residence.sum &&
			       flow_coverage(&g->sum) >= 0.90
		       ? g
		       : NULL;
}

/* Returns the share of all flows' bytes that were seen at every stage; NAN if there are none. */
static double followed(const struct flow_sums *s)
{
	double all = (double)(s->complete + s->incomplete);

	return all > 0 ? (double)s->complete / all : NAN;
}

static void sentence(
	const struct report *r, const struct together *groups, size_t group_count, FILE *to)
{
	double share = followed(&r->sums);
	const struct fact_flow *f =
		r->sums.longest < r->flow_count ? report_keep_flow(r, r->sums.longest) : NULL;
	const struct together *several;
	struct modulation m;
	struct probes p;
	char end[100];
	const char *why, *remedy;
	double mean;
	int longest, reason = -1;

	if (standing_of(share) == WITHHELD && r->recording.lost_kernel + r->recording.lost_app) {
		fprintf(to,
			"\nNo summary: only %s of the bytes were seen at every layer, as events "
			"were lost\n",
			text_coverage(share));
		return;
	}
	if (!f)
		return;
	several = rather_together(f, groups, group_count);
	if (several) {
		f = &several->sum;
		snprintf(end, sizeof(end), " in %s %s flows", text_count(several->count),
			flow_proto(f));
	} else {
		char remote[64];

		flow_far_end(r, f, remote);
		snprintf(end, sizeof(end), " %s %s", f->flow.rx ? "from" : "to", remote);
	}
	flow_probes(r, f, &p); /* as in the table below */
	longest = longest_stage(f, &p);
	mean = dist_mean(&measures(f)->residence);
	fprintf(to, "\nSummary");
	if (standing_of(share) == WITHHELD)
		fprintf(to, " of the %s of the bytes seen at every layer", text_coverage(share));
	fprintf(to, ": bytes%s took %s on average\n", end, text_ns(report_ns(r, mean)));
	if (f->flow.rx)
		fprintf(to, "from the first layer that saw them to %s; ",
			comm_or(f, "the program"));
	else
		fprintf(to, "from %s's call to %s; ", comm_or(f, "the program"), passed(f));
	if (!f->flow.rx && longest == TX_STAGE_SNDBUF)
		reason = main_reason(f);
	why = reason < 0 ? NULL : why_reason_label((unsigned int)reason);
	remedy = reason < 0 ? "" : cause_remedy(recent_cause_of_why((enum why_reason)reason));
	fprintf(to, "%s of that was spent in: %s%s%s%s.",
		text_percent(mean > 0 ? stage_mean(f, &p, longest) / mean : NAN),
		stage_label(f, longest), why ? " (" : "", why ? why : "", why ? ")" : "");
	m = flow_modulation(r, several ? several->first : f);
	if (!several && !isnan(m.m)) {
		fprintf(to, "\nModulation M = %.2f: the stack shifted the average byte by ", m.m);
		fprintf(to, "%s of the gap between sends", text_percent(m.m));
		if (m.blocked_share > 0.05)
			fprintf(to, ";\nthe sender itself was blocked %s of the time",
				text_percent(m.blocked_share));
		fprintf(to, ".");
	}
	fprintf(to, "\n");
	if (remedy[0])
		fprintf(to, "%s %s\n", text_arrow(), remedy);
}

/* ---- overhead ---- */

/* Prints the counts of events chosen with --event. */
static void other_events(const struct report *r, FILE *to)
{
	struct fact_chosen o;
	uintptr_t at = 0;

	for (bool any = false; core_next_chosen(r->core, &at, &o); any = true)
		fprintf(to, "%s  %-40s %12s\n", any ? "" : "\nChosen events\n",
			text_plain(o.name, COMMENT_MAX), text_count(o.events));
}

static void own_cost(const struct report *r, FILE *to)
{
	struct own_cost c = report_own_cost(r);

	fprintf(to, "Tracing overhead: %s per call, %s per kernel event, %s of one CPU",
		text_ns(c.app_ns_per_call), text_ns(c.kernel_ns_per_event),
		text_percent(c.cpu_share));
	if (c.setup_cpu_ns > 0)
		fprintf(to, "; %s of CPU time to start and stop", text_ns(c.setup_cpu_ns));
	fprintf(to, "\n");
}

/* Returns whether a group had losses: it is shown even if it waited little. */
static bool had_losses(const struct together *g)
{
	return g->sum.retransmits || g->sum.synack_retries || flow_resent(&g->sum) ||
	       g->sum.ambiguous || g->tcp.timeouts || drop_sums_lost(&g->drops);
}

void report_text(const struct report *r, FILE *to, const char *id, bool colour)
{
	struct together *groups;
	size_t shown = 0, group_count;
	uint64_t listed = 0; /* bytes */

	heading(r, to, colour);
	if (!id)
		text_losses(r, to, colour);
	recorded(r, to, colour);
	if (id) {
		text_flow(r, report_keep_flow(r, report_find_flow(r, id)), to, colour);
		return;
	}
	groups = report_together(r, &group_count);
	if (!text_answer(r, to, colour))
		sentence(r, groups, group_count, to);
	text_exchanges(r, to, colour);
	if (r->histogram)
		text_histograms(r, to, colour);
	if (r->slowest)
		text_slowest(r, to, colour);
	text_calls(r, to, colour);
	for (size_t i = 0; i < group_count && i < GROUPS_SHOWN; i++)
		if (measures(&groups[i].sum)->residence.sum * 1000 >=
				measures(&groups[0].sum)->residence.sum ||
			had_losses(&groups[i]))
			text_together(r, &groups[i], to, colour);
	report_together_free(groups, group_count);
	for (; shown < r->flow_count && shown < FLOWS_SHOWN; shown++) {
		const struct fact_flow *f = report_keep_flow(r, shown);

		if (shown && flow_bytes(f) < r->sums.bytes / 50)
			break;
		text_flow(r, f, to, colour);
		listed += flow_bytes(f);
	}
	if (shown < r->flow_count)
		fprintf(to, "\nand %zu more flow%s with %s (--flow ID shows one, --json has all)\n",
			r->flow_count - shown, plural(r->flow_count - shown),
			text_bytes((double)(r->sums.bytes - listed)));
	if (r->demand)
		text_on_demand_of_all(r, to, colour);
	text_sched(r, to, colour);
	other_events(r, to);
	own_cost(r, to);
}
