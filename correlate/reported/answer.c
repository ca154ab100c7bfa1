/* SPDX-License-Identifier: MIT */
#include "reported/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reported/drop_words.h"
#include "reported/getters.h"

/* The middle of the distribution, for a typical exchange. */
#define TYPICAL_FROM 0.45
#define TYPICAL_TO   0.55
/* Fewer exchanges have no slow ones, but for the slowest. */
#define SLOW_MIN 20

const char *answer_end(const struct answer_column_figures *c, enum cause_end end)
{
	return (c->role == ROLE_SERVER) == (end == END_OWN) ? "server" : "client";
}

bool cause_is_between(enum cause c)
{
	return c == CAUSE_AWAY || c == CAUSE_NETWORK || c == CAUSE_LOST || c == CAUSE_ARRIVING;
}

double cause_share(const struct cause_figures *c)
{
	const struct cause_sums *sum = &c->column->sum;

	return sum->time ? (double)sum->cause[c->end][c->cause] / (double)sum->time : 0;
}

/* A thread that was woken waits so long for an idle CPU, too. */
#define WAKEUP_NS 100000

static const char *run_queue_remedy(double mean_ns)
{
	return mean_ns < WAKEUP_NS ? "A thread was woken: that takes some time on an idle CPU, too."
				   : cause_remedy(CAUSE_RUN_QUEUE);
}

/* Returns how long a cause held an exchange, on average. */
static double cause_mean(const struct cause_figures *c)
{
	const struct cause_sums *sum = &c->column->sum;

	return report_ns(c->column->r, (double)sum->cause[c->end][c->cause] / (double)sum->n);
}

/* Returns the server of a port in this recording; NULL if there is none. */
static const struct exchange_group *server_at(const struct report *r, uint8_t kind, uint16_t port)
{
	for (const struct exchange_group *g = figures_of(r->core)->exchanges.groups; g;
		g = g->hh.next)
		if (g->key.role == ROLE_SERVER && g->key.port == port &&
			(kind == MG_KIND_END || g->key.kind == kind))
			return g;
	return NULL;
}

/* Returns the server's end of a group; NULL if it is not in the recording. */
static const struct exchange_group *server_of(const struct answer_column_figures *c)
{
	if (c->server || !c->g || c->role == ROLE_SERVER)
		return c->server ? c->server : c->g;
	return server_at(c->r, c->g->key.kind, c->g->key.port);
}

bool answer_has_server(const struct answer_column_figures *c)
{
	return c->role == ROLE_CLIENT && c->port && server_at(c->r, c->kind, c->port);
}

/* Remedies by the system call in which a program is blocked. */
static const struct {
	const char *call, *remedy;
} remedies[] = {
	{"futex", "Another thread holds what this one needs: a lock, or a result."},
	{"fsync", "Storage is slow to sync: sync less often, or in another thread."},
	{"fdatasync", "Storage is slow to sync: sync less often, or in another thread."},
	{"nanosleep", "The program asked to sleep."},
	{"clock_nanosleep", "The program asked to sleep."},
};

static bool is_stopped(const struct program_key *k)
{
	return k->part == PROGRAM_BLOCKED && k->in == BLOCKED_STOPPED;
}

