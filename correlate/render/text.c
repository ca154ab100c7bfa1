/* SPDX-License-Identifier: MIT */
/* The report to be read from top to bottom. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "report.h"
#include "table.h"

#define FLOWS_SHOWN    4
#define CALLS_SHOWN    14
#define MARKS_SHOWN    5 /* kinds */
#define GAPS_SHOWN     5
#define BAR_WIDTH      20
#define REPORT_WIDTH   100
#define COMMAND_BESIDE 45
#define COMMAND_ALONE  95
#define COMMENT_MAX    120

static const char *session_text(const struct report *r, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(r->session, key));

	return s ? s : otherwise;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static const char *comm_or(const struct report *r, const struct flow *f, const char *otherwise)
{
	const char *comm = flow_comm(r, f);

	return comm[0] ? text_plain(comm, 15) : otherwise;
}

/* ---- what was recorded, and what is missing ---- */

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
	if (r->hz > 0)
		fprintf(to, "   counter %.3f GHz", r->hz / 1e9);
	fprintf(to, "\n");
}

/*
 * Bytes that some layer's hook did not see though no event was lost: some machines run no tracing
 * programs at times, and count nothing then.
 */
static void missed(const struct report *r, FILE *to)
{
	uint64_t missing = 0, all = 0;

	for (size_t i = 0; i < r->flow_count; i++) {
		missing += r->flows[i]->incomplete;
		all += flow_bytes(r->flows[i]);
	}
	if (all && (double)missing > 0.001 * (double)all)
		fprintf(to,
			"%s of the bytes were not seen at every layer, and are left out where "
			"bytes wait\n",
			text_percent((double)missing / (double)all));
}

static void losses(const struct report *r, FILE *to, bool colour)
{
	const struct core *c = r->core;
	const char *missing = json_string_value(
		json_object_get(json_object_get(r->session, "kernel_side"), "missing"));

	if (!c->lost_app && !c->lost_kernel) {
		fprintf(to, "nothing lost: %s application and %s kernel events",
			text_count(c->app_events), text_count(c->kernel_events));
	} else {
		fprintf(to, "%sLOST: %s application and %s kernel events%s, of %s and %s",
			colour ? "\033[31m" : "", text_count(c->lost_app),
			text_count(c->lost_kernel), colour ? "\033[0m" : "",
			text_count(c->app_events + c->lost_app),
			text_count(c->kernel_events + c->lost_kernel));
	}
	if (c->kernel_events && c->clock_source == CLOCK_SYNC && c->clock.n >= 2)
		fprintf(to, "; clocks joined within %s",
			text_ns(report_ns(r, clockmap_error(&c->clock))));
	fprintf(to, "\n");
	missed(r, to);
	for (uint32_t i = 0; i < c->gap_count && i < GAPS_SHOWN; i++) {
		const struct gap *g = &c->gaps[i];

		fprintf(to, "  %s lost by %s", text_count(g->count), g->producer);
		if (g->cpu >= 0)
			fprintf(to, " on CPU %d", g->cpu);
		fprintf(to, " between %.6f s and %.6f s\n",
			(double)(g->from_ns - c->first_ns) / 1e9,
			(double)(g->to_ns - c->first_ns) / 1e9);
	}
	if (c->gap_count > GAPS_SHOWN)
		fprintf(to, "  and %u more gap%s (--json has them all)\n",
			c->gap_count - GAPS_SHOWN, plural(c->gap_count - GAPS_SHOWN));
	if (missing)
		fprintf(to, "application side only: %s\n", text_plain(missing, COMMENT_MAX));
	else if (!c->kernel_events)
		fprintf(to, "application side only: no kernel events in this trace\n");
	else if (!c->has_end)
		fprintf(to,
			"the recording did not end in order: what follows is until it broke off\n");
	for (uint32_t i = 0; i < c->hook_count; i++)
		if (c->hooks[i].status)
			fprintf(to, "not observed: %s %s (%s)\n", c->hooks[i].layer,
				c->hooks[i].what, strerror(-c->hooks[i].status));
}

