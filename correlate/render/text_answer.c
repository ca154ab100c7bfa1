/* SPDX-License-Identifier: MIT */
/* Prints the answer: where the time of requests went, and what to do about it. */
#include "text_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "filter/text.h"
#include "reported/answer.h"
#include "reported/getters.h"
#include "text.h"
#include "wrap.h"
#include "text_causes.h"
#include "text_stacks.h"

/* ---- the table: where the time went ---- */

/* Where time goes at either end, in the order of a request's way. */
enum answer_place { SENDING, PROGRAM, RECEIVING, PLACES };
/* A place is small if it takes less of the time. */
#define SMALL_PLACE 0.01
static const char *const place_label[PLACES] = {"sending", "program", "receiving"};

static enum answer_place place_of(enum cause c)
{
	if (c == CAUSE_ORDER || c == CAUSE_READER || c == CAUSE_RUN_QUEUE || c == CAUSE_RECEIVE)
		return RECEIVING;
	return c == CAUSE_PROGRAM || c == CAUSE_WRITING ? PROGRAM : SENDING;
}

struct columns {
	int n;
	struct answer_column_figures column[ANSWER_COLUMNS];
};

static const char *mean(const struct answer_column_figures *c, uint64_t cycles)
{
	return text_ns(report_ns(c->r, (double)cycles / (double)c->sum.n));
}

/* Returns the width of a column of times: narrow terminals have less room beside the labels. */
static int column_width(void)
{
	return text_columns() < 72 ? 12 : CAUSE_TITLE_WIDTH;
}

/* Prints a row, if any column has time in it. */
static void row(const char *label, const struct columns *columns,
	const uint64_t time[ANSWER_COLUMNS], FILE *to)
{
	uint64_t any = 0;

	for (int i = 0; i < columns->n; i++)
		any |= time[i];
	if (!any)
		return;
	fprintf(to, "  %-22s", label);
	for (int i = 0; i < columns->n; i++) {
		const char *text = mean(&columns->column[i], time[i]);

		fprintf(to, "%*s%s", column_width() - text_width(text), "", text);
	}
	fprintf(to, "\n");
}

/* A row of the table: what was done where. */
struct place_row {
	char label[24];
	uint64_t time[ANSWER_COLUMNS];
};
#define ROWS (2 * PLACES + 1)

/* Adds the rows of one end. Returns the number of rows then. */
static int place_rows(
	const struct columns *columns, enum cause_end end, struct place_row *rows, int n)
{
	for (int p = 0; p < PLACES; p++, n++) {
		rows[n] = (struct place_row){0};
		snprintf(rows[n].label, sizeof(rows[n].label), "  %s, %s",
			answer_end(&columns->column[0], end), place_label[p]);
		for (int i = 0; i < columns->n; i++)
			for (int c = 0; c < CAUSES; c++)
				if (!cause_is_between((enum cause)c) &&
					(int)place_of((enum cause)c) == p)
					rows[n].time[i] += columns->column[i].sum.cause[end][c];
	}
	return n;
}

/* Adds the row of the network. */
static int between_row(const struct columns *columns, struct place_row *rows, int n)
{
	rows[n] = (struct place_row){.label = "  network"};
	for (int i = 0; i < columns->n; i++)
		for (int c = 0; c < CAUSES; c++)
			if (cause_is_between((enum cause)c))
				rows[n].time[i] += columns->column[i].sum.cause[END_OWN][c] +
						   columns->column[i].sum.cause[END_FAR][c];
	return n + 1;
}

static bool is_small(const struct columns *columns, const uint64_t time[ANSWER_COLUMNS])
{
	for (int i = 0; i < columns->n; i++)
		if ((double)time[i] >= SMALL_PLACE * (double)columns->column[i].sum.time)
			return false;
	return true;
}

/* Prints the table; with `fold`, rows that are small in every column as one. */
static void table(const struct columns *columns, bool fold, FILE *to)
{
	uint64_t whole[ANSWER_COLUMNS], rest[ANSWER_COLUMNS] = {0};
	struct place_row rows[ROWS];
	int n;

	fprintf(to, "  %-22s", "mean of");
	for (int i = 0; i < columns->n; i++) {
		whole[i] = columns->column[i].sum.time;
		fprintf(to, "%*s", column_width(), columns->column[i].title);
	}
	fprintf(to, "\n");
	row("whole exchange", columns, whole, to);
	n = place_rows(columns, END_OWN, rows, 0);
	n = between_row(columns, rows, n);
	n = place_rows(columns, END_FAR, rows, n);
	for (int p = 0; p < n; p++) {
		if (!fold || !is_small(columns, rows[p].time)) {
			row(rows[p].label, columns, rows[p].time, to);
			continue;
		}
		for (int i = 0; i < columns->n; i++)
			rest[i] += rows[p].time[i];
	}
	row("  all else", columns, rest, to);
}

