/* SPDX-License-Identifier: MIT */
#include "text_left_out.h"

#include "text.h"
#include "text_causes.h"

/* ---- attempts to connect ---- */

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

/* ---- roles that are a guess ---- */

/*
 * Says that the ports decided who asks. Of other sockets than TCP's, who reads first is the server
 * by definition.
 */
static void assumed_roles(const struct exchange_group *g, FILE *to)
{
	uint64_t n = g->counts.assumed;
	char words[WORDS_MAX];

	if (g->key.kind != MG_KIND_tcp || !n)
		return;
	snprintf(words, sizeof(words),
		"who is the server%s%s%s is assumed from %s: no event shows it",
		n < g->counts.answered ? " of " : "", n < g->counts.answered ? text_count(n) : "",
		n < g->counts.answered ? " of them" : "",
		g->key.port ? "the ports" : "who read first");
	fprintf(to, "  ");
	text_wrapped(to, 2, 4, words);
}

void text_left_out(const struct report *r, const struct exchange_group *g, FILE *to)
{
	assumed_roles(g, to);
	connecting(r, g, to);
	without_reply(r, to);
	slow_requests(r, g, to);
}

/*
 * Says, where no request had a reply, for how long they waited, or attempts to connect took.
 * Streams in one direction have no replies either, and are closed soon.
 */
void text_without_exchanges(const struct report *r, FILE *to, bool colour)
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
