/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

#define CALLS_SHORT 6   /* kinds in the short form */
#define SETUP_SHARE 0.1 /* part of the CPU time in calls from which on it has a call of set-up */

struct part {
	const char *name;
	double cycles;
};

static int larger_part(const void *a, const void *b)
{
	double x = ((const struct part *)a)->cycles, y = ((const struct part *)b)->cycles;

	return (x < y) - (x > y);
}

/* Writes the largest shares of a call's overhead, the largest first. */
static void shares(const struct call_stats *s, char out[CELL_SIZE])
{
	struct part parts[] = {
		{"entry", (double)s->state[STATE_ENTRY]},
		{"sock", (double)s->state[STATE_SOCKET]},
		{"lock", (double)s->state[STATE_LOCK]},
		{"tcp", (double)s->state[STATE_TCP]},
		{"ip", (double)s->state[STATE_IP]},
		{"dev", (double)s->state[STATE_DEVICE]},
		{"backlog", (double)s->state[STATE_RELEASE]},
		{"exit", (double)s->state[STATE_RETURN]},
	};
	enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
	double sum = 0;
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < PARTS; i++)
		sum += parts[i].cycles;
	qsort(parts, PARTS, sizeof(parts[0]), larger_part);
	for (size_t i = 0; i < PARTS && sum > 0 && used < CELL_SIZE - 12; i++) {
		double share = parts[i].cycles / sum;

		if (share >= 0.095)
			used += (size_t)snprintf(out + used, CELL_SIZE - used, "%s%s %.0f",
				used ? " " : "", parts[i].name, share * 100);
	}
}

/* Returns the kind of socket in few columns, with a star if the call bypassed the library. */
static const char *short_kind(const struct call_stats *s, char out[16])
{
	const char *name = mg_kind_name(s->key.kind);
	bool is_unix = strncmp(name, "unix_", 5) == 0;

	snprintf(out, 16, "%s%.*s%s", is_unix ? "unix " : "", is_unix ? 3 : 9,
		is_unix ? name + 5 : name, call_is_kernel_only(s) ? " *" : "");
	return out;
}

/* Prints why the figures of these calls are flagged or not shown. */
static void not_whole(
	const struct report *r, struct call_stats *const *calls, size_t count, FILE *to)
{
	for (size_t i = 0; i < count; i++) {
		double coverage = call_coverage(r, calls[i]);
		char kind[16];

		if (standing_of(coverage) != WHOLE)
			fprintf(to, "  %s %s: %s: %s of the calls are complete\n",
				call_name(calls[i]), short_kind(calls[i], kind),
				standing_of(coverage) == STARRED ? "overhead flagged (*)"
								 : "overhead not shown",
				text_coverage(coverage));
	}
}

static void call_row(const struct report *r, const struct call_stats *s, struct table *t)
{
	struct call_figures f = call_figures_of(r, s);
	struct spread_figures total;
	struct overhead_figures o;
	enum standing standing = standing_of(f.coverage), all = WHOLE;
	char where[CELL_SIZE] = "", kind[16];
	struct value p50;

	into_call_total_ns(&f, &total);
	/* quantiles of whichever calls are more: those that blocked, or the others */
	if (s->overhead.n >= s->overhead_blocked.n)
		into_call_overhead_ns(&f, &o);
	else
		into_call_overhead_blocking_ns(&f, &o);
	p50 = get_spread_p50(&o.spread);
	if (!call_is_kernel_only(s))
		all = standing_of(report_app_coverage(r));
	if (o.spread.d->n)
		shares(s, where);
	table_row(t, "  %s\t%s\t%s\t%s\t%s\t%s%s\t%s%s%s\t%s\t%s\t%s", call_name(s),
		short_kind(s, kind), text_count(s->n),
		s->bytes ? text_bytes((double)s->bytes) : "-",
		or_na(call_blocking_known(r, s), text_percent(call_blocked_share(s))),
		text_value(get_spread_p50(&total), IN_NS), star(all),
		known_overhead_bounded(&o) && get_overhead_below_uncertainty(&o).flag ? "~" : "",
		text_value(p50, IN_NS), o.spread.d->n ? star(standing) : "",
		text_value(get_overhead_uncertainty(&o), IN_NS), text_spread_high(&o.spread),
		where);
}

/* Prints the notes below the table, about the calls in it. */
static void notes(const struct report *r, struct call_stats *const *calls, size_t count, FILE *to)
{
	for (size_t i = 0; i < count; i++)
		if (call_is_kernel_only(calls[i])) {
			fprintf(to, "  * kernel-only: the call bypassed libmagnet.so%s\n",
				r->side[CORE_APP].ends_early
					? ", or followed the end of the application side"
				: r->side[CORE_APP].begins_late
					? ", or preceded the kept part of the application side"
					: "");
			break;
		}
	not_whole(r, calls, count, to);
}

