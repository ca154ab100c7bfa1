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
	const char *command = session_text(r, "command", r->source);
	bool is_long = strlen(command) > COMMAND_BESIDE;

	/* a long command has a line of its own */
	fprintf(to, "%s%s%s%s%s%s", colour ? "\033[1m" : "", text_plain(command, COMMAND_ALONE),
		strlen(command) > COMMAND_ALONE ? "..." : "", colour ? "\033[0m" : "",
		is_long ? "\n" : "   ", text_ns(report_duration_ns(r)));
	if (r->session)
		fprintf(to, "   Linux %s", text_plain(session_text(r, "kernel", "?"), 40));
	if (r->hz > 0 && !r->core->clock.ns_only)
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
	const struct core *c = r->core;

	if (!c->counts.lost_app && !c->counts.lost_kernel) {
		fprintf(to,
			whole ? "nothing lost: %s application and %s kernel events"
			      : "read: %s application and %s kernel events; no other loss is "
				"reported",
			text_count(c->counts.app_events), text_count(c->counts.kernel_events));
	} else {
		fprintf(to, "%sLOST: %s application and %s kernel events%s, of %s and %s",
			colour ? "\033[31m" : "", text_count(c->counts.lost_app),
			text_count(c->counts.lost_kernel), colour ? "\033[0m" : "",
			text_count(c->counts.app_events + c->counts.lost_app),
			text_count(c->counts.kernel_events + c->counts.lost_kernel));
	}
	if (c->counts.kernel_events && c->due.clock_source == CLOCK_SYNC && c->clock.n >= 2 &&
		!c->clock.ns_only)
		fprintf(to, "; clocks agree within %s", text_ns(report_clock_error_ns(r)));
	if (c->offsets.known && !c->clock.ns_only)
		fprintf(to, ", CPUs within %s", text_ns(report_cpu_offset_ns(r)));
	fprintf(to, "\n");
}

/* Prints what the times are that are not as exact as a cycle counter's with its readings. */
static void times(const struct report *r, FILE *to)
{
	const struct core *c = r->core;

	if (c->trace.kernel_tracer[0])
		fprintf(to,
			"kernel events come from %s: times are CLOCK_MONOTONIC, and what it does "
			"not record is n/a\n",
			c->trace.kernel_tracer);
	else if (c->clock.ns_only)
		fprintf(to, "the cycle counter has no constant rate on this machine: times are "
			    "CLOCK_MONOTONIC, those of calls without an error bound\n");
	else if (c->due.clock_source == CLOCK_GUESSED && c->due.guess_bounded)
		fprintf(to,
			"no readings of the counter in this trace: its rate is estimated from the "
			"calls' times, within %.3g ppm\n",
			report_rate_error_ppm(r));
	else if (c->due.clock_source == CLOCK_GUESSED)
		fprintf(to,
			"no readings of the counter in this trace: its rate is that between the "
			"first and the last call, without an error bound\n");
	if (report_steal_share(r) > 0.01)
		fprintf(to,
			"the hypervisor took the CPUs for %s of the time (steal), which the "
			"figures "
			"include\n",
			text_percent(report_steal_share(r)));
	if (figures_of(c)->memory.dists.coarse)
		fprintf(to,
			"quantiles of a flow are exact within %s: with so many flows, "
			"distributions "
			"have wide bins\n",
			text_percent(report_quantile_error(r)));
}

static void gap(const struct core *c, const struct gap *g, FILE *to)
{
	if (gap_is_loss(g) && !g->count) /* an earlier gap has counted them */
		fprintf(to, "  still missing: %s", text_plain(g->producer, 32));
	else if (g->reason == MG_LOST_APP_UNREACHED)
		fprintf(to,
			"  lost: all calls of %s program%s, and of those they ran, executed where "
			"the files of magnet are not, as in a chroot,",
			text_count(g->count), plural(g->count));
	else if (gap_is_loss(g))
		fprintf(to, "  %s lost by %s", text_count(g->count), text_plain(g->producer, 32));
	else if (g->reason == MG_LOST_NOT_HERE)
		fprintf(to, "  missing: %s %s", text_count(g->count), g->producer);
	else
		fprintf(to, "  not recorded (%s)", text_plain(g->producer, 32));
	if (g->cpu >= 0)
		fprintf(to, " on CPU %d", g->cpu);
	fprintf(to, " between %.6f s and %.6f s\n",
		(double)(int64_t)(g->from_ns - c->times.first_ns) / 1e9,
		(double)(int64_t)(g->to_ns - c->times.first_ns) / 1e9);
}

