/* SPDX-License-Identifier: MIT */
/* Prints the scheduler's figures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

static const char *const kinds[] = {"task to task", "to idle", "from idle"};

static void switches(const struct scheduler_figures *f, FILE *to, bool colour)
{
	const char *why = get_scheduler_no_durations(f).text;
	struct switch_figures one;
	uintptr_t at = 0;
	struct table t;

	if (why) {
		if (text_explains(f->r))
			fprintf(to, "  switch duration: n/a, %s\n", why);
		return;
	}
	table_begin(&t, "llrrrrrr");
	table_drops(&t, "763");
	table_row(&t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", LABEL(switch, kind), LABEL(switch, cpu),
		LABEL(switch, n), LABEL(switch, mean_ns), LABEL(switch, p50_ns),
		LABEL(switch, p99_ns), LABEL(switch, decide_mean_ns),
		LABEL(switch, reload_mean_ns));
	while (next_scheduler_switches(f, &at, &one))
		if (one.s->total_ns.n)
			table_row(&t, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s", kinds[one.kind], one.cpu,
				text_value(get_switch_n(&one), IN_SWITCHES),
				text_value(get_switch_mean_ns(&one), IN_NS),
				text_value(get_switch_p50_ns(&one), IN_NS),
				text_spread_high(&one.spread),
				text_value(get_switch_decide_mean_ns(&one), IN_NS),
				text_value(get_switch_reload_mean_ns(&one), IN_NS));
	table_print(&t, to, 0, colour);
}

/* Returns what a row of blocks was in, in words, which are written to `words`. */
static const char *blocked_in(const struct blocked_figures *f, char words[128])
{
	const char *call = get_blocked_call(f).text, *in = get_blocked_in(f).text;
	const char *remote = get_blocked_remote(f).text;
	struct value io = get_blocked_io(f);

	if (!in)
		in = "n/a";
	else if (strcmp(in, "page_fault") == 0)
		in = "page fault";
	snprintf(words, 128, "%s%s%s%s", call ? call : in, remote ? " " : "", remote ? remote : "",
		io.kind == VALUE_FLAG && io.flag ? " (disk)" : "");
	return words;
}

#define BLOCKED_SHOWN 8
#define BLOCKED_SHORT 4
static void blocked(const struct scheduler_figures *f, FILE *to, bool colour)
{
	const char *why = get_scheduler_no_blocked_in(f).text;
	struct blocked_figures one;
	uintptr_t at = 0;
	char words[128];
	struct table t;
	int shown = 0;

	if (!f->s->blocked.n)
		return;
	if (why) {
		fprintf(to, "  what threads were blocked in: n/a, %s\n", why);
		return;
	}
	table_begin(&t, "lrlrrrrr");
	table_drops(&t, "516");
	table_row(&t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", LABEL(blocked, program),
		LABEL(blocked, pid), LABEL(blocked, call), LABEL(blocked, n),
		LABEL(blocked, total_ns), LABEL(blocked, p50_ns), LABEL(blocked, p99_ns),
		LABEL(blocked, max_ns));
	while (shown++ < (text_has_all(f->r) ? BLOCKED_SHOWN : BLOCKED_SHORT) &&
		next_scheduler_blocked(f, &at, &one)) {
		const char *program = get_blocked_program(&one).text;

		table_row(&t, "  %s\t%u\t%s\t%s\t%s\t%s\t%s\t%s",
			program ? text_plain(program, 15) : "?", one.row->key.pid,
			blocked_in(&one, words), text_value(get_blocked_n(&one), IN_TIMES),
			text_value(get_blocked_total_ns(&one), IN_NS),
			text_value(get_blocked_p50_ns(&one), IN_NS), text_spread_high(&one.spread),
			text_value(get_blocked_max_ns(&one), IN_NS));
	}
	table_print(&t, to, 0, colour);
}

/* Prints how long threads were throttled, if any was. */
static void throttled_line(const struct scheduler_figures *f, FILE *to)
{
	struct waits_figures throttled;

	into_scheduler_throttled_ns(f, &throttled);
	if (!throttled.all->n)
		return;
	fprintf(to,
		"  %s%s of that throttled, as a cgroup had used up its CPU quota: %s time%s, p50 "
		"%s, %s\n",
		get_scheduler_throttled_at_least(f).flag ? text_at_least() : "",
		text_value(get_scheduler_throttled_total_ns(f), IN_NS),
		text_value(get_waits_n(&throttled), IN_WAITS), plural(throttled.spread.d->n),
		text_value(get_spread_p50(&throttled.spread), IN_NS),
		text_spread_named_high(&throttled.spread));
}

