/* SPDX-License-Identifier: MIT */
#include "joint_divide.h"

#include <math.h>

static uint64_t cycles(const struct server_end *far, uint64_t time)
{
	return (uint64_t)((double)time * far->rate + 0.5);
}

/* Returns the first that a socket sent again of bytes from an offset on. */
static size_t first_resent(const struct host_exchanges *h, uint64_t sock, uint64_t offset)
{
	size_t low = 0, high = h->resents;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct kept_resent *r = &h->resent[middle];

		if (r->sock < sock || (r->sock == sock && r->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	while (low && h->resent[low - 1].sock == sock &&
		h->resent[low - 1].offset + h->resent[low - 1].length > offset)
		low--;
	return low;
}

/*
 * Returns what is left of a time lost without what the client's host has lost itself, which counts
 * once.
 */
static uint64_t without_known(uint64_t lost, uint64_t *known)
{
	uint64_t both = lost < *known ? lost : *known;

	*known -= both;
	return lost - both;
}

/* Fills in for how long the reply's first byte waited for its last copy. */
static void find_first_lost(struct server_end *far)
{
	const struct host_exchanges *h = far->host;
	const struct kept_exchange *e = far->e;
	uint64_t upto = e->departed;

	for (size_t i = first_resent(h, e->sock, e->reply_offset); i < h->resents; i++) {
		const struct kept_resent *r = &h->resent[i];

		if (r->sock != e->sock || r->offset > e->reply_offset)
			break;
		if (e->reply_offset - r->offset < r->length && r->end > upto)
			upto = r->end;
	}
	far->first_lost = without_known(cycles(far, upto - e->departed), &far->known_lost);
}

/*
 * Fills in for how long other bytes of the reply waited for their last copies while it arrived at
 * the client: times that overlap count once.
 */
static void find_rest_lost(
	struct server_end *far, const struct client_waits *waits, uint64_t reply_bytes)
{
	const struct host_exchanges *h = far->host;
	const struct kept_exchange *e = far->e;
	/* the server's time as the first byte departed is the client's as it came */
	uint64_t past = waits->late + far->first_lost;
	uint64_t upto = e->departed + (uint64_t)((double)past / far->rate);
	uint64_t end = e->departed + (uint64_t)((double)(past + waits->arriving) / far->rate);
	uint64_t rest = 0;

	for (size_t i = first_resent(h, e->sock, e->reply_offset); i < h->resents; i++) {
		const struct kept_resent *r = &h->resent[i];
		uint64_t from = r->begin > upto ? r->begin : upto, to = r->end < end ? r->end : end;

		if (r->sock != e->sock || r->offset >= e->reply_offset + reply_bytes)
			break;
		if (to > from) {
			rest += to - from;
			upto = to;
		}
	}
	far->rest_lost = without_known(cycles(far, rest), &far->known_lost);
}

/* Moves time from one cause to another. Returns how much. */
static uint64_t move(struct exchange_causes *e, enum cause from, enum cause_end end, enum cause to,
	uint64_t time)
{
	uint64_t *have = &e->cause[END_OWN][from];

	if (time > *have)
		time = *have;
	*have -= time;
	e->cause[end][to] += time;
	return time;
}

/*
 * Gives the causes of a part of a server's exchange their share of the client's time `from`. The
 * causes in `except` are left out.
 */
static void give_part_of(struct exchange_causes *e, enum cause from, const struct server_end *far,
	const struct kept_exchange *there, enum cause_part part, uint32_t except, double share)
{
	for (uint32_t i = 0; share > 0 && i < there->causes; i++) {
		const struct kept_cause *c = &far->host->cause[there->first + i];
		enum cause cause = (enum cause)(c->cause % CAUSES);
		enum cause_end end = cause == CAUSE_LOST ? END_OWN : END_FAR;

		if (c->cause / CAUSES == part && !(except & 1u << cause))
			move(e, from, end, cause,
				(uint64_t)((double)cycles(far, c->time) * share + 0.5));
	}
}

static void give_part(struct exchange_causes *e, enum cause from, const struct server_end *far,
	enum cause_part part, uint32_t except, double share)
{
	give_part_of(e, from, far, far->e, part, except, share);
}

/*
 * Divides what the server leaves of the time between the request's departure and the reply's
 * arrival. Retransmissions may have been for nothing: the bytes were there, and only their
 * acknowledgement missing. Then less is left than they took.
 */
static void divide_rest_of_away(
	struct exchange_causes *e, const struct client_waits *waits, struct server_end *far)
{
	if (far->first_lost > e->cause[END_OWN][CAUSE_AWAY])
		far->first_lost = 0;
	move(e, CAUSE_AWAY, END_OWN, CAUSE_LOST, far->first_lost);
	if (waits->lost <= e->cause[END_OWN][CAUSE_AWAY])
		move(e, CAUSE_AWAY, END_OWN, CAUSE_LOST, waits->lost);
	move(e, CAUSE_AWAY, END_OWN, CAUSE_NETWORK, UINT64_MAX);
}

/* Divides the time between the request's departure and the reply's arrival. */
static void divide_away(
	struct exchange_causes *e, const struct client_waits *waits, struct server_end *far)
{
	move(e, CAUSE_LOST, END_OWN, CAUSE_AWAY, waits->lost);
	give_part(e, CAUSE_AWAY, far, UNTIL_DEPARTURE, 0, 1);
	give_part(e, CAUSE_AWAY, far, UNTIL_READ, 0, 1);
	divide_rest_of_away(e, waits, far);
}

/*
 * Divides the time in which the rest of the reply arrived. The server's time from the departure of
 * the first byte on is the client's from its arrival on; what the client did not read at once, and
 * what the first byte's last copy came later, is past then.
 */
static void divide_arriving(
	struct exchange_causes *e, const struct client_waits *waits, const struct server_end *far)
{
	uint64_t sends = cycles(far, far->e->departed_upto - far->e->departed);
	uint64_t past = waits->late + far->first_lost, upto = past + waits->arriving;
	double share = 0;
	uint64_t lost;

	if (sends > past)
		share = (double)((sends < upto ? sends : upto) - past) / (double)sends;
	lost = move(e, CAUSE_ORDER, END_OWN, CAUSE_LOST, far->rest_lost);
	give_part(e, CAUSE_ARRIVING, far, AFTER_DEPARTURE, ~(1u << CAUSE_QDISC), share);
	move(e, CAUSE_ARRIVING, END_OWN, CAUSE_LOST, far->rest_lost - lost);
	/* while bytes pass the server's stack, others are on the network */
	give_part(e, CAUSE_ARRIVING, far, AFTER_DEPARTURE,
		1u << CAUSE_QDISC | 1u << CAUSE_LOST | 1u << CAUSE_STACK, share);
}

/* ---- several exchanges of the server that are one of the client's ---- */

/* An interval by the server's clock, ns. */
struct window {
	uint64_t from, to;
};

static double half_width(const struct host_bounds *b)
{
	return (b->high - b->low) / 2;
}

/* Finds what A's clock shows when B's shows this, and its error; false if that is not known. */
static bool a_shows(const struct hosts *h, uint64_t at, uint64_t *shows, double *half)
{
	for (size_t i = 0; i < h->windows; i++) {
		const struct hosts_window *w = &h->window[i];
		uint64_t x = at - (w->y0 - w->x0); /* about */
		struct host_bounds b;

		for (int turn = 0; turn < 3; turn++) {
			/* the first may be a bit beside the window */
			uint64_t within = x < w->from ? w->from : x >= w->to ? w->to - 1 : x;

			if (!hosts_at(h, within, &b))
				break;
			x = at - (uint64_t)(int64_t)((b.low + b.high) / 2);
		}
		if (x >= w->from && x < w->to && hosts_at(h, x, &b)) {
			*shows = x;
			*half = half_width(&b);
			return true;
		}
	}
	return false;
}

/* Finds what the other host's clock shows, and notes the error; false if that is not known. */
static bool other_clock(
	const struct joint_clocks *c, uint64_t at, uint64_t *shows, struct server_end *far)
{
	struct host_bounds b;
	double half;

	if (c->client_is_a) {
		if (!hosts_at(c->hosts, at, &b))
			return false;
		*shows = at + (uint64_t)(int64_t)((b.low + b.high) / 2);
		half = half_width(&b);
	} else if (!a_shows(c->hosts, at, shows, &half)) {
		return false;
	}
	far->clock_half = fmax(far->clock_half, half);
	return true;
}

/*
 * Returns how much of a time of the server's, in its cycles, lies in a window and not before
 * `since`.
 */
static double share_in(const struct report *server, struct window w, uint64_t since_cycles,
	uint64_t from_cycles, uint64_t to_cycles)
{
	uint64_t from = core_ns(server->core, from_cycles), to = core_ns(server->core, to_cycles);
	uint64_t since = since_cycles > from_cycles ? core_ns(server->core, since_cycles) : from;
	uint64_t a = since > w.from ? since : w.from, b = to < w.to ? to : w.to;

	return to > from && b > a ? (double)(b - a) / (double)(to - from) : 0;
}

/*
 * Gives a part of each of the server's exchanges, as far as it lies in the window. While a request
 * waits for the reply before it, the server is busy with that one.
 */
static void give_in(struct exchange_causes *e, enum cause from, const struct server_end *far,
	const struct report *server, enum cause_part part, uint32_t except, struct window w)
{
	uint64_t since = 0;

	for (size_t i = 0; i < far->n; i++) {
		const struct kept_exchange *there = &far->e[i];
		const uint64_t edge[CAUSE_PARTS + 1] = {
			there->begin, there->read, there->departed, there->departed_upto};

		give_part_of(e, from, far, there, part, except,
			share_in(server, w, part == AFTER_DEPARTURE ? 0 : since, edge[part],
				edge[part + 1]));
		since = there->departed > since ? there->departed : since;
	}
}

/* A client's times, in its cycles. */
struct client_times {
	uint64_t left, came, reads; /* the last: from when on the rest of the reply arrived */
};

static struct client_times times_of(const struct kept_exchange *k, uint64_t away)
{
	struct client_times t = {.reads = k->end - k->waits.arriving};

	t.came = t.reads - k->waits.late;
	t.left = t.came - away;
	return t;
}

/*
 * Divides the client's time by what the server did meanwhile. Returns false if the clocks are not
 * related there.
 */
static bool divide_by_clocks(struct exchange_causes *e, const struct joint_clocks *clocks,
	const struct report *client, const struct report *server, const struct kept_exchange *k,
	struct server_end *far)
{
	const uint32_t sends_slowly = ~(1u << CAUSE_QDISC), passes = 1u << CAUSE_STACK,
		       lost = 1u << CAUSE_LOST;
	struct client_times t;
	struct window away, rest;

	move(e, CAUSE_LOST, END_OWN, CAUSE_AWAY, k->waits.lost);
	t = times_of(k, e->cause[END_OWN][CAUSE_AWAY]);
	if (!other_clock(clocks, core_ns(client->core, t.left), &away.from, far) ||
		!other_clock(clocks, core_ns(client->core, t.came), &away.to, far) ||
		!other_clock(clocks, core_ns(client->core, t.reads), &rest.from, far) ||
		!other_clock(clocks, core_ns(client->core, k->end), &rest.to, far))
		return false;
	far->by_clocks = true;
	give_in(e, CAUSE_AWAY, far, server, UNTIL_DEPARTURE, lost, away);
	/* receipt of half-closed requests also is the wait for their end, which may be under way */
	give_in(e, CAUSE_AWAY, far, server, UNTIL_READ,
		far->e->half_closed ? 1u << CAUSE_RECEIVE : 0, away);
	divide_rest_of_away(e, &k->waits, far);
	find_rest_lost(far, &k->waits, k->reply_bytes);

	give_in(e, CAUSE_ARRIVING, far, server, AFTER_DEPARTURE, sends_slowly, rest);
	move(e, CAUSE_ARRIVING, END_OWN, CAUSE_LOST,
		far->rest_lost - move(e, CAUSE_ORDER, END_OWN, CAUSE_LOST, far->rest_lost));
	give_in(e, CAUSE_ARRIVING, far, server, UNTIL_DEPARTURE, passes | lost, rest);
	give_in(e, CAUSE_ARRIVING, far, server, AFTER_DEPARTURE, passes | ~sends_slowly | lost,
		rest);
	give_in(e, CAUSE_ARRIVING, far, server, UNTIL_READ, lost, rest);
	return true;
}

bool joint_divide(const struct host_exchanges *asked, const struct kept_exchange *k,
	const struct joint_clocks *clocks, const struct report *client, const struct report *server,
	struct server_end *far, struct exchange_causes *e)
{
	*e = (struct exchange_causes){.begin = k->begin, .end = k->end};
	for (uint32_t i = 0; i < k->causes; i++) {
		const struct kept_cause *c = &asked->cause[k->first + i];

		e->cause[c->cause / CAUSES][c->cause % CAUSES] = c->time;
	}
	far->known_lost = k->waits.lost_here;
	find_first_lost(far);
	/* with half-closed requests it is not known when the server's host had their end */
	if (far->n > 1 || k->half_closed || far->e->half_closed)
		return divide_by_clocks(e, clocks, client, server, k, far);
	divide_away(e, &k->waits, far);
	find_rest_lost(far, &k->waits, k->reply_bytes);
	divide_arriving(e, &k->waits, far);
	return true;
}