static void gaps(const struct core *c, FILE *to)
{
	for (uint32_t i = 0; i < c->losses.gap_count && i < GAPS_SHOWN; i++)
		if (c->losses.gaps[i].reason != MG_LOST_NOT_COVERED) /* reported above */
			gap(c, &c->losses.gaps[i], to);
	if (c->losses.gap_count > GAPS_SHOWN)
		fprintf(to, "  and %u more gap%s (--json has them all)\n",
			c->losses.gap_count - GAPS_SHOWN, plural(c->losses.gap_count - GAPS_SHOWN));
}

/* Prints which side there is not, and what the kernel side could not be attached to. */
static void not_recorded(const struct report *r, FILE *to)
{
	const struct core *c = r->core;
	const char *missing = json_string_value(
		json_object_get(json_object_get(r->session, "kernel_side"), "missing"));
	const char *no_app = session_text(r, "app_missing", NULL);

	if (no_app)
		fprintf(to, "kernel side only: %s\n", text_plain(no_app, COMMENT_MAX));
	if (missing)
		fprintf(to, "application side only: %s\n", text_plain(missing, COMMENT_MAX));
	else if (!c->counts.kernel_events)
		fprintf(to, "application side only: no kernel events in this trace\n");
	else if (!c->trace.has_end && c->rotated.part_ended)
		fprintf(to, "one part of a recording that went on: up to part %u\n",
			c->rotated.part);
	if (report_sees_packets_only(r))
		fprintf(to, "not observed by the kernel side: " MG_UNSEEN_KINDS
			    ", which pass none of the layers recorded (--layers)\n");
	for (uint32_t i = 0; i < c->probes.hook_count; i++)
		if (c->probes.hooks[i].status && !mg_hook_is_of_lock(c->probes.hooks[i].what))
			fprintf(to, "not observed: %s %s (%s)\n",
				text_plain(c->probes.hooks[i].layer, 16),
				text_plain(c->probes.hooks[i].what, 32),
				c->probes.hooks[i].status == -ENOLINK
					? "switched off"
					: strerror((int)-(int64_t)c->probes.hooks[i].status));
}

static void recorded(const struct report *r, FILE *to, bool colour)
{
	bool whole = text_whole(r, to, colour);

	counts(r, to, whole, colour);
	times(r, to);
	missed(r, to);
	gaps(r->core, to);
	not_recorded(r, to);
}

/* ---- summary ---- */

static int longest_stage(const struct flow *f, const struct probes *p)
{
	int longest = 0;

	for (int i = 1; i < stage_count(f); i++)
		if (stage_mean(f, p, i) > stage_mean(f, p, longest))
			longest = i;
	return longest;
}

/* Returns the last point at which the sent bytes were seen. */
static const char *passed(const struct flow *f)
{
	return measures(f)->stage[TX_STAGE_DRIVER].n  ? "the driver"
	       : measures(f)->stage[TX_STAGE_QDISC].n ? "the end of the queue (qdisc)"
	       : measures(f)->stage[TX_STAGE_IP].n    ? "the end of IP"
						      : "the end of the send buffer";
}

/*
 * Returns the cause of most of the wait in the send buffer; NULL if there is none or it is not
 * known.
 */
static const char *main_reason(const struct flow *f)
{
	for (unsigned int i = 0; measures(f)->why && i < WHYS; i++)
		if (measures(f)->why->wait[i] * 2 > measures(f)->stage[TX_STAGE_SNDBUF].sum &&
			i != WHY_NOT_KNOWN && i != WHY_IMMEDIATE)
			return why_reason_label(i);
	return NULL;
}