/* Prints quantiles of the whole time of each kind of call; "-" where there are too few calls. */
static void call_times(const struct report *r, FILE *to, bool colour)
{
	struct spread_figures total;
	struct table t;
	char kind[16];

	table_begin(&t, "llrrrrr");
	table_row(&t, "Time of a call\t\t%s\t%s\t%s\t%s\t%s", LABEL(call, n), LABEL(spread, p50),
		LABEL(spread, p90), LABEL(spread, p99), LABEL(longest, max));
	for (size_t i = 0; i < r->call_count; i++) {
		const struct call_stats *s = r->calls[i];
		struct call_figures f = call_figures_of(r, s);

		into_call_total_ns(&f, &total);
		table_row(&t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s", call_name(s), short_kind(s, kind),
			text_count(s->n), text_value(get_spread_p50(&total), IN_NS),
			isnan(spread_quantile(&total, 0.9))
				? "-"
				: text_value(get_spread_p90(&total), IN_NS),
			dist_highest(total.d) < 1 ? text_spread_high(&total) : "-",
			text_value(get_longest_max(&total), IN_NS));
	}
	fputc('\n', to);
	table_fit(&t, text_columns());
	table_print(&t, to, 0, colour);
}

static void all_calls(const struct report *r, FILE *to, bool colour)
{
	struct table t;

	table_begin(&t, "llrrrrrrrl");
	table_drops(&t, "974");
	table_row(&t,
		"System calls\t\t%s\t%s\t%s\ttotal %s\toverhead %s\t%s\t%s\t%% of overhead in",
		LABEL(call, n), LABEL(call, bytes), LABEL(call, blocked_n), LABEL(spread, p50),
		LABEL(overhead, p50), LABEL(overhead, uncertainty), LABEL(overhead, p99));
	for (size_t i = 0; i < r->call_count; i++)
		call_row(r, r->calls[i], &t);
	table_fit(&t, text_columns());
	table_print(&t, to, 0, colour);
	notes(r, r->calls, r->call_count, to);
	call_times(r, to, colour);
}

/* ---- the short form ---- */

static double cpu_cycles(const struct call_stats *s)
{
	return (double)s->overhead.sum + (double)s->overhead_blocked.sum;
}

/* Sorts by time on the CPU; by the whole time where that is not known. */
static int dearer(const void *a, const void *b)
{
	const struct call_stats *x = *(struct call_stats *const *)a;
	const struct call_stats *y = *(struct call_stats *const *)b;
	double cpu = cpu_cycles(y) - cpu_cycles(x);
	double total = (double)y->total.sum - (double)x->total.sum;

	if (cpu != 0)
		return cpu > 0 ? 1 : -1;
	if (total != 0)
		return total > 0 ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Returns whether a call moves data; others set a socket up, or close it. */
static bool moves_data(const struct call_stats *s)
{
	enum mg_direction d = call_is_kernel_only(s)
				      ? mg_syscall_direction(s->key.id & ~CALL_KERNEL_ONLY)
				      : mg_function_direction(s->key.id);

	return d == MG_DIR_TX || d == MG_DIR_RX;
}

/* Puts the calls that take most time first, and returns how many are worth a row. */
static size_t choose(const struct report *r, struct call_stats **calls)
{
	double cpu = 0, all = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->call_count; i++) {
		cpu += cpu_cycles(r->calls[i]);
		all += (double)r->calls[i]->total.sum;
	}
	for (size_t i = 0; i < r->call_count; i++) {
		struct call_stats *s = r->calls[i];
		/* without the kernel side no call's CPU time is known */
		double share = cpu > 0 ? cpu_cycles(s) / cpu : (double)s->total.sum / all;

		if (s->key.kind != MG_KIND_netlink && (moves_data(s) || share > SETUP_SHARE))
			calls[n++] = s;
	}
	qsort(calls, n, sizeof(*calls), dearer);
	return n < CALLS_SHORT ? n : CALLS_SHORT;
}

static void short_row(const struct report *r, const struct call_stats *s, struct table *t)
{
	struct call_figures f = call_figures_of(r, s);
	struct spread_figures total;
	struct overhead_figures o;
	enum standing standing = standing_of(f.coverage);
	char kind[16];

	into_call_total_ns(&f, &total);
	if (s->overhead.n >= s->overhead_blocked.n)
		into_call_overhead_ns(&f, &o);
	else
		into_call_overhead_blocking_ns(&f, &o);
	table_row(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s%s%s\t%s", call_name(s), short_kind(s, kind),
		text_count(s->n), s->bytes ? text_bytes((double)s->bytes) : "-",
		or_na(call_blocking_known(r, s), text_percent(call_blocked_share(s))),
		text_value(get_spread_p50(&total), IN_NS),
		known_overhead_bounded(&o) && get_overhead_below_uncertainty(&o).flag ? "~" : "",
		text_value(get_spread_p50(&o.spread), IN_NS), o.spread.d->n ? star(standing) : "",
		text_spread_high(&o.spread));
}

