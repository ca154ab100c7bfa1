/* SPDX-License-Identifier: MIT */
/* Prints where the last byte of each send waited, by the kernel's timestamps. */
#include "reported/timed_sends.h"

#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"
#include "text_causes.h"

#define LINE_MAX 500

/* Adds a count of sends to the words, if there are any. Returns the length of the words then. */
static size_t some(char *words, size_t used, uint64_t n, const char *what)
{
	if (!n || used >= LINE_MAX)
		return used;
	return used +
	       (size_t)snprintf(words + used, LINE_MAX - used, "; %s %s", text_count(n), what);
}

/* Prints how many sends there are, and of which of them not all times are known. */
static void counts(const struct timed_sends_figures *of, FILE *to)
{
	const uint64_t *n = of->sums->n, all = timed_sends_count(of);
	char words[LINE_MAX];
	size_t used = (size_t)snprintf(words, sizeof(words), "the last byte of %s%s send%s",
		of->misses ? text_at_least() : "", text_count(all), plural(all));

	used = some(words, used, n[TIMED_MERGED], "merged into a later send's segment");
	used = some(words, used, n[TIMED_ACKNOWLEDGED_LATER],
		"acknowledged only by a later send's ACK");
	used = some(words, used, n[TIMED_LEFT], "had left before the call ended");
	used = some(words, used, n[TIMED_UNFINISHED], "without an acknowledgement");
	used = some(words, used, n[TIMED_LOST], "with events that may be missing");
	some(words, used, of->sums->queued_again, "retransmitted");
	fprintf(to, "  ");
	text_wrapped(to, 2, 4, words);
}

/* Returns whether a row says more than the one before. */
static bool is_worth_it(const struct timed_sends_figures *of, const struct timed_stage_figures *one)
{
	return one->spread.d != &of->sums->at_most || one->spread.d->n != of->sums->total.n;
}

void text_timed_sends(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct timed_sends_figures of;
	struct timed_stage_figures one;
	struct table t;
	uintptr_t at = 0;

	if (!timed_sends_figures_of(r, f, &of))
		return;
	table_begin(&t, "lrrrrr");
	table_row(&t, "by the kernel's timestamps\tsends\tmean\tp50\tp99\tmax");
	while (next_timed_sends_stages_ns(&of, &at, &one)) {
		if (!is_worth_it(&of, &one))
			continue;
		table_row(&t, "%s\t%s\t%s\t%s\t%s\t%s", one.label,
			text_value(get_timed_stage_n(&one), IN_CALLS),
			text_value(get_spread_mean(&one.spread), IN_NS),
			text_value(get_spread_p50(&one.spread), IN_NS),
			one.spread.d->n ? text_spread_high(&one.spread) : "n/a",
			text_value(get_longest_max(&one.spread), IN_NS));
	}
	table_print(&t, to, 2, false);
	counts(&of, to);
}

/* ---- the summary ---- */

/* Returns what to do about the stage that takes longest. */
static const char *remedy(enum timed_stage stage)
{
	static const char *const of[TIMED_STAGES] = {
		[TIMED_SEND_BUFFER] = "TCP held the bytes back. The default layers tell why: the "
				      "peer's window, the congestion window, Nagle's algorithm.",
		[TIMED_NETWORK] = "This is the path, the peer, and the peer's delay before it "
				  "acknowledges. To tell them apart, record the peer with the "
				  "default layers.",
	};

	return stage == TIMED_QUEUE ? cause_remedy(CAUSE_QDISC) : of[stage];
}

/* Below this share of their time, the sends that are divided into stages do not stand for all. */
#define DIVIDED_LEAST 0.5

/* Prints the longest stage, of the sends of which all stages are known, and what to do about it. */
static void longest_stage(const struct timed_sums *t, FILE *to)
{
	enum timed_stage longest = TIMED_SEND_BUFFER;
	char words[WORDS_MAX];
	double sum = 0;

	for (int i = 0; i < TIMED_STAGES; i++) {
		sum += (double)t->whole[i];
		if (t->whole[i] > t->whole[longest])
			longest = (enum timed_stage)i;
	}
	if (!(sum >= DIVIDED_LEAST * (double)t->at_most.sum)) {
		snprintf(words, sizeof(words),
			"Where they waited is not known: for %s of %s some timestamps are missing.",
			text_count(t->at_most.n - t->whole_n), text_count(t->at_most.n));
		if (t->queued_again)
			snprintf(words + strlen(words), sizeof(words) - strlen(words),
				" %s were retransmitted.", text_count(t->queued_again));
		text_wrapped(to, 0, 2, words);
		return;
	}
	fprintf(to, "%s of ", text_percent((double)t->whole[longest] / sum));
	if (t->whole_n < t->at_most.n)
		fprintf(to, "the time of %s of them, of which all times are known",
			text_count(t->whole_n));
	else
		fprintf(to, "their time");
	fprintf(to, ": %s.\n", timed_stage_label(longest));
	snprintf(words, sizeof(words), "%s %s", text_arrow(), remedy(longest));
	text_wrapped(to, 0, 2, words);
}

void text_timed_summary(
	const struct report *r, const struct together *groups, size_t group_count, FILE *to)
{
	const struct fact_flow *f = report_keep_flow(r, r->sums.longest_timed);
	const struct together *g = group_count && !groups[0].is_aside ? &groups[0] : NULL;
	const struct timed_sums *t = measures(f)->timed;
	char remote[64];

	fprintf(to, "\nSummary: sends ");
	/* the flows that the first table is of */
	if (g && g->count > 1 && measures(&g->sum)->timed &&
		measures_wait(measures(&g->sum)) >= measures_wait(measures(f))) {
		t = measures(&g->sum)->timed;
		fprintf(to, "in %s %s flows", text_count(g->count), flow_proto(&g->sum));
	} else {
		flow_far_end(r, f, remote);
		fprintf(to, "to %s", remote);
	}
	if (!t->at_most.n) {
		fprintf(to, " have no acknowledgement with a timestamp.\n");
		return;
	}
	fprintf(to, " were acknowledged after %s%s on average%s.\n",
		t->at_most.n > t->total.n ? "at most " : "",
		text_ns(report_ns(r, dist_mean(&t->at_most))),
		r->recording.lost_kernel ? ", of those seen: events were lost" : "");
	longest_stage(t, to);
}

bool text_has_only_timed_sends(const struct report *r, const struct fact_flow *f)
{
	return measures(f)->timed && !core_has_observed(r->core, MG_EVENT_sys_enter);
}