/*
 * Returns the group of flows with the longest waits if the flow is only a minor part of it; else
 * NULL.
 */
static const struct together *rather_together(
	const struct flow *f, const struct together *groups, size_t count)
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
	const struct flow *f =
		r->sums.longest < r->flow_count ? report_keep_flow(r, r->sums.longest) : NULL;
	const struct together *several;
	struct modulation m;
	struct probes p;
	char end[100];
	const char *why = NULL;
	double mean;
	int longest;

	if (standing_of(share) == WITHHELD &&
		r->core->counts.lost_kernel + r->core->counts.lost_app) {
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

		flow_far_end(f, remote);
		snprintf(end, sizeof(end), " %s %s", f->rx ? "from" : "to", remote);
	}
	flow_probes(r, f, &p); /* as in the table below */
	longest = longest_stage(f, &p);
	mean = dist_mean(&measures(f)->residence);
	fprintf(to, "\nSummary");
	if (standing_of(share) == WITHHELD)
		fprintf(to, " of the %s of the bytes seen at every layer", text_coverage(share));
	fprintf(to, ": bytes%s took %s on average\n", end, text_ns(report_ns(r, mean)));
	if (f->rx)
		fprintf(to, "from the first layer that saw them to %s; ",
			comm_or(r, f, "the program"));
	else
		fprintf(to, "from %s's call to %s; ", comm_or(r, f, "the program"), passed(f));
	if (!f->rx && longest == TX_STAGE_SNDBUF)
		why = main_reason(f);
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
}

/* ---- overhead ---- */

/* Prints the counts of events chosen with --event. */
static void other_events(const struct report *r, FILE *to)
{
	const struct other_stats *o, *tmp;

	if (!r->core->others)
		return;
	fprintf(to, "\nChosen events\n");
	HASH_ITER (hh, r->core->others, o, tmp) {
		fprintf(to, "  %-40s %12s\n", text_plain(o->name, COMMENT_MAX), text_count(o->n));
	}
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
	return g->sum.retried.segments || g->sum.retried.synack || flow_resent(&g->sum) ||
	       g->sum.copies.ambiguous || g->tcp.timeouts || drop_sums_lost(&g->drops);
}

void report_text(const struct report *r, FILE *to, const char *id, bool colour)
{
	struct together *groups;
	size_t shown = 0, group_count;
	uint64_t told = 0; /* bytes */

	heading(r, to, colour);
	if (!id)
		text_losses(r, to, colour);
	recorded(r, to, colour);
	if (id) {
		text_flow(r, report_keep_flow(r, report_find_flow(r, id)), to, colour);
		return;
	}
	groups = report_together(r, &group_count);
	sentence(r, groups, group_count, to);
	text_calls(r, to, colour);
	for (size_t i = 0; i < group_count && i < GROUPS_SHOWN; i++)
		if (measures(&groups[i].sum)->residence.sum * 1000 >=
				measures(&groups[0].sum)->residence.sum ||
			had_losses(&groups[i]))
			text_together(r, &groups[i], to, colour);
	report_together_free(groups, group_count);
	for (; shown < r->flow_count && shown < FLOWS_SHOWN; shown++) {
		const struct flow *f = report_keep_flow(r, shown);

		if (shown && flow_bytes(f) < r->sums.bytes / 50)
			break;
		text_flow(r, f, to, colour);
		told += flow_bytes(f);
	}
	if (shown < r->flow_count)
		fprintf(to, "\nand %zu more flow%s with %s (--flow ID shows one, --json has all)\n",
			r->flow_count - shown, plural(r->flow_count - shown),
			text_bytes((double)(r->sums.bytes - told)));
	if (r->demand)
		text_on_demand_of_all(r, to, colour);
	text_sched(r, to, colour);
	other_events(r, to);
	own_cost(r, to);
}