static void short_form(const struct report *r, FILE *to, bool colour)
{
	struct call_stats **calls = mg_calloc(r->call_count, sizeof(*calls));
	size_t n = calls ? choose(r, calls) : 0;
	struct table t;

	if (n) {
		table_begin(&t, "llrrrrrr");
		table_drops(&t, "74");
		table_row(&t, "System calls\t\t%s\t%s\t%s\ttotal %s\ton CPU %s\t%s", LABEL(call, n),
			LABEL(call, bytes), LABEL(call, blocked_n), LABEL(spread, p50),
			LABEL(overhead, p50), LABEL(overhead, p99));
		for (size_t i = 0; i < n; i++)
			short_row(r, calls[i], &t);
		table_print(&t, to, 0, colour);
		notes(r, calls, n, to);
	}
	free(calls);
}

static void calls(const struct report *r, FILE *to, bool colour)
{
	if (!r->call_count)
		return;
	fprintf(to, "\n");
	if (text_has_calls(r))
		all_calls(r, to, colour);
	else
		short_form(r, to, colour);
}

/* Prints the tracing overhead within the calls. */
static void own_share(const struct report *r, FILE *to, double all, double wakers)
{
	double probes = 0, readings = 0, n = 0;

	for (size_t i = 0; i < r->call_count; i++) {
		probes += (double)r->calls[i]->probe_cycles;
		readings += (double)r->calls[i]->reading_cycles;
		n += (double)(r->calls[i]->overhead.n + r->calls[i]->overhead_blocked.n);
	}
	if (n <= 0 || !r->recording.event_cycles)
		return;
	fprintf(to, "    tracing overhead %s, taken off above: per call %s of kernel events, ",
		text_percent((probes + readings) / all), text_ns(report_ns(r, probes / n)));
	fprintf(to, "%s of counter readings", text_ns(report_ns(r, readings / n)));
	if (figures_of(r->core)->calls.logged.n)
		fprintf(to, ";\n      after each call %s more",
			text_ns(report_ns(r, dist_mean(&figures_of(r->core)->calls.logged))));
	fprintf(to, "\n");
	if (wakers > 0)
		fprintf(to,
			"    blocked includes at most %s of tracing overhead in the waking "
			"threads\n",
			text_percent(wakers / all));
}

/* Prints the part of the calls' time that was spent on other work. */
static void waits(const struct report *r, FILE *to)
{
	double wakers = 0, locked_out = 0;
	static const struct {
		enum call_state state;
		const char *name;
	} not_theirs[] = {{STATE_BLOCKED, "blocked"}, {STATE_WAKEUP, "run queue"},
		{STATE_PREEMPTED, "preempted"}, {STATE_IRQ, "interrupts"},
		{STATE_SOFTIRQ, "softirqs"}, {STATE_SIGNAL, "signal handlers"}};
	double all = 0, state[STATES] = {0};

	for (size_t i = 0; i < r->call_count; i++) {
		for (int s = 0; s < STATES; s++) {
			state[s] += (double)r->calls[i]->state[s];
			all += (double)r->calls[i]->state[s];
		}
		wakers += (double)r->calls[i]->waker_events * r->recording.event_cycles;
		locked_out += (double)r->calls[i]->locked_out;
	}
	if (all <= 0 || !core_has_observed(r->core, MG_EVENT_sched_switch))
		return;
	for (size_t i = 0; i < sizeof(not_theirs) / sizeof(not_theirs[0]); i++)
		if (i < 5 || state[not_theirs[i].state] > 0)
			fprintf(to, "%s%s %s", i ? ", " : "  time in calls: ", not_theirs[i].name,
				text_percent(state[not_theirs[i].state] / all));
	fprintf(to, "\n");
	if (locked_out > 0)
		fprintf(to,
			"    part of blocked: waiting for a socket that another thread had locked: "
			"%s\n",
			text_percent(locked_out / all));
	own_share(r, to, all, wakers);
}

void text_calls(const struct report *r, FILE *to, bool colour)
{
	calls(r, to, colour);
	if (text_has_calls(r))
		waits(r, to);
	text_unseen(r, to);
	text_marks(r, to);
}
