/* SPDX-License-Identifier: MIT */
/* Prints requests and replies: how long the program took, and the slowest of them. */
#include "text_exchanges.h"

#include <inttypes.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"
#include "text_causes.h"
#include "text_in_program.h"

#define GROUPS_SHOWN 6
#define NAME_WIDTH   14
#define BAR          20

static void cell(FILE *to, const char *text, int width)
{
	int pad = width - text_width(text);

	fprintf(to, "%*s%s", pad > 0 ? pad : 0, "", text);
}

/* Prints median, 99th percentile or what stands for it, and maximum. */
static void spread(const struct spread_figures *f, FILE *to)
{
	double highest = dist_highest(f->d);
	bool known = f->d->n, stands = highest < 1 && highest > 0.5; /* that one is there */

	cell(to, text_value(get_spread_p50(f), IN_NS), 8);
	cell(to, !known ? "n/a" : stands ? text_spread_high(f) : "-", 12);
	cell(to, text_value(get_longest_max(f), IN_NS), 8);
}

/* Names the protocol of datagrams: a server of TCP may have the same port. */
static void name_of(const struct exchange_group_figures *f, char out[100])
{
	const struct exchange_key *k = &f->g->key;
	const char *kind = mg_kind_name(k->kind);
	const char *program = k->program[0] ? text_plain(k->program, 15) : kind;
	bool told = !k->program[0] || k->kind != MG_KIND_udp;

	if (k->role == ROLE_CLIENT && f->address[0])
		snprintf(out, 100, "%s to %s%s%s", program, f->address, told ? "" : " ",
			told ? "" : kind);
	else if (k->role == ROLE_CLIENT)
		snprintf(out, 100, "%s, asking", program);
	else if (k->port)
		snprintf(out, 100, "%s :%u%s%s", program, k->port, told ? "" : " ",
			told ? "" : kind);
	else
		snprintf(out, 100, "%s, asked", program);
}

static void row(const struct exchange_group_figures *f, FILE *to)
{
	struct exchange_time_figures program, reply;
	const char *answered = text_count(f->g->counts.answered);
	char name[100];

	into_exchange_group_in_program_ns(f, &program);
	into_exchange_group_to_reply_ns(f, &reply);
	name_of(f, name);
	if (text_width(name) + text_width(answered) > NAME_WIDTH + 5)
		fprintf(to, "  %s\n  %*s", name, NAME_WIDTH, "");
	else
		fprintf(to, "  %-*s", NAME_WIDTH, name);
	cell(to, answered, 6);
	spread(&program.spread, to);
	spread(&reply.spread, to);
	fputc('\n', to);
	if (program.spread.d->n && program.spread.d->n < reply.spread.d->n)
		fprintf(to, "    (the time in the program is known of %s of them)\n",
			text_count(program.spread.d->n));
}