/* ---- one sentence ---- */

/* The flow whose bytes waited longest, all together: there is the answer to where they wait. */
static const struct flow *main_flow(const struct report *r)
{
	const struct flow *most = NULL;

	for (size_t i = 0; i < r->flow_count; i++) {
		const struct flow *f = r->flows[i];

		if (f->residence.n && flow_coverage(f) >= 0.90 &&
			(!most || f->residence.sum > most->residence.sum))
			most = f;
	}
	return most;
}

static int longest_stage(const struct flow *f)
{
	int longest = 0;

	for (int i = 1; i < stage_count(f); i++)
		if (f->stage[i].sum > f->stage[longest].sum)
			longest = i;
	return longest;
}

/* Where sent bytes were last seen. */
static const char *passed(const struct flow *f)
{
	return f->stage[TX_STAGE_DRIVER].n  ? "reached the driver"
	       : f->stage[TX_STAGE_QDISC].n ? "left the queue"
	       : f->stage[TX_STAGE_IP].n    ? "left IP"
					    : "left the socket";
}

static void sentence(const struct report *r, FILE *to)
{
	const struct flow *f = main_flow(r);
	struct modulation m;
	char local[64], remote[64];
	double mean;
	int longest;

	if (!f)
		return;
	flow_ends(f, local, remote);
	longest = longest_stage(f);
	mean = dist_mean(&f->residence);
	fprintf(to, "\nIn one sentence: ");
	if (f->rx)
		fprintf(to,
			"the average byte from %s reached %s %s after the\nfirst layer here saw "
			"it; ",
			remote, comm_or(r, f, "the program"), text_ns(report_ns(r, mean)));
	else
		fprintf(to, "the average byte to %s had %s %s after\n%s sent it; ", remote,
			passed(f), text_ns(report_ns(r, mean)), comm_or(r, f, "the program"));
	fprintf(to, "%s of that it spent in: %s.",
		text_percent(mean > 0 ? dist_mean(&f->stage[longest]) / mean : NAN),
		stage_label(f, longest));
	m = flow_modulation(r, f);
	if (!isnan(m.m))
		fprintf(to, "\nThe stack moved it by M = %s of the sender's own gap%s.",
			text_percent(m.m),
			m.blocked_share > 0.05 ? ", itself shaped by waiting for the stack" : "");
	fprintf(to, "\n");
}

/* ---- system calls ---- */

struct part {
	const char *name;
	double cycles;
};

static int larger_part(const void *a, const void *b)
{
	double x = ((const struct part *)a)->cycles, y = ((const struct part *)b)->cycles;

	return (x < y) - (x > y);
}