/* ---- the whole ---- */

/* Attempts to connect are named if they took so large a part of the time, and so long. */
#define CONNECT_PART 0.25
#define CONNECT_NS   1000000

/* Says that connections were slow to open, which comes before exchanges. `replied`: their time. */
static bool connect_words(const struct report *r, double replied, char words[WORDS_MAX])
{
	const struct connect_stats *s = &figures_of(r->core)->connects;
	uint64_t retries = r->losses.syn_retries;
	double sum = (double)s->took.sum;
	size_t n;

	if (!s->took.n && retries) { /* they began before the recording did */
		snprintf(words, WORDS_MAX, "%s SYN%s retransmitted", text_count(retries),
			retries == 1 ? " was" : "s were");
		return true;
	}
	if (!s->took.n ||
		(!retries && (sum < CONNECT_PART * (sum + replied) ||
				     report_ns(r, dist_quantile(&s->took, 1)) < CONNECT_NS)))
		return false;
	n = (size_t)snprintf(words, WORDS_MAX, "%s attempt%s to connect took %s%s",
		text_count(s->n), plural(s->n), s->took.n < s->n ? text_at_least() : "",
		text_ns(report_ns(r, sum)));
	if (s->n > 1)
		n += (size_t)snprintf(words + n, WORDS_MAX - n, " in all, the longest %s",
			text_ns(report_ns(r, dist_quantile(&s->took, 1))));
	if (s->failed)
		n += (size_t)snprintf(
			words + n, WORDS_MAX - n, "; %s failed", text_count(s->failed));
	if (retries)
		snprintf(words + n, WORDS_MAX - n, "; %s SYN%s retransmitted", text_count(retries),
			retries == 1 ? " was" : "s were");
	return true;
}

static void connecting(const struct report *r, const struct exchange_group *g, FILE *to)
{
	char words[WORDS_MAX];

	if (!connect_words(r, (double)g->time[0].sum, words))
		return;
	fprintf(to, "  before them, ");
	text_wrapped(to, 15, 4, words);
}

/* ---- requests without a reply ---- */

/* Shorter waits are those of a message that ends a connection. */
#define UNANSWERED_NS 1000000
#define ALONE_NS      100000000 /* where no request had a reply */
/* They are named if they took so large a part of the time of all requests. */
#define UNANSWERED_PART 0.05

/* Returns how many requests waited for long, without a reply. */
static uint64_t waited_long(const struct report *r, const struct exchange_group *g)
{
	double all = (double)g->unanswered.n;

	return (uint64_t)(all - dist_weight_below(&g->unanswered, UNANSWERED_NS * r->hz / 1e9) +
			  0.5);
}

/* Returns whether they are, as far as can be told, the two ends of the same connections. */
static bool are_both_ends(const struct exchange_group *a, const struct exchange_group *b)
{
	double x = (double)a->unanswered.sum, y = (double)b->unanswered.sum;

	return a->key.role != b->key.role && a->key.port == b->key.port &&
	       a->key.kind == b->key.kind && x < 2 * y && y < 2 * x;
}

/* Returns the group with the longest waits; NULL if they are a small part of its time. */
static const struct exchange_group *unanswered(const struct report *r)
{
	const struct exchange_group *most = NULL;

	for (const struct exchange_group *g = figures_of(r->core)->exchanges.groups; g;
		g = g->hh.next) {
		double sum = (double)g->unanswered.sum, replied = (double)g->time[0].sum;
		bool more = !most || sum > (double)most->unanswered.sum;

		/* where both ends are recorded, the client's: it is the one that waits */
		if (most && are_both_ends(most, g))
			more = g->key.role == ROLE_CLIENT;

		if (!g->is_aside && g->unanswered.n && waited_long(r, g) &&
			sum >= UNANSWERED_PART * (sum + replied) && more)
			most = g;
	}
	return most;
}