static uint64_t beyond(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Returns what a group left out and no other one tells: of a server, what is not left out at its
 * clients in this recording, too.
 */
static struct exchange_counts own_counts(
	const struct exchange_table *t, const struct exchange_group *of)
{
	struct exchange_counts own = of->counts;

	for (const struct exchange_group *g = t->groups; g; g = g->hh.next) {
		if (of->key.role != ROLE_SERVER || g->key.role != ROLE_CLIENT ||
			g->key.kind != of->key.kind || g->key.port != of->key.port)
			continue;
		own.unanswered = beyond(own.unanswered, g->counts.unanswered);
		own.unasked = beyond(own.unasked, g->counts.unasked);
		own.unsure = beyond(own.unsure, g->counts.unsure);
	}
	return own;
}

/* Prints what the times leave out, by kind of socket; what both ends recorded counts once. */
static void left_out(const struct exchange_table *t, FILE *to)
{
	uint64_t unsure = 0, unanswered[MG_KIND_END] = {0}, unasked[MG_KIND_END] = {0};

	for (const struct exchange_group *g = t->groups; g; g = g->hh.next) {
		struct exchange_counts own = own_counts(t, g);

		unanswered[g->key.kind] += own.unanswered;
		unasked[g->key.kind] += own.unasked;
		unsure += own.unsure;
	}
	if (unsure)
		fprintf(to,
			"  no times for %s: they overlap, or some of their calls may be missing\n",
			text_count(unsure));
	for (int kind = 0; kind < MG_KIND_END; kind++)
		if (unanswered[kind] || unasked[kind])
			fprintf(to,
				"  one way only, %s: %s without a reply, %s without a request\n",
				mg_kind_name((uint8_t)kind), text_count(unanswered[kind]),
				text_count(unasked[kind]));
	if (t->left_out)
		fprintf(to, "  and %s of more ports or peers (--facts exchange has them)\n",
			text_count(t->left_out));
}

void text_exchanges(const struct report *r, FILE *to, bool colour)
{
	const struct exchange_table *t = &figures_of(r->core)->exchanges;
	struct report_figures all = {.r = r};
	struct exchange_group_figures f;
	uint32_t shown = 0, more = 0;

	for (uintptr_t at = 0; next_whole_exchanges(&all, &at, &f);) {
		if (!f.g->counts.answered)
			continue;
		if (shown == GROUPS_SHOWN) {
			more++;
			continue;
		}
		if (!shown++)
			fprintf(to,
				"\n%sExchanges%s           %28s%28s\n"
				"  %*s     n     p50         p99     max     p50         p99     "
				"max\n",
				colour ? "\033[1m" : "", colour ? "\033[0m" : "", "in the program",
				"request to reply", NAME_WIDTH, "");
		row(&f, to);
	}
	if (!shown)
		return;
	if (more)
		fprintf(to, "  and %u more port%s or peer%s (--json has them)\n", more,
			plural(more), plural(more));
	left_out(t, to);
	text_in_program(r, to, colour);
}

/* ---- histograms ---- */

static void histogram(const struct report *r, const struct dist *d, const char *name,
	const char *what, FILE *to, bool colour)
{
	struct time_bin_figures bin;
	struct table t;
	uintptr_t at = 0;
	uint64_t most = 0;

	while (time_bin_next(r, d, &at, &bin))
		most = bin.n > most ? bin.n : most;
	if (!most)
		return;
	fprintf(to, "\n%s%s, %s%s\n", colour ? "\033[1m" : "", name, what, colour ? "\033[0m" : "");
	table_begin(&t, "rrrl");
	table_row(&t, "%s\t%s\t%s\t", LABEL(time_bin, to_ns), LABEL(time_bin, n),
		LABEL(time_bin, below));
	for (at = 0; time_bin_next(r, d, &at, &bin);)
		table_row(&t, "%s\t%s\t%s\t%s", text_value(get_time_bin_to_ns(&bin), IN_NS),
			text_count(bin.n), text_percent(bin.below),
			text_bar((double)bin.n / (double)most, BAR));
	table_print(&t, to, 2, false);
}

/* Calls of a kind of which there are fewer have no histogram in the text. */
#define CALLS_LEAST 10

/* Prints those of each kind of call, the most frequent first. */
static void call_histograms(const struct report *r, FILE *to, bool colour)
{
	char name[100];

	for (size_t i = 0; i < r->call_count; i++) {
		struct call_figures f = call_figures_of(r, r->calls[i]);
		struct spread_figures total;

		into_call_total_ns(&f, &total);
		if (total.d->n < CALLS_LEAST)
			continue;
		snprintf(name, sizeof(name), "%s %s%s", get_call_name(&f).text,
			get_call_flow_kind(&f).text,
			get_call_kernel_only(&f).flag ? " (kernel-only)" : "");
		histogram(r, total.d, name, "time of a call", to, colour);
	}
}

void text_histograms(const struct report *r, FILE *to, bool colour)
{
	struct report_figures all = {.r = r};
	struct exchange_group_figures f;
	uint32_t shown = 0;
	char name[100];

	for (uintptr_t at = 0; shown < GROUPS_SHOWN && next_whole_exchanges(&all, &at, &f);) {
		if (!f.g->counts.answered)
			continue;
		shown++;
		name_of(&f, name);
		histogram(r, &f.g->time[TIME_PROGRAM], name, "in the program", to, colour);
		histogram(r, &f.g->time[TIME_TO_REPLY], name, "request to reply", to, colour);
	}
	call_histograms(r, to, colour);
	if (!shown && !r->call_count)
		fprintf(to,
			"\nno histogram: neither a request with a reply nor a call was recorded\n");
}

/* ---- the slowest ---- */

static void part(const char *name, struct value v, bool *first, FILE *to)
{
	if (v.kind == VALUE_UNKNOWN)
		return;
	fprintf(to, "%s%s %s", *first ? "" : ", ", name, text_value(v, IN_NS));
	*first = false;
}

static void slow(const struct slow_exchange_figures *f, FILE *to)
{
	const struct fact_exchange *e = &f->s->fact;
	bool server = e->role == ROLE_SERVER, first = true;
	struct cause_figures cause;
	uintptr_t causes = 0;
	int64_t at = (int64_t)(core_ns(f->r->core, e->request_last) - f->r->recording.first);

	fprintf(to, "  %s at %.6f s, %s %s %s %s\n",
		text_value(get_slow_exchange_whole_ns(f), IN_NS), (double)at / 1e9,
		mg_kind_name(e->kind), f->local[0] ? f->local : f->request, server ? "from" : "to",
		f->remote[0] ? f->remote : "its peer");
	fprintf(to, "    ");
	part("request's way", get_slow_exchange_request_way_ns(f), &first, to);
	part("in the program", get_slow_exchange_in_program_ns(f), &first, to);
	part("reply's way", get_slow_exchange_reply_way_ns(f), &first, to);
	if (first)
		fprintf(to, "%s: no parts",
			answer_has_server(&f->one)
				? "the server's exchanges could not be matched with it"
				: "the server is not recorded");
	if (next_slow_exchange_causes(f, &causes, &cause)) {
		fprintf(to, "\n    ");
		text_cause(&cause, to);
	}
	text_program_times(f, to);
	fprintf(to, "\n    %s thread %" PRIu64,
		f->s->program[0] ? text_plain(f->s->program, 15) : "?", e->request_tid);
	if (e->reply_tid != e->request_tid)
		fprintf(to, ", then %" PRIu64, e->reply_tid);
	fprintf(to, "; request %s %" PRIu64 "+%" PRIu64 ", reply %s %" PRIu64 "+%" PRIu64 "\n",
		f->request, e->request_offset, e->request_bytes, f->reply, e->reply_offset,
		e->reply_bytes);
}

void text_slowest(const struct report *r, FILE *to, bool colour)
{
	struct report_figures all = {.r = r};
	struct slow_exchange_figures f;

	if (r->slow_range_count && !figures_of(r->core)->exchanges.slow_n) {
		text_slow_ranges(r, to, colour);
		return;
	}
	fprintf(to, "\n%sSlowest exchanges%s\n", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	if (!figures_of(r->core)->exchanges.slow_n)
		fprintf(to, "  none: no request with a reply was recorded\n");
	for (uintptr_t at = 0; next_whole_slowest(&all, &at, &f);)
		slow(&f, to);
	text_slow_ranges(r, to, colour);
}

static const char *why_without_times(const struct fact_exchange *f)
{
	if (f->answer == UNASKED)
		return "no request: these bytes came before any";
	if (f->answer == UNANSWERED)
		return "no reply was recorded";
	return f->lost ? "without times: calls of it may be missing"
		       : "without times: it is not known which bytes answer which";
}

void text_one_exchange(const struct report *r, const struct fact_exchange *f, FILE *to, bool colour)
{
	struct report_figures all = {.r = r};
	struct slow_exchange_figures kept;
	uintptr_t at = 0;

	fprintf(to, "\n%sExchange%s\n", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	if (next_whole_slowest(&all, &at, &kept))
		slow(&kept, to);
	else
		fprintf(to, "  %s %s\n", mg_kind_name(f->kind), why_without_times(f));
}
