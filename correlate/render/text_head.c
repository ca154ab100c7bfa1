/* SPDX-License-Identifier: MIT */
/* Prints the report's first lines: the recording, and what is missing of it. */
#include <errno.h>
#include <string.h>

#include "event_table.h"
#include "report.h"
#include "text.h"

#define GAPS_SHOWN  5
#define COMMENT_MAX 120
#define WHY_MAX     100

static const char *session_text(const struct report *r, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(r->session, key));

	return s ? s : otherwise;
}

static void heading(const struct report *r, FILE *to, bool colour)
{
	const char *command = session_text(r, "command", r->source ? r->source : "trace");
	char beside[128];
	size_t n = (size_t)snprintf(beside, sizeof(beside), "%s", text_ns(report_duration_ns(r)));
	int columns = text_columns(), width;

	if (r->session)
		n += (size_t)snprintf(beside + n, sizeof(beside) - n, "   Linux %s",
			text_plain(session_text(r, "kernel", "?"), 40));
	if (r->hz > 0 && !r->recording.ns_only && text_explains(r))
		snprintf(beside + n, sizeof(beside) - n,
			r->hz < 0.9995e9 ? "   counter %.3f MHz" : "   counter %.3f GHz",
			r->hz / (r->hz < 0.9995e9 ? 1e6 : 1e9));
	width = columns < COMMENT_MAX ? columns : COMMENT_MAX;
	width -= (int)strlen(command) > width ? 3 : 0;
	fprintf(to, "%s%s%s%s", colour ? "\033[1m" : "", text_plain(command, (size_t)width),
		(int)strlen(command) > width ? "..." : "", colour ? "\033[0m" : "");
	/* a long command has a line of its own */
	fprintf(to, "%s%s\n",
		(int)strlen(command) + 3 + text_width(beside) > columns ? "\n" : "   ", beside);
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
	if (!text_explains(r)) {
		fprintf(to, "\n");
		return;
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
			"the hypervisor took %s of the CPUs' time (steal): the figures include "
			"it\n",
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
			"  lost: all calls of %s program%s and of the programs they started, "
			"because "
			"magnet's files are not visible there (chroot),",
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

/* Prints what has the same cause, over and over, in one line. */
static void not_run(uint64_t packets, size_t places, FILE *to)
{
	if (!packets)
		return;
	fprintf(to,
		"  lost: at least 1 event of each of %s packets, in %zu interval%s: this machine\n"
		"    runs no tracing programs while process 1 is on the CPU\n",
		text_count(packets), places, plural(places));
}

/*
 * Prints the gaps of files that are gone, or all others, as long as there is room. Returns how many
 * there are, without those that are reported elsewhere.
 */
static size_t gaps_of(const struct report *r, bool files, size_t room, FILE *to)
{
	struct fact_loss g;
	uintptr_t at = 0;
	size_t n = 0;

	while (core_next_loss(r->core, &at, &g)) {
		if (g.reason == MG_LOST_NOT_RUN || g.reason == MG_LOST_NOT_COVERED ||
			(g.reason == MG_LOST_NOT_HERE) != files)
			continue;
		if (n++ < room)
			gap(r, &g, to);
	}
	return n;
}

static void gaps(const struct report *r, FILE *to)
{
	struct fact_loss g;
	uintptr_t at = 0;
	size_t n, places = 0;
	uint64_t packets = 0;

	/* first what somebody took away: rings may lose events hundreds of times */
	n = gaps_of(r, true, GAPS_SHOWN, to);
	n += gaps_of(r, false, n < GAPS_SHOWN ? GAPS_SHOWN - n : 0, to);
	while (core_next_loss(r->core, &at, &g)) {
		if (g.reason != MG_LOST_NOT_RUN)
			continue;
		packets += g.events;
		places++;
	}
	not_run(packets, places, to);
	if (n > GAPS_SHOWN)
		fprintf(to, "  and %zu more gap%s (--json has them all)\n", n - GAPS_SHOWN,
			plural(n - GAPS_SHOWN));
}

/* Returns why a hook could not be attached, as the recorder tells. */
static const char *hook_why(const struct report *r, const struct fact_hook *hook)
{
	json_t *hooks = json_object_get(json_object_get(r->session, "kernel_side"), "hooks"), *h;
	size_t i;

	json_array_foreach (hooks, i, h) {
		const char *name = json_string_value(json_object_get(h, "hook"));
		const char *why = json_string_value(json_object_get(h, "why"));

		if (name && why && strcmp(name, hook->hook) == 0 &&
			json_integer_value(json_object_get(h, "status")) == hook->status)
			return text_plain(why, WHY_MAX);
	}
	return strerror((int)-hook->status);
}

/*
 * Prints the events of which the hooks could not be attached, and on request those switched off: a
 * layer without any is among the gaps.
 */
static void unattached(const struct report *r, FILE *to)
{
	struct fact_hook hook;
	uintptr_t at = 0;
	char why[WHY_MAX + 1] = "";
	int n = 0;
	bool one_reason = true;

	while (core_next_hook(r->core, &at, &hook)) {
		const char *reason;

		if (!hook.status || mg_hook_is_of_lock(hook.hook) ||
			(hook.status == -ENOLINK && !text_explains(r)))
			continue;
		reason = hook.status == -ENOLINK ? "switched off" : hook_why(r, &hook);
		if (text_explains(r))
			fprintf(to, "not observed: %s %s (%s)\n", text_plain(hook.layer, 16),
				text_plain(hook.hook, 32), reason);
		else
			fprintf(to, "%s%s", n ? ", " : "not observed: ", text_plain(hook.hook, 32));
		one_reason &= !n || strcmp(why, reason) == 0;
		snprintf(why, sizeof(why), "%s", reason);
		n++;
	}
	if (n && !text_explains(r))
		fprintf(to, "%s%s%s\n", one_reason ? " (" : "", one_reason ? why : "",
			one_reason ? ")" : "; --explain tells why");
}

/* Prints which side there is not, and what the kernel side could not be attached to. */
static void not_recorded(const struct report *r, FILE *to)
{
	const struct fact_recording *c = &r->recording;
	const char *missing = json_string_value(
		json_object_get(json_object_get(r->session, "kernel_side"), "missing"));
	const char *no_app = session_text(r, "app_missing", NULL);
	const char *selection = session_text(r, "selection", NULL);

	if (selection && c->kernel_events)
		fprintf(to,
			"recorded with %s: the kernel side has only what these options choose\n",
			text_plain(selection, COMMENT_MAX));
	if (no_app)
		fprintf(to, "kernel side only: %s\n", text_plain(no_app, COMMENT_MAX));
	if (missing)
		fprintf(to, "application side only: %s\n", text_plain(missing, COMMENT_MAX));
	else if (!c->kernel_events)
		fprintf(to, "application side only: no kernel events in this trace\n");
	else if (!c->has_end && c->part_ended)
		fprintf(to, "part of a longer recording: ends with part %llu\n",
			(unsigned long long)c->part);
	if (report_sees_packets_only(r))
		fprintf(to, "not observed by the kernel side: " MG_UNSEEN_KINDS
			    ", which pass none of the layers recorded (--layers)\n");
	unattached(r, to);
}

void text_head(const struct report *r, FILE *to, bool losses, bool colour)
{
	bool whole;

	heading(r, to, colour);
	text_filter(r, to, colour);
	if (losses)
		text_losses(r, to, colour);
	whole = text_whole(r, to, colour);

	counts(r, to, whole, colour);
	times(r, to);
	missed(r, to);
	text_dumps(r, to);
	gaps(r, to);
	not_recorded(r, to);
}