/* Says for how long somebody waited for replies that did not come. */
static void unanswered_words(
	const struct report *r, const struct exchange_group *g, char words[WORDS_MAX])
{
	const char *program = g->key.program[0] ? text_plain(g->key.program, 15) : "a program";
	uint64_t n = waited_long(r, g);
	char longest[24];

	snprintf(longest, sizeof(longest), "%s",
		text_ns(report_ns(r, dist_quantile(&g->unanswered, 1))));
	snprintf(words, WORDS_MAX, "%s request%s %s %s%s port %u got no reply: %s waited %s%s%s",
		text_count(n), plural(n), g->key.role == ROLE_SERVER ? "at" : "of", program,
		g->key.role == ROLE_SERVER ? "," : " to", g->key.port, n == 1 ? "it" : "they",
		n == 1 ? longest : text_ns(report_ns(r, (double)g->unanswered.sum)),
		n == 1 ? "" : " in all, the longest ", n == 1 ? "" : longest);
}

static void without_reply(const struct report *r, FILE *to)
{
	const struct exchange_group *g = unanswered(r);
	char words[WORDS_MAX];

	if (!g)
		return;
	unanswered_words(r, g, words);
	fprintf(to, "  beside them, ");
	text_wrapped(to, 15, 4, words);
}

/* ---- requests that arrive slowly ---- */

/* They are named if they took so large a part of the whole, and so long each. */
#define ARRIVING_PART 0.25
#define ARRIVING_NS   1000000

/* Says how long requests took to arrive at a server, whose times begin with the last byte. */
static void slow_requests(const struct report *r, const struct exchange_group *g, FILE *to)
{
	uint64_t n = g->counts.answered - g->counts.unsure;
	double sum = (double)g->in_requests, mean;
	char words[WORDS_MAX];

	if (g->key.role != ROLE_SERVER || !n)
		return;
	mean = report_ns(r, sum / (double)n);
	if (mean < ARRIVING_NS || sum < ARRIVING_PART * (sum + (double)g->time[0].sum))
		return;
	snprintf(words, sizeof(words),
		n == 1 ? "the request took %s to arrive, from its first byte to its last"
		       : "requests took %s on average to arrive, from their first byte to their "
			 "last",
		text_ns(mean));
	fprintf(to, "  before them, ");
	text_wrapped(to, 15, 4, words);
}

/* Returns whether an exchange is one of the group's. */
static bool is_of_group(const struct slow_exchange *s, const struct exchange_group *g)
{
	bool server = g->key.role == ROLE_SERVER;
	uint16_t port = server ? s->fact.local.port : s->fact.remote.port;

	return s->fact.role == g->key.role && s->fact.kind == g->key.kind && port == g->key.port &&
	       strncmp(s->program, g->key.program, sizeof(s->program)) == 0 &&
	       (server || memcmp(s->remote, g->key.addr, sizeof(s->remote)) == 0);
}

/* Finds the group's slowest exchange. Returns its number, 0 if there is none. */
static unsigned int slowest_of(
	const struct report *r, const struct exchange_group *g, struct slow_exchange_figures *f)
{
	struct report_figures all = {.r = r};
	uintptr_t at = 0;

	do
		if (!next_whole_slowest(&all, &at, f))
			return 0;
	while (!is_of_group(f->s, g));
	return (unsigned int)at;
}

/* Prints the group's slowest exchange, and how to see its life. */
static void slowest(const struct report *r, const struct exchange_group *g, FILE *to)
{
	struct slow_exchange_figures f;
	unsigned int at = slowest_of(r, g, &f);
	char words[WORDS_MAX + FILTER_TEXT], filter[FILTER_TEXT] = "";

	if (!at)
		return;
	if (r->filter)
		filter_text(r->filter, filter, sizeof(filter));
	snprintf(words, sizeof(words),
		"the slowest: %s at %.6f s, %s%s%s; its life: magnet show %s --slowest %u%s%s",
		text_ns(value_of(get_slow_exchange_whole_ns(&f))),
		(double)(int64_t)(core_ns(r->core, f.s->fact.request_last) - r->recording.first) /
			1e9,
		f.local[0] ? f.local : f.request, f.remote[0] ? " with " : "", f.remote,
		r->source ? text_plain(r->source, 400) : "DIR", at, filter[0] ? " " : "",
		text_plain(filter, 200));
	fprintf(to, "  ");
	text_wrapped(to, 2, 4, words);
}

bool text_is_of_exchanges(const struct report *r)
{
	uint64_t bytes = 0;

	for (const struct exchange_group *g = figures_of(r->core)->exchanges.groups; g;
		g = g->hh.next)
		if (g->causes && !g->is_aside)
			bytes += g->divided_bytes;
	return bytes * 2 > r->sums.bytes - r->sums.aside;
}

/* Finds the ports or peer of which the answer is. Returns false if there is none. */
static bool answered(const struct report *r, struct exchange_group_figures *f)
{
	struct report_figures all = {.r = r};
	uintptr_t at = 0;

	do
		if (!next_whole_exchanges(&all, &at, f))
			return false;
	while (!f->g->causes);
	return true;
}