static const char *remedy_of(const struct program_key *k)
{
	if (k->part == PROGRAM_ON_CPU)
		return "It computes: a profiler (perf record) tells in which function.";
	if (k->part == PROGRAM_RUN_QUEUE)
		return cause_remedy(CAUSE_RUN_QUEUE);
	if (k->part == PROGRAM_THROTTLED)
		return "Its cgroup had used up its CPU quota (cpu.max): raise that, or use less "
		       "CPU time.";
	if (is_stopped(k))
		return "Something stopped the process: SIGSTOP, or a debugger.";
	if (k->part == PROGRAM_HANDED_OVER)
		return "The thread that answers was busy: use more threads, or do less in it.";
	if (k->port)
		return "It waits for another service: look there.";
	for (size_t i = 0; k->call && i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (strcmp(k->call, remedies[i].call) == 0)
			return remedies[i].remedy;
	if (k->io == 1)
		return "Storage is slow: use a faster disk, read less, or add memory.";
	return "";
}

/* Returns what a server's program did longest in exchanges as long as those of the column. */
static const struct program_row *longest(const struct exchange_group *g,
	const struct program_table *t, const struct answer_column_figures *c, double *share)
{
	uint32_t first, last;

	return causes_bins_at(g->causes, c->from, c->to, &first, &last)
		       ? program_table_longest(t, first, last, share)
		       : NULL;
}

/* Times of one cause that differ by more are not those of the same exchanges. */
#define SAME_TIME 1.5

/*
 * Returns whether the server's exchanges are those of the column, which may be its client's: then
 * both have about as much of the cause.
 */
static bool has_same_exchanges(const struct exchange_group *server, const struct cause_figures *c)
{
	const struct answer_column_figures *column = c->column;
	struct cause_sums own;
	double a, b;

	if (server == column->g)
		return true;
	causes_between(server->causes, column->from, column->to, &own);
	if (!own.n || !column->sum.n)
		return false;
	a = report_ns(column->server ? column->server_report : column->r,
		(double)own.cause[END_OWN][c->cause] / (double)own.n);
	b = cause_mean(c);
	return a <= SAME_TIME * b && b <= SAME_TIME * a;
}

/*
 * Returns whether what threads did by this table takes about as long as the cause. Before a
 * client's first call that read the reply other calls have no part; a server's time before its call
 * and in it are two causes; between the calls of a reply, bytes may have been held by another
 * cause, or none may have been there.
 */
static bool is_about(const struct exchange_group *g, const struct program_table *t,
	const struct cause_figures *c)
{
	uint32_t first, last;
	double a, b = 0;

	if (!causes_bins_at(g->causes, c->column->from, c->column->to, &first, &last))
		return false;
	a = (double)program_table_time(t, first, last);
	for (uint32_t i = first; i <= last; i++)
		if (g->causes->bin[i])
			b += (double)g->causes->bin[i]->cause[END_OWN][c->cause];
	return a <= SAME_TIME * b && b <= SAME_TIME * a;
}

static bool is_at_client(const struct cause_figures *c)
{
	return strcmp(answer_end(c->column, c->end), "client") == 0;
}

/* Returns whether it keeps a thread from ending the call in which it receives. */
static bool holds_receipt(const struct program_key *k)
{
	return k->part == PROGRAM_THROTTLED || k->part == PROGRAM_RUN_QUEUE ||
	       (k->part == PROGRAM_BLOCKED && k->in != BLOCKED_IN_CALL);
}

/* Returns the table of what threads did while the cause held; NULL if there is none. */
static const struct program_table *doing_table(
	const struct exchange_group *g, const struct cause_figures *c, bool reads)
{
	if (!g)
		return NULL;
	/* without ports it is not known which waits are for the other end */
	if (c->cause == CAUSE_WRITING)
		return is_at_client(c) || !g->key.port ? NULL : &g->replies;
	if (reads && is_at_client(c)) /* before the first call, or between that and the last */
		return is_about(g, &g->reader, c) || !g->key.port ? &g->reader : &g->replies;
	return reads ? &g->reader : c->cause == CAUSE_PROGRAM ? &g->program : NULL;
}

/* A cause with this share of a time takes most of each part of it. */
#define NEARLY_ALL 0.9

/* Fills in what was done, and what to do about it, but for what another service did. */
static void own_doing(const struct cause_figures *c, struct answer_doing *to)
{
	const struct answer_column_figures *column = c->column;
	bool receives = c->cause == CAUSE_RECEIVE && !is_at_client(c);
	bool before = c->cause == CAUSE_READER || receives;
	bool client = before && is_at_client(c);
	const struct exchange_group *g = client ? column->g : server_of(column);
	const struct program_table *t = doing_table(g, c, before);
	const struct program_row *row = NULL;
	double share;

	*to = (struct answer_doing){0};
	if (t && (client ? is_about(g, t, c) : has_same_exchanges(g, c)))
		row = longest(g, t, column, &share);
	if (!row || (receives && !(holds_receipt(&row->key) && is_about(g, t, c))))
		return;
	if (c->cause == CAUSE_WRITING && share < NEARLY_ALL && !is_about(g, t, c))
		return;
	to->row = row;
	to->share = share;
	program_words(&row->key, to->words);
	if (row->key.part == PROGRAM_RUN_QUEUE)
		snprintf(to->remedy, REMEDY_MAX, "%s", run_queue_remedy(share * cause_mean(c)));
	else if (!before || row->key.part == PROGRAM_THROTTLED || is_stopped(&row->key))
		snprintf(to->remedy, REMEDY_MAX, "%s", remedy_of(&row->key));
	else if (row->key.part == PROGRAM_ON_CPU)
		snprintf(to->remedy, REMEDY_MAX, "%s",
			client ? "The reader was busy: read before that work, or in another thread."
			       : "The reader was busy: use more workers, or do less in the thread "
				 "that reads.");
	else if (row->key.part == PROGRAM_BLOCKED && remedy_of(&row->key)[0])
		snprintf(to->remedy, REMEDY_MAX, "%s %s", remedy_of(&row->key),
			client ? "Read before that, or in another thread."
			       : "Use more workers, or keep that out of the thread that reads.");
}

/* A cause that takes so much takes most of the time. */
#define MOST 0.5

/*
 * Says what held the exchanges of the other service, if it is in the recording: its queue is a
 * reason as its program is. Returns whether it is.
 */
static bool service_words(const struct answer_column_figures *c, bool client,
	const struct program_key *waits, char remedy[REMEDY_MAX])
{
	const struct report *there = c->server && !client ? c->server_report : c->r;
	const struct exchange_group *g = server_at(there, MG_KIND_END, waits->port);
	struct answer_column_figures column = {
		.r = there, .g = g, .role = ROLE_SERVER, .from = c->from, .to = c->to};
	struct cause_figures most = {.column = &column};
	struct answer_doing did;
	const char *name;
	char part[32];
	double share;
	size_t n;

	if (!g || g == server_of(c) || !g->causes)
		return false;
	column.kind = g->key.kind;
	column.port = g->key.port;
	causes_between(g->causes, c->from, c->to, &column.sum);
	if (!column.sum.n)
		return false;
	most.cause = causes_largest(&column.sum, &most.end);
	own_doing(&most, &did);
	share = cause_share(&most);
	if (did.row && did.row->key.part != PROGRAM_UNKNOWN && most.cause != CAUSE_READER &&
		most.cause != CAUSE_RECEIVE)
		share *= did.share;
	if (did.row && did.row->key.part == PROGRAM_UNKNOWN)
		return false;
	snprintf(part, sizeof(part), share >= MOST ? "most" : "%.0f %%", 100 * share);
	name = g->key.program[0] ? g->key.program : "a program";
	if (did.row && most.cause == CAUSE_READER)
		snprintf(remedy, REMEDY_MAX,
			"The service that it waits for, %.15s, did not read for %s of the time, "
			"while data were there: its reader was %s. %.150s",
			name, part, did.words, did.remedy);
	else if (did.row && most.cause != CAUSE_RECEIVE)
		snprintf(remedy, REMEDY_MAX,
			"The service that it waits for, %.15s, was %s for %s of its time. %s", name,
			did.words, part, remedy_of(&did.row->key));
	else
		snprintf(remedy, REMEDY_MAX,
			"In the service that it waits for, %.15s, this took %s of the time: %s. %s",
			name, part, cause_label(most.cause), cause_remedy(most.cause));
	n = strlen(remedy);
	if (remedy[n - 1] == ' ') /* there is nothing to be done */
		remedy[n - 1] = 0;
	return true;
}

void answer_doing(const struct cause_figures *c, struct answer_doing *to)
{
	bool reads = c->cause == CAUSE_READER || c->cause == CAUSE_RECEIVE;

	own_doing(c, to);
	if (to->row && to->row->key.port)
		service_words(c->column, reads && is_at_client(c), &to->row->key, to->remedy);
}

/* Says where packets were lost on a host, and why. */
static void here_words(const char *host, const struct drop_sum *d, char remedy[REMEDY_MAX])
{
	const char *words = drop_words(d->reason);

	snprintf(remedy, REMEDY_MAX, "Packets were lost on %.64s%s%s: %s%s%s%s%s%s.", host,
		d->layer ? " at " : "", d->layer ? d->layer : "", words, words[0] ? " (" : "",
		d->reason ? d->reason : "reason not known", d->location ? " in " : "",
		d->location ? d->location : "", words[0] ? ")" : "");
}

/*
 * Says why `resent` segments were sent again, by what a host lost. Returns whether that is known.
 */
static bool resent_words(
	const struct losses *l, uint64_t resent, const char *host, char remedy[REMEDY_MAX])
{
	const struct drop_sum *most = NULL;
	uint64_t copies = 0;

	for (size_t i = 0; i < l->drops.n; i++) {
		const struct drop_sum *d = &l->drops.v[i];

		if (drop_sum_is_copy(d))
			copies += d->n;
		else if (drop_sum_lost(d) && (!most || drop_sum_lost(d) > drop_sum_lost(most)))
			most = d;
	}
	if (l->listen_drops && l->listen_drops * 2 >= resent)
		snprintf(remedy, REMEDY_MAX,
			"The queue of a listening socket was full: accept connections sooner, or "
			"make "
			"it longer (the backlog of listen(), net.core.somaxconn).");
	else if (copies && copies * 2 >= resent && !(most && drop_sum_lost(most) >= copies))
		snprintf(remedy, REMEDY_MAX,
			"Most segments that were sent again had arrived, too: they were late, or "
			"in another "
			"order, and not lost.");
	else if (most && drop_sum_lost(most) * 2 >= resent)
		here_words(host, most, remedy);
	else
		return false;
	return true;
}

/* Says why segments were sent again, by what either of two hosts lost. */
static void resent_words_of_both(const struct answer_column_figures *c, char remedy[REMEDY_MAX])
{
	const struct report *at[] = {c->r, c->server_report};
	uint64_t resent = at[0]->losses.retransmits + at[1]->losses.retransmits;

	for (int i = 0; i < 2; i++) {
		const char *name = json_string_value(json_object_get(at[i]->session, "host"));
		char host[70];

		snprintf(host, sizeof(host), "%s%.60s", name ? "host " : "",
			name ? name : answer_end(c, i ? END_FAR : END_OWN));
		if (resent_words(&at[i]->losses, resent, host, remedy))
			return;
	}
	snprintf(remedy, REMEDY_MAX, "%s", cause_remedy(CAUSE_LOST));
}

void remedy_of_cause(
	const struct report *r, enum cause cause, double mean_ns, char remedy[REMEDY_MAX])
{
	if (cause == CAUSE_LOST &&
		resent_words(&r->losses, r->losses.retransmits, "this host", remedy))
		return;
	if (cause == CAUSE_AWAY && r->detail.beside_other_host)
		snprintf(remedy, REMEDY_MAX, "What the other host did is in its own report.");
	else
		snprintf(remedy, REMEDY_MAX, "%s",
			cause == CAUSE_RUN_QUEUE ? run_queue_remedy(mean_ns) : cause_remedy(cause));
}

void answer_remedy(const struct cause_figures *c, char remedy[REMEDY_MAX])
{
	enum cause of = c->cause;

	if (of == CAUSE_ARRIVING && !server_of(c->column)) /* what held it there is not known */
		of = CAUSE_AWAY;
	if (of == CAUSE_LOST && c->column->server)
		resent_words_of_both(c->column, remedy);
	else if (of == CAUSE_AWAY && c->column->g && c->column->g->together)
		snprintf(remedy, REMEDY_MAX, "%s",
			c->column->g->together == TOGETHER_FIRST
				? "The answer of both hosts, at the beginning, divides it."
				: "Another answer of both hosts divides it (--all prints that).");
	else if (of == CAUSE_AWAY && answer_has_server(c->column))
		snprintf(remedy, REMEDY_MAX,
			"A server at port %u is recorded: its row of the exchanges below has its "
			"part.",
			c->column->port);
	else
		remedy_of_cause(c->column->r, of, cause_mean(c), remedy);
}

/* Returns from which quantile on exchanges are slow ones: 0.99, or what ten of them lie beyond. */
static double slow_from(uint64_t n)
{
	return n >= 1000 ? 0.99 : 1 - 10 / (double)n;
}

bool next_answer_column(
	const struct cause_bins *bins, uintptr_t *at, struct answer_column_figures *to)
{
	uint64_t n = bins ? bins->n : 0;

	if (*at == 0 && n == 1) /* it is the slowest */
		*at = 2;
	if (*at == 1 && n < SLOW_MIN)
		++*at;
	if (!n || *at >= ANSWER_COLUMNS)
		return false;
	to->from = to->to = 1;
	snprintf(to->title, sizeof(to->title), "slowest");
	if (*at == 0) {
		to->from = TYPICAL_FROM;
		to->to = TYPICAL_TO;
		snprintf(to->title, sizeof(to->title), "median");
	} else if (*at == 1) {
		to->from = slow_from(n);
		snprintf(to->title, sizeof(to->title), "slowest %.0f %%", (1 - to->from) * 100);
	}
	causes_between(bins, to->from, to->to, &to->sum);
	++*at;
	return true;
}

bool next_exchange_group_answer(
	const struct exchange_group_figures *f, uintptr_t *at, struct answer_column_figures *to)
{
	*to = (struct answer_column_figures){.r = f->r,
		.g = f->g,
		.role = f->g->key.role,
		.kind = f->g->key.kind,
		.port = f->g->key.port};
	return next_answer_column(f->g->causes, at, to);
}

struct answer_column_figures answer_of_slow(const struct report *r, const struct slow_exchange *s)
{
	struct answer_column_figures f = {.r = r,
		.role = s->fact.role,
		.kind = s->fact.kind,
		.port = s->fact.role == ROLE_SERVER ? s->fact.local.port : s->fact.remote.port,
		.from = 1,
		.to = 1};

	f.sum.n = 1;
	f.sum.time = s->causes.end - s->causes.begin;
	memcpy(f.sum.cause, s->causes.cause, sizeof(f.sum.cause));
	return f;
}

/* The next largest cause follows the one before, in `at`. */
bool next_answer_column_causes(
	const struct answer_column_figures *f, uintptr_t *at, struct cause_figures *to)
{
	struct cause_sums rest = f->sum;
	struct cause_figures c = {.column = f};

	for (uintptr_t i = 0; i <= *at; i++) {
		c.cause = causes_largest(&rest, &c.end);
		if (!rest.cause[c.end][c.cause])
			return false;
		rest.cause[c.end][c.cause] = 0;
	}
	++*at;
	*to = c;
	return true;
}

bool next_slow_exchange_causes(
	const struct slow_exchange_figures *f, uintptr_t *at, struct cause_figures *to)
{
	return next_answer_column_causes(&f->one, at, to);
}

/* clang-format off */
GET(answer_column, title, value_text(f->title))
GET(answer_column, from, value_number(f->from))
GET(answer_column, to, value_number(f->to))
GET(answer_column, n, value_count(f->sum.n))
GET(answer_column, mean_ns, value_number(report_ns(f->r, (double)f->sum.time / (double)f->sum.n)))

GET(cause, at, value_text(cause_is_between(f->cause) ? "network" : answer_end(f->column, f->end)))
GET(cause, cause, value_text(cause_name(f->cause)))
GET(cause, mean_ns, value_number(cause_mean(f)))
GET(cause, share, value_number(cause_share(f)))
/* clang-format on */
