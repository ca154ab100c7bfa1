/* SPDX-License-Identifier: MIT */
/* Prints the report as text, to be read from top to bottom. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "report.h"
#include "table.h"
#include "text.h"
#include "text_answer.h"
#include "text_stacks.h"
#include "text_exchanges.h"
#include "wrap.h"

#define COMMENT_MAX  120
#define FIRST_SCREEN 24 /* lines that the head and the answer have in all, if they can */

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

	fprintf(to, "\nTracing overhead: %s per call, %s per kernel event, %s of one CPU",
		text_ns(c.app_ns_per_call), text_ns(c.kernel_ns_per_event),
		text_percent(c.cpu_share));
	if (c.setup_cpu_ns > 0)
		fprintf(to, "; %s of CPU time to start and stop", text_ns(c.setup_cpu_ns));
	fprintf(to, "\n");
}

/* ---- sections, in the order of the time lost ---- */

struct text {
	const struct report *r;
	const struct together *groups;
	size_t group_count;
	bool answered, colour;
	FILE *to;
};

static void calls(const struct text *t)
{
	text_calls(t->r, t->to, t->colour);
}

static void flows(const struct text *t)
{
	text_flows(t->r, t->groups, t->group_count, t->answered, t->to, t->colour);
	if (t->r->demand)
		text_on_demand_of_all(t->r, t->to, t->colour);
}

static void scheduler(const struct text *t)
{
	text_sched(t->r, t->to, t->colour);
}

#define SECTIONS 3
struct section {
	void (*print)(const struct text *t);
	const char *what;
	double ns;
	int nth; /* its place where times are equal, or not known */
};

static int more_lost(const void *a, const void *b)
{
	const struct section *x = a, *y = b;
	double first = isnan(x->ns) ? 0 : x->ns, second = isnan(y->ns) ? 0 : y->ns;

	if (first != second)
		return first < second ? 1 : -1;
	return x->nth - y->nth;
}

/* Prints how much was lost in what. */
static void times_lost(const struct text *t, const struct section *all)
{
	int known = 0;

	for (int i = 0; i < SECTIONS; i++) {
		if (isnan(all[i].ns))
			continue;
		fprintf(t->to, "%s%s %s",
			known ? ", " : "\nTime lost, summed over messages and threads: ",
			text_ns(all[i].ns), all[i].what);
		known++;
	}
	if (known)
		fprintf(t->to, "\n");
}

static void sections(const struct text *t)
{
	struct time_lost lost = report_time_lost(t->r);
	struct section all[SECTIONS] = {
		{calls, "in system calls", lost.calls, 0},
		{flows, "in the stack", lost.messages, 1},
		{scheduler, "waiting for a CPU", lost.run_queue, 2},
	};

	qsort(all, SECTIONS, sizeof(all[0]), more_lost);
	times_lost(t, all);
	for (int i = 0; i < SECTIONS; i++)
		all[i].print(t);
}

/* Prints the options that show what was left out. */
static void hint(const struct report *r, FILE *to)
{
	const struct report_detail *d = &r->detail;

	if (d->all || d->no_hint)
		return;
	fprintf(to, "\nmore:%s%s%s --flow ID%s --all\n", d->calls ? "" : " --calls",
		d->modulation ? "" : " --modulation", d->explain ? "" : " --explain",
		r->slowest ? "" : " --slowest N");
}

static void one_flow(const struct report *r, FILE *to, const char *id, bool colour)
{
	struct report whole = *r;

	whole.detail.all = true;
	text_head(&whole, to, false, colour);
	text_flow(&whole, report_keep_flow(r, report_find_flow(r, id)), to, colour);
}

/* Prints the head; if bytes of exchanges are few, also where bytes waited. Returns the lines on the
 * terminal. */
static int first_lines(const struct text *t)
{
	char *text;
	size_t size;
	FILE *lines = mg_text_open(&text, &size);
	int n;

	if (!lines)
		return 0;
	text_head(t->r, lines, true, t->colour);
	if (!t->answered)
		text_summary(t->r, t->groups, t->group_count, lines);
	if (!mg_text_close(lines, &text))
		return 0;
	fputs(text, t->to);
	n = text_lines(text);
	free(text);
	return n;
}

void report_text_answer(const struct report *r, FILE *to, bool colour)
{
	struct text t = {.r = r, .to = to, .colour = colour};
	struct together *groups = report_together(r, &t.group_count);

	t.groups = groups;
	t.answered = text_is_of_exchanges(r);
	text_answer(r, FIRST_SCREEN - first_lines(&t), to, colour);
	report_together_free(groups, t.group_count);
}

void report_text(const struct report *r, FILE *to, const char *id, bool colour)
{
	struct text t = {.r = r, .to = to, .colour = colour};
	struct together *groups;

	if (id) {
		one_flow(r, to, id, colour);
		return;
	}
	groups = report_together(r, &t.group_count);
	t.groups = groups;
	t.answered = text_is_of_exchanges(r);
	text_answer(r, FIRST_SCREEN - first_lines(&t), to, colour);
	text_exchanges(r, to, colour);
	if (r->histogram)
		text_histograms(r, to, colour);
	if (r->slowest)
		text_slowest(r, to, colour);
	sections(&t);
	report_together_free(groups, t.group_count);
	text_stacks(r, to, colour);
	other_events(r, to);
	own_cost(r, to);
	if (text_explains(r))
		text_explain(r, to, colour);
	hint(r, to);
}