/*
 * Returns whether a cause concerns what its end sends; else what it receives. Between both ends it
 * is the direction that carries more.
 */
static bool is_of_sending(const struct cause_figures *c, const struct fact_exchange *e)
{
	if (cause_is_between(c->cause))
		return (e->reply_bytes > e->request_bytes) == (e->role == ROLE_SERVER);
	return place_of(c->cause) == SENDING || c->cause == CAUSE_WRITING;
}

bool text_answer_flow(const struct report *r, struct fact_flow_id *flow)
{
	struct slow_exchange_figures slow;
	struct exchange_group_figures f;
	struct cause_figures cause;
	struct fact_flow own, far;
	const struct fact_exchange *e;
	uintptr_t at = 0;
	bool sending;

	if (!answered(r, &f) || !slowest_of(r, f.g, &slow) ||
		!next_slow_exchange_causes(&slow, &at, &cause))
		return false;
	e = &slow.s->fact;
	sending = is_of_sending(&cause, e);
	if (cause.end == END_OWN || cause_is_between(cause.cause)) {
		*flow = e->request.rx == !sending ? e->request : e->reply;
		return true;
	}
	/* the other end sends what this one receives */
	*flow = e->request.rx == sending ? e->request : e->reply;
	if (core_flow(r->core, flow->sock, flow->rx, &own) && flow_peer(r, &own, &far))
		*flow = far.flow;
	return true;
}

/* How much is left out of the answer, so that it fits the first screen. */
enum answer_form { ALL_ROWS, FOLDED_ROWS, FIRST_CAUSES };

static void print(const struct report *r, const struct exchange_group_figures *f,
	enum answer_form form, FILE *to, bool colour)
{
	struct causes_told told = {.only_first = form == FIRST_CAUSES};
	struct columns columns = {0};

	for (uintptr_t at = 0; columns.n < ANSWER_COLUMNS &&
			       next_exchange_group_answer(f, &at, &columns.column[columns.n]);)
		columns.n++;
	fprintf(to, "\n%sAnswer%s: where the time of %s exchange%s %s %s", colour ? "\033[1m" : "",
		colour ? "\033[0m" : "", text_count(f->g->causes->n), plural(f->g->causes->n),
		f->address[0] ? "with" : "at",
		f->address[0]          ? f->address
		: f->g->key.program[0] ? text_plain(f->g->key.program, 15)
				       : "a program");
	if (!f->address[0] && f->g->key.port)
		fprintf(to, " :%u", f->g->key.port);
	fprintf(to, " went\n");
	connecting(r, f->g, to);
	without_reply(r, to);
	slow_requests(r, f->g, to);
	table(&columns, form != ALL_ROWS, to);
	for (int i = 0; i < columns.n; i++)
		text_causes_of(&columns.column[i], &told, to);
	text_remedies(&told, to);
	text_answer_stacks(f, to);
	slowest(r, f->g, to);
}

/*
 * Says, where no request had a reply, for how long they waited, or attempts to connect took.
 * Streams in one direction have no replies either, and are closed soon.
 */
static void without_exchanges(const struct report *r, FILE *to, bool colour)
{
	const struct exchange_group *g = unanswered(r);
	const struct dist *connects = &figures_of(r->core)->connects.took;
	char words[WORDS_MAX];

	if (g && report_ns(r, dist_quantile(&g->unanswered, 1)) >= ALONE_NS)
		unanswered_words(r, g, words);
	else if (!connects->n || report_ns(r, dist_quantile(connects, 1)) < ALONE_NS ||
		 !connect_words(r, 0, words))
		return;
	fprintf(to, "\n%sAnswer%s: ", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	text_wrapped(to, 8, 2, words);
}

void text_answer(const struct report *r, int lines, FILE *to, bool colour)
{
	struct exchange_group_figures f;
	enum answer_form form = ALL_ROWS;
	bool fits = false;

	if (!answered(r, &f)) {
		without_exchanges(r, to, colour);
		return;
	}
	for (; !fits && form <= FIRST_CAUSES; form++) {
		char *text;
		size_t size;
		FILE *answer = mg_text_open(&text, &size);

		if (!answer)
			return;
		print(r, &f, form, answer, colour);
		if (!mg_text_close(answer, &text))
			return;
		fits = text_has_all(r) || form == FIRST_CAUSES || text_lines(text) <= lines;
		if (fits)
			fputs(text, to);
		free(text);
	}
}