/* Where the overhead of a call is: its largest shares, the largest first. */
static void shares(const struct call_stats *s, char out[CELL_SIZE])
{
	struct part parts[] = {
		{"entry", (double)s->state[STATE_ENTRY]},
		{"socket", (double)s->state[STATE_SOCKET]},
		{"tcp", (double)s->state[STATE_TCP]},
		{"ip", (double)s->state[STATE_IP]},
		{"device", (double)s->state[STATE_DEVICE]},
		{"return", (double)s->state[STATE_RETURN]},
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

/* The kind of socket in few columns; a star if the call passed the library by. */
static const char *short_kind(const struct call_stats *s, char out[16])
{
	const char *name = mg_kind_name(s->key.kind);
	bool is_unix = strncmp(name, "unix_", 5) == 0;

	snprintf(out, 16, "%s%.*s%s", is_unix ? "unix " : "", is_unix ? 3 : 9,
		is_unix ? name + 5 : name, call_is_kernel_only(s) ? " *" : "");
	return out;
}

static const char *or_na(bool known, const char *text)
{
	return known ? text : "n/a";
}

static void calls(const struct report *r, FILE *to, bool colour)
{
	struct table t;

	if (!r->call_count)
		return;
	table_begin(&t, "llrrrrrrrl");
	table_row(&t, "System calls\t\tcalls\tbytes\tblocked\ttotal p50\toverhead\t(+-)\tp99\t%% "
		      "of it in");
	for (size_t i = 0; i < r->call_count && i < CALLS_SHOWN; i++) {
		const struct call_stats *s = r->calls[i];
		/* of the kind of call there is more of: those that blocked, or the others */
		const struct dist *o = s->overhead.n >= s->overhead_blocked.n
					       ? &s->overhead
					       : &s->overhead_blocked;
		char where[CELL_SIZE], kind[16];
		double p50 = dist_quantile(o, 0.5), bound = call_uncertainty(r, s);

		shares(s, where);
		table_row(&t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s%s\t%s\t%s\t%s", call_name(s),
			short_kind(s, kind), text_count(s->n),
			s->bytes ? text_bytes((double)s->bytes) : "-",
			or_na(call_blocking_known(r, s), text_percent(call_blocked_share(s))),
			text_ns(report_ns(r, dist_quantile(&s->total, 0.5))),
			o->n && p50 < bound ? "<" : "",
			or_na(o->n, text_ns(report_ns(r, p50 < bound ? bound : p50))),
			or_na(o->n, text_ns(report_ns(r, bound))),
			or_na(o->n && dist_quantile_supported(o, 0.99),
				text_ns(report_ns(r, dist_quantile(o, 0.99)))),
			where);
	}
	fprintf(to, "\n");
	table_fit(&t, REPORT_WIDTH);
	table_print(&t, to, 0, colour);
	if (r->call_count > CALLS_SHOWN)
		fprintf(to, "  and %zu more kind%s of call\n", r->call_count - CALLS_SHOWN,
			plural(r->call_count - CALLS_SHOWN));
	for (size_t i = 0; i < r->call_count; i++)
		if (call_is_kernel_only(r->calls[i])) {
			fprintf(to, "  * kernel-only: made without passing libmagnet.so\n");
			break;
		}
}

/* What magnet cannot see is named. */
static void unseen(const struct report *r, FILE *to)
{
	const struct unseen *u, *tmp;

	if (!report_has_app(r))
		return;
	HASH_ITER (hh, r->core->unseen, u, tmp) {
		if (u->calls)
			fprintf(to,
				"  not seen by libmagnet.so: %s calls of %s (statically linked, "
				"privileged, or started without it)\n",
				text_count(u->calls), text_plain(u->comm, 15));
		if (u->io_uring)
			fprintf(to,
				"  not followed: what %s submitted by %s calls of io_uring_enter\n",
				text_plain(u->comm, 15), text_count(u->io_uring));
	}
}

/* How many of each kind, in the order they first came. */
static void marks(const struct report *r, FILE *to)
{
	struct {
		const char *name;
		uint64_t n, sent;
	} kind[MARKS_SHOWN];
	size_t kinds = 0;

	for (uint32_t i = 0; i < r->core->marks_n; i++) {
		const struct mark *m = &r->core->marks[i];
		size_t k = 0;

		while (k < kinds && strcmp(kind[k].name, m->name) != 0)
			k++;
		if (k == MARKS_SHOWN)
			continue;
		if (k == kinds) {
			kind[kinds].name = m->name;
			kind[kinds].n = kind[kinds].sent = 0;
			kinds++;
		}
		kind[k].n++;
		kind[k].sent += m->sent.flow != NULL;
	}
	for (size_t k = 0; k < kinds; k++)
		fprintf(to, "%s%s %s (%s with bytes sent next)", k ? ", " : "\nMarks       ",
			text_count(kind[k].n), text_plain(kind[k].name, 24),
			text_count(kind[k].sent));
	if (kinds)
		fprintf(to, "\n");
}

/* ---- where bytes wait ---- */

static void waterfall(const struct report *r, const struct flow *f, FILE *to, bool colour)
{
	double mean = dist_mean(&f->residence), coverage = flow_coverage(f);
	char local[64], remote[64];
	struct table t;
	bool star = coverage < 0.99;

	flow_ends(f, local, remote);
	fprintf(to, "\n%sWhere a byte waits, %s %s%s%s   %s, %s %s, flow %s\n",
		colour ? "\033[1m" : "", f->rx ? "received from" : "sent to", remote,
		star ? " *" : "", colour ? "\033[0m" : "", comm_or(r, f, flow_proto(f)),
		text_bytes((double)flow_bytes(f)), f->rx ? "in" : "out", flow_id(f));
	if (!core_observes(r->core, MG_EVENT_sys_enter)) {
		fprintf(to, "  not available: system calls were not recorded (--layers)\n");
		return;
	}
	if (!f->residence.n || coverage < 0.90) {
		fprintf(to, "  not available: %s of the bytes have every boundary\n",
			text_coverage(coverage));
		return;
	}
	table_begin(&t, "lrrrrl");
	table_row(&t, "\tmean\tp50\tp99\tshare\t");
	for (int i = 0; i < stage_count(f); i++) {
		const struct dist *d = &f->stage[i];
		double share = mean > 0 ? dist_mean(d) / mean : 0;

		if (!d->n || d->max == 0)
			continue;
		table_row(&t, "%s\t%s\t%s\t%s\t%s\t%s", stage_label(f, i),
			text_ns(report_ns(r, dist_mean(d))),
			text_ns(report_ns(r, dist_quantile(d, 0.5))),
			or_na(dist_quantile_supported(d, 0.99),
				text_ns(report_ns(r, dist_quantile(d, 0.99)))),
			text_percent(share), text_bar(share, BAR_WIDTH));
	}
	table_row(&t, "total\t%s\t%s\t%s", text_ns(report_ns(r, mean)),
		text_ns(report_ns(r, dist_quantile(&f->residence, 0.5))),
		or_na(dist_quantile_supported(&f->residence, 0.99),
			text_ns(report_ns(r, dist_quantile(&f->residence, 0.99)))));
	table_print(&t, to, 2, false);
	fprintf(to, "  (closes to %llu cycles; %s of bytes)\n", (unsigned long long)f->closure,
		text_coverage(coverage));
	if (f->transit.n)
		fprintf(to,
			"  before that, from the sender's driver to the first layer here: mean "
			"%s\n",
			text_ns(report_ns(r, dist_mean(&f->transit))));
	if (!f->rx && f->retransmits)
		fprintf(to, "  segments sent again: %s\n", text_count(f->retransmits));
	if (star)
		fprintf(to, "  * bytes with a boundary missing are left out: %s\n",
			f->gaps ? "events were lost" : "not every layer saw them");
}

/* ---- what the stack made of the traffic ---- */

static void layer_row(
	const struct report *r, struct table *t, const char *label, const struct unit_stats *u)
{
	bool many = u->n > 1;

	if (!u->n)
		return;
	table_row(t, "  %s\t%s\t%s\t%.2f\t%s\t%s\t%s", label, text_count(u->n),
		text_bytes(unit_mean_size(u)), unit_cov_size(u),
		or_na(many, text_ns(report_ns(r, many ? unit_mean_gap(u) : NAN))),
		or_na(many, text_ns(report_ns(r, many ? dist_quantile(&u->gaps, 0.5) : NAN))), "");
	if (many) {
		char(*row)[CELL_SIZE] = t->cell[t->rows - 1];

		snprintf(row[6], CELL_SIZE, "%.2f", unit_cov_gap(u));
	}
}

static void traffic(const struct report *r, const struct flow *f, FILE *to, bool colour)
{
	const struct flow *peer = f->rx && f->sock->peer ? &f->sock->peer->tx : NULL;
	struct modulation m = flow_modulation(r, f);
	struct table t;

	table_begin(&t, "lrrrrrr");
	table_row(&t, "What the stack made of %s\tunits\tmean size\tcov\tmean spacing\tp50\tcov",
		flow_id(f));
	if (f->rx) {
		if (peer)
			layer_row(r, &t, "peer's call", &peer->units[TX_CALL]);
		layer_row(r, &t, "device", &f->units[RX_DEV]);
		layer_row(r, &t, "TCP", &f->units[RX_TCP]);
		layer_row(r, &t, "call", &f->units[RX_CALL]);
	} else {
		layer_row(r, &t, "call", &f->units[TX_CALL]);
		layer_row(r, &t, "TCP to IP", &f->units[TX_IP_OUT]);
		layer_row(r, &t, "device", &f->units[TX_XMIT]);
	}
	fprintf(to, "\n");
	table_print(&t, to, 0, colour);
	if (flow_coverage(f) < 0.90) {
		fprintf(to, "  M not available: too few bytes have every boundary\n");
		return;
	}
	if (!m.known) {
		fprintf(to, "  M n/a: %s\n",
			f->rx && !peer ? "the sender is not in this trace"
				       : "no byte has both boundaries");
		return;
	}
	fprintf(to, "  %s %s %s: J %s", f->rx ? "peer's call" : "call", text_arrow(),
		f->rx ? "call" : "device", text_ns(m.j_ns));
	if (isnan(m.m))
		fprintf(to, "  M n/a (one call has no gap)");
	else
		fprintf(to, "  tau %s  M %s", text_ns(m.tau_ns), text_percent(m.m));
	fprintf(to, "  S %.2f  sender blocked %s of the time\n", m.s,
		text_percent(m.blocked_share));
}

/* ---- scheduler and cost ---- */

static void scheduler(const struct report *r, FILE *to)
{
	const struct sched_stats *s = &r->core->sched;
	uint64_t switches = 0;

	for (int cpu = 0; cpu < s->cpus; cpu++)
		for (int k = 0; k < SWITCH_KINDS; k++)
			switches += s->switches[cpu][k];
	if (!switches)
		return;
	fprintf(to,
		"\nScheduler   wakeup p50 %s p99 %s max %s (%s)   switches %s   migrations %s\n",
		or_na(s->wakeup.n, text_ns(report_ns(r, dist_quantile(&s->wakeup, 0.5)))),
		or_na(dist_quantile_supported(&s->wakeup, 0.99),
			text_ns(report_ns(r, dist_quantile(&s->wakeup, 0.99)))),
		or_na(s->wakeup.n, text_ns(report_ns(r, (double)s->wakeup.max))),
		text_count(s->wakeup.n), text_count(switches), text_count(s->migrations));
}

static void own_cost(const struct report *r, FILE *to)
{
	struct own_cost c = report_own_cost(r);

	fprintf(to, "magnet's own cost: %s a call, %s a kernel event, %s of one CPU\n",
		text_ns(c.app_ns_per_call), text_ns(c.kernel_ns_per_event),
		text_percent(c.cpu_share));
}

static void one_flow(const struct report *r, const struct flow *f, FILE *to, bool colour)
{
	waterfall(r, f, to, colour);
	traffic(r, f, to, colour);
}

void report_text(const struct report *r, FILE *to, const char *id, bool colour)
{
	size_t shown = 0;

	heading(r, to, colour);
	losses(r, to, colour);
	if (id) {
		for (size_t i = 0; i < r->flow_count; i++)
			if (strcmp(flow_id(r->flows[i]), id) == 0)
				one_flow(r, r->flows[i], to, colour);
		return;
	}
	sentence(r, to);
	calls(r, to, colour);
	unseen(r, to);
	marks(r, to);
	for (; shown < r->flow_count && shown < FLOWS_SHOWN; shown++) {
		if (flow_bytes(r->flows[shown]) < flow_bytes(r->flows[0]) / 100)
			break;
		one_flow(r, r->flows[shown], to, colour);
	}
	if (shown < r->flow_count) {
		uint64_t rest = 0;

		for (size_t i = shown; i < r->flow_count; i++)
			rest += flow_bytes(r->flows[i]);
		fprintf(to, "\nand %zu more flow%s with %s (--flow ID shows one, --json has all)\n",
			r->flow_count - shown, plural(r->flow_count - shown),
			text_bytes((double)rest));
	}
	scheduler(r, to);
	own_cost(r, to);
}