static uint64_t switches_in_all(const struct scheduler_figures *f)
{
	uint64_t all = 0;

	for (int i = 0; i < f->s->cpus * SWITCH_KINDS; i++)
		all += f->s->switches[i].n;
	return all;
}

/* Prints every kind of wait, and how often threads were switched and moved. */
static void all_waits(const struct scheduler_figures *f, const struct waits_figures *wakeup,
	const struct waits_figures *queueing, const struct waits_figures *run_queue, FILE *to)
{
	enum standing standing = standing_of(f->coverage);
	bool shown = standing != WITHHELD, moved = known_scheduler_migrations(f);
	/* a missing wait may have been the longest, or one more */
	const char *least = f->coverage < 1 ? text_at_least() : "";
	uint64_t all = switches_in_all(f);

	fprintf(to,
		"\nScheduler%s   wakeup latency p50 %s %s max %s%s (%s wakeups)   switches "
		"%s%s   "
		"migrations "
		"%s%s\n",
		star(standing), text_value(get_spread_p50(&wakeup->spread), IN_NS),
		text_spread_named_high(&wakeup->spread), wakeup->all->n ? least : "",
		text_value(get_waits_max(wakeup), IN_NS), text_value(get_waits_n(wakeup), IN_WAITS),
		least, text_count(all), moved ? least : "",
		or_na(moved, text_value(get_scheduler_migrations(f), IN_THREADS)));
	if (queueing->spread.d->n)
		fprintf(to, "  wakeup until on a run queue: p50 %s %s\n",
			text_value(get_spread_p50(&queueing->spread), IN_NS),
			text_spread_named_high(&queueing->spread));
	fprintf(to, "  waits for a CPU: p50 %s %s, %s%s in all (%s waits)\n",
		text_value(get_spread_p50(&run_queue->spread), IN_NS),
		text_spread_named_high(&run_queue->spread), shown ? least : "",
		or_na(shown, text_value(get_scheduler_run_queue_total_ns(f), IN_NS)),
		text_value(get_waits_n(run_queue), IN_WAITS));
}

void text_sched(const struct report *r, FILE *to, bool colour)
{
	struct scheduler_figures f = scheduler_figures_of(r);
	struct waits_figures wakeup, queueing, run_queue;
	enum standing standing = standing_of(f.coverage);
	bool shown = standing != WITHHELD;

	if (r->filter && filter_chooses_sockets(r->filter)) {
		if (f.watched)
			fprintf(to, "\nScheduler   n/a: the filter chooses connections, and waits "
				    "for a CPU belong to threads (--process, --thread)\n");
		return;
	}
	if (!switches_in_all(&f))
		return;
	into_scheduler_wakeup_ns(&f, &wakeup);
	into_scheduler_queueing_ns(&f, &queueing);
	into_scheduler_run_queue_ns(&f, &run_queue);
	if (text_has_all(r))
		all_waits(&f, &wakeup, &queueing, &run_queue, to);
	else
		fprintf(to,
			"\n%sScheduler%s%s   threads waited %s%s for a CPU: %s wait%s, p50 %s, "
			"%s\n",
			colour ? "\033[1m" : "", colour ? "\033[0m" : "", star(standing),
			shown && f.coverage < 1 ? text_at_least() : "",
			or_na(shown, text_value(get_scheduler_run_queue_total_ns(&f), IN_NS)),
			text_value(get_waits_n(&run_queue), IN_WAITS),
			plural(run_queue.spread.d->n),
			text_value(get_spread_p50(&run_queue.spread), IN_NS),
			text_spread_named_high(&run_queue.spread));
	if (known_scheduler_throttling(&f))
		throttled_line(&f, to);
	if (standing != WHOLE)
		fprintf(to, "  %s: scheduler events are complete for %s of the time\n",
			shown ? "flagged (*)" : "not shown", text_coverage(f.coverage));
	if (shown)
		blocked(&f, to, colour);
	if (shown)
		switches(&f, to, colour);
}
