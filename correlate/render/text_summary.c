/* SPDX-License-Identifier: MIT */
/* Prints the summary: where bytes waited longest. It stands for the answer where there is none. */
#include <math.h>

#include "event_table.h"
#include "report.h"
#include "text.h"
#include "text_causes.h"

static int longest_stage_from(const struct fact_flow *f, const struct probes *p, int first)
{
	int longest = first;

	for (int i = first + 1; i < stage_count(f); i++)
		if (stage_mean(f, p, i) > stage_mean(f, p, longest))
			longest = i;
	return longest;
}

/*
 * Returns the stage that makes bytes wait in the longest one. Bytes of a call that blocks are not
 * copied before the send buffer has room: the stage after it that lasts longest keeps it full.
 */
static int stage_behind(
	const struct report *r, const struct fact_flow *f, const struct probes *p, int longest)
{
	if (f->flow.rx || longest != TX_STAGE_CALL || !(flow_modulation(r, f).blocked_share > 0.5))
		return longest;
	return longest_stage_from(f, p, TX_STAGE_SNDBUF);
}

/* Returns the last point at which the sent bytes were seen. */
static const char *passed(const struct fact_flow *f)
{
	return measures(f)->stage[TX_STAGE_DRIVER].n  ? "the driver"
	       : measures(f)->stage[TX_STAGE_QDISC].n ? "the end of the queue (qdisc)"
	       : measures(f)->stage[TX_STAGE_IP].n    ? "the end of IP"
						      : "the end of the send buffer";
}

/* With more, the summary says that it is about one of them. */
#define FLOWS_FEW 4
/* A reason with a smaller share of the wait in the send buffer is not named. */
#define REASON_LEAST 0.25
/* From here on it is named without its share. */
#define REASON_MOST 0.9
/* Losses are named from this share on: what is lost also closes the windows. */
#define LOST_LEAST 0.5

/* Returns the largest known reason of the wait in the send buffer and its share; -1: none. */
static int main_reason(const struct fact_flow *f, double *share)
{
	const struct why_sums *w = measures(f)->why;
	int most = -1;

	for (int i = 0; w && i < WHYS; i++)
		if (i != WHY_NOT_KNOWN && i != WHY_IMMEDIATE &&
			(most < 0 || w->wait[i] > w->wait[most]))
			most = i;
	*share = most < 0 ? 0
			  : (double)w->wait[most] / (double)measures(f)->stage[TX_STAGE_SNDBUF].sum;
	return *share >= REASON_LEAST ? most : -1;
}

/* Prints why bytes waited in the send buffer, in brackets, if it is known. */
static void print_reason(const char *why, double share, FILE *to)
{
	if (why && share < REASON_MOST)
		fprintf(to, " (%s, %s of it)", why, text_percent(share));
	else if (why)
		fprintf(to, " (%s)", why);
}

/*
 * Returns the group of flows with the longest waits if the flow is only a minor part of it; else
 * NULL.
 */
static const struct together *rather_together(
	const struct fact_flow *f, const struct together *groups, size_t count)
{
	const struct together *g = count ? &groups[0] : NULL; /* the longest waits */

	return g && !g->is_aside &&
			       measures(f)->residence.sum * 2 < measures(&g->sum)->residence.sum &&
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

/* Returns the cause that a stage is; in the send buffer, the reason if it is known. */
static enum cause cause_of(const struct fact_flow *f, int stage, int reason)
{
	if (f->flow.rx)
		return cause_of_rx_stage(stage);
	if (stage == TX_STAGE_QDISC)
		return CAUSE_QDISC;
	return reason < 0 ? CAUSE_STACK : recent_cause_of_why((enum why_reason)reason);
}

/* Says why nothing is said of where bytes waited, if no call of the kernel was recorded. */
static void no_calls(const struct report *r, FILE *to)
{
	if (r->flow_count && !core_has_observed(r->core, MG_EVENT_sys_enter) &&
		core_has_observed(r->core, MG_EVENT_tcp_recv))
		fprintf(to, "\nNo summary: without the layer syscall it is not known where bytes "
			    "waited "
			    "(--layers)\n");
}

const struct together *text_summarised(
	const struct report *r, const struct together *groups, size_t group_count)
{
	return r->sums.longest < r->flow_count
		       ? rather_together(report_keep_flow(r, r->sums.longest), groups, group_count)
		       : NULL;
}

/* Says what the summary is of: `several` flows, or one; `share` is that of the bytes followed. */
static void heading(const struct report *r, const struct together *several, double share, FILE *to)
{
	fprintf(to, "\nSummary");
	if (!several && r->flow_count > FLOWS_FEW)
		fprintf(to, " of the flow with the longest waits, 1 of %s",
			text_count(r->flow_count));
	if (standing_of(share) == WITHHELD)
		fprintf(to, " of the %s of the bytes seen at every layer", text_coverage(share));
}

void text_summary(
	const struct report *r, const struct together *groups, size_t group_count, FILE *to)
{
	double share = followed(&r->sums);
	const struct fact_flow *f =
		r->sums.longest < r->flow_count ? report_keep_flow(r, r->sums.longest) : NULL;
	const struct together *several;
	struct probes p;
	char end[100];
	char remedy[REMEDY_MAX];
	const char *why = NULL;
	double mean, part = 0;
	enum cause cause;
	int longest, behind, reason = -1;

	if (!f && r->sums.longest_timed < r->flow_count) {
		text_timed_summary(r, groups, group_count, to);
		return;
	}
	if (standing_of(share) == WITHHELD && r->recording.lost_kernel + r->recording.lost_app) {
		fprintf(to,
			"\nNo summary: only %s of the bytes were seen at every layer, as events "
			"were lost\n",
			text_coverage(share));
		return;
	}
	if (!f) {
		no_calls(r, to);
		return;
	}
	several = text_summarised(r, groups, group_count);
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
	longest = longest_stage_from(f, &p, 0);
	behind = stage_behind(r, f, &p, longest);
	mean = dist_mean(&measures(f)->residence);
	if (!(mean > 0)) {
		fprintf(to, "\nNo summary: no layer below the calls was recorded (--layers)\n");
		return;
	}
	heading(r, several, share, to);
	fprintf(to, ": bytes%s took %s on average", end, text_ns(report_ns(r, mean)));
	if (f->flow.rx)
		fprintf(to, " from the first layer that saw them to %s.\n",
			comm_or(f, "the program"));
	else
		fprintf(to, " from %s's call to %s.\n", comm_or(f, "the program"), passed(f));
	if (!f->flow.rx && behind == TX_STAGE_SNDBUF) {
		reason = main_reason(f, &part);
		why = reason < 0 ? NULL : why_reason_label((unsigned int)reason);
	}
	cause = cause_of(f, behind, reason);
	if (!f->flow.rx && behind == TX_STAGE_SNDBUF && flow_lost_share(f) >= LOST_LEAST) {
		cause = CAUSE_LOST;
		part = flow_lost_share(f);
		why = "earlier bytes had to be sent again";
	}
	remedy_of_cause(r, cause, report_ns(r, stage_mean(f, &p, behind)), remedy);
	fprintf(to,
		"%s of that: ", text_percent(mean > 0 ? stage_mean(f, &p, longest) / mean : NAN));
	if (behind != longest)
		fprintf(to, "the call waited until the send buffer had room. Then longest: %s",
			stage_label(f, behind));
	else
		fprintf(to, "%s", stage_label(f, longest));
	print_reason(why, part, to);
	fprintf(to, ".\n");
	if (remedy[0]) {
		fprintf(to, "%s ", text_arrow());
		text_wrapped(to, 2, 2, remedy);
	}
}
