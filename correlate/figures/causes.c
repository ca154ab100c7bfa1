/* SPDX-License-Identifier: MIT */
#include "figures/causes.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* clang-format off */
#define ROW(ID, name, label, remedy) [CAUSE_##ID] = {name, label, remedy},
static const struct { const char *name, *label, *remedy; } causes[CAUSES] = {MG_CAUSES(ROW)};
#undef ROW
/* clang-format on */

const char *cause_name(enum cause cause)
{
	return causes[cause].name;
}

const char *cause_label(enum cause cause)
{
	return causes[cause].label;
}

const char *cause_remedy(enum cause cause)
{
	return causes[cause].remedy;
}

/* ---- one exchange ---- */

static const uint8_t cause_of_rx[RX_STAGES] = {
	[RX_STAGE_DEV_IP] = CAUSE_RECEIVE,
	[RX_STAGE_IP_TCP] = CAUSE_RECEIVE,
	[RX_STAGE_ORDER] = CAUSE_ORDER,
	[RX_STAGE_ABSENT] = CAUSE_READER,
	[RX_STAGE_WAKE] = CAUSE_RECEIVE,
	[RX_STAGE_RUNQ] = CAUSE_RUN_QUEUE,
	[RX_STAGE_POLL] = CAUSE_READER,
	[RX_STAGE_COPY] = CAUSE_RECEIVE,
	[RX_STAGE_RETURN] = CAUSE_RECEIVE,
};

enum cause cause_of_rx_stage(int stage)
{
	return cause_of_rx[stage];
}

/* An interval of an exchange, and what is left of it to be divided. */
struct interval {
	struct exchange_causes *e;
	uint64_t from, to, left;
};

static struct interval interval_of(struct exchange_causes *e, uint64_t from, uint64_t to)
{
	return (struct interval){e, from, to, to > from ? to - from : 0};
}

/* Gives a cause its part of what is left. */
static void give(struct interval *in, enum cause_end end, enum cause cause, uint64_t time)
{
	if (time > in->left)
		time = in->left;
	in->e->cause[end][cause] += time;
	in->left -= time;
}

static void give_rest(struct interval *in, enum cause_end end, enum cause cause)
{
	give(in, end, cause, in->left);
}

/*
 * Gives the stages of received bytes, the last first: an interval ends with their receipt. While
 * the sender has something to send again, bytes that wait for others wait for that, and so does a
 * call that has copied some and does not return before it has more. `sender` is NULL if it is not
 * known. Returns the time given to retransmissions.
 */
static uint64_t give_receipt(struct interval *in, enum cause_end end, const struct recent_range *r,
	const struct recent_bytes *sender)
{
	uint64_t lost[RX_STAGES] = {0}, copied;

	if (!r || !r->followed)
		return 0;
	copied = in->left > r->stage[RX_STAGE_RETURN] ? in->to - r->stage[RX_STAGE_RETURN]
						      : in->from;
	lost[RX_STAGE_RETURN] = recent_lost(sender, copied, in->to);
	lost[RX_STAGE_ORDER] = recent_lost(sender, in->from, copied);
	for (int i = RX_STAGES - 1; i >= 0; i--) {
		if (lost[i] > r->stage[i])
			lost[i] = r->stage[i];
		give(in, end, cause_of_rx[i], r->stage[i] - lost[i]);
		give(in, END_OWN, CAUSE_LOST, lost[i]);
	}
	return lost[RX_STAGE_ORDER] + lost[RX_STAGE_RETURN];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the time lost in an interval, as both ends know it: copies of bytes in flight. */
static uint64_t lost_at_either(const struct recent_bytes *receiver,
	const struct recent_bytes *sender, const struct interval *in)
{
	return later(
		recent_lost(receiver, in->from, in->to), recent_lost(sender, in->from, in->to));
}

/*
 * Gives the stages of the byte at an offset of received bytes for an interval of which nothing else
 * is known.
 */
static void give_whole_receipt(
	struct interval *in, const struct recent_bytes *receiver, uint64_t offset)
{
	const struct recent_bytes *sender = receiver ? receiver->far : NULL;
	uint64_t given = give_receipt(in, END_OWN, recent_find(receiver, offset), sender);
	uint64_t lost = lost_at_either(receiver, sender, in);

	give(in, END_OWN, CAUSE_LOST, lost > given ? lost - given : 0);
	give_rest(in, END_OWN, CAUSE_RECEIVE);
}

/*
 * Gives the time in which earlier bytes could be read, and were not: until the last ones could, of
 * which the stages have been given.
 */
static void give_waits_for_reader(struct interval *in, enum cause_end end,
	const struct recent_bytes *r, const struct recent_range *last)
{
	uint64_t held[CAUSES] = {0}, until = in->to;

	if (last && last->followed)
		until = last->begin + last->stage[RX_STAGE_DEV_IP] + last->stage[RX_STAGE_IP_TCP] +
			last->stage[RX_STAGE_ORDER];
	recent_held(r, in->from, until < in->to ? until : in->to, held);
	give(in, end, CAUSE_READER, held[CAUSE_READER]);
}

/*
 * Gives what held sent bytes in the interval, but for what a reader at the other end can make: only
 * the receive window makes a sender wait for it. `lost` is a time for which retransmissions have
 * been given already.
 */
static void give_held(
	struct interval *in, enum cause_end end, const struct recent_bytes *r, uint64_t lost)
{
	uint64_t held[CAUSES] = {0};

	recent_held(r, in->from, in->to, held);
	held[CAUSE_LOST] -= lost;
	/*
	 * Bytes in the device's queue also fill the congestion window and TCP small queues;
	 * what was lost also closes the windows, and keeps later bytes from being read.
	 */
	give(in, end, CAUSE_QDISC, held[CAUSE_QDISC]);
	give(in, END_OWN, CAUSE_LOST, held[CAUSE_LOST]); /* at neither end */
	for (int i = 0; i < CAUSES; i++)
		if (i != CAUSE_STACK && i != CAUSE_QDISC && i != CAUSE_LOST && i != CAUSE_WINDOW &&
			i != CAUSE_BUFFER)
			give(in, end, (enum cause)i, held[i]);
}

/* Gives the other holds, and the time before the last bytes were written. */
static void give_window(struct interval *in, enum cause_end end, const struct recent_bytes *r,
	const struct recent_range *last)
{
	uint64_t held[CAUSES] = {0};

	recent_held(r, in->from, in->to, held);
	give(in, end, CAUSE_WINDOW, held[CAUSE_WINDOW]);
	give(in, end, CAUSE_BUFFER, held[CAUSE_BUFFER]);
	if (last && last->begin > in->from)
		give(in, end, CAUSE_WRITING, last->begin - in->from);
}

static void give_sending(struct interval *in, enum cause_end end, const struct recent_bytes *r,
	const struct recent_range *last)
{
	give_held(in, end, r, 0);
	give_window(in, end, r, last);
}

/* Divides a server's time from the arrival of the request until the program had it. */
static void divide_request(const struct fact_exchange *f, const struct recent_bytes *request,
	struct exchange_causes *e)
{
	struct interval in;

	e->begin = f->arrived && f->arrived < f->request_last ? f->arrived : f->request_last;
	in = interval_of(e, e->begin, f->request_last);
	give_whole_receipt(&in, request, f->request_offset + f->request_bytes - 1);
}

/* Divides it from then on, until it began to reply. */
static void divide_program(const struct fact_exchange *f, struct exchange_causes *e)
{
	struct interval in = interval_of(e, f->request_last, f->reply_first);

	give_rest(&in, END_OWN, CAUSE_PROGRAM);
}

/* Divides it from then on, until the reply had left. `last` is the range with its last byte. */
static void divide_reply(struct exchange_causes *e, uint64_t from, const struct recent_bytes *reply,
	const struct recent_range *last)
{
	struct interval in = interval_of(e, from, e->end);

	give_sending(&in, END_OWN, reply, last);
	give_rest(&in, END_OWN, CAUSE_STACK);
}

/* Returns when the reply's last byte had left, as far as it is known. */
static uint64_t reply_left(const struct fact_exchange *f, const struct recent_bytes *reply)
{
	return later(later(f->reply_first, f->departed),
		recent_until(reply, f->reply_offset, f->reply_offset + f->reply_bytes));
}

static void divide_server(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes *e)
{
	divide_request(f, request, e);
	divide_program(f, e);
	e->end = reply_left(f, reply);
	divide_reply(
		e, f->reply_first, reply, recent_find(reply, f->reply_offset + f->reply_bytes - 1));
}

/* Divides the time from the driver, which had the request, to the reply's arrival. */
static void divide_away(const struct fact_exchange *f, uint64_t from, uint64_t to,
	const struct recent_bytes *request, const struct recent_bytes *reply,
	struct exchange_causes *e)
{
	struct interval in = interval_of(e, from, to);
	uint64_t held[CAUSES] = {0};

	recent_held(request, from, to, held);
	if (!f->server_reply_first || f->server_request_last < from || f->server_reply_first > to) {
		give(&in, END_OWN, CAUSE_LOST, held[CAUSE_LOST]);
		give_rest(&in, END_OWN, CAUSE_AWAY);
		return;
	}
	in = interval_of(e, from, f->server_request_last);
	give(&in, END_OWN, CAUSE_LOST, held[CAUSE_LOST]);
	give_receipt(&in, END_FAR, recent_came(request, from, f->server_request_last), NULL);
	give_rest(&in, END_OWN, CAUSE_NETWORK);
	in = interval_of(e, f->server_request_last, f->server_reply_first);
	give_rest(&in, END_FAR, CAUSE_PROGRAM);
	in = interval_of(e, f->server_reply_first, to);
	give_sending(&in, END_FAR, reply ? reply->far : NULL, NULL);
	give_rest(&in, END_OWN, CAUSE_NETWORK);
}

/* When a client's request had left it, and when the reply came. */
struct away {
	uint64_t left, came;
};

static struct away away_of(const struct fact_exchange *f)
{
	struct away a = {.left = later(f->departed, f->request_last), .came = f->reply_first};

	if (f->arrived >= a.left && f->arrived <= f->reply_first)
		a.came = f->arrived;
	if (a.left > a.came)
		a.left = a.came;
	return a;
}

static void divide_client(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes *e)
{
	uint64_t request_end = f->request_offset + f->request_bytes;
	struct away away = away_of(f);
	uint64_t came = away.came;
	const struct recent_bytes *far = reply ? reply->far : NULL;
	const struct recent_range *last;
	struct interval in;
	uint64_t from, lost, here;

	e->begin = f->request_first;
	e->end = later(f->reply_first, f->reply_last);
	in = interval_of(e, e->begin, away.left);
	last = recent_find(request, request_end - 1);
	give_sending(&in, END_OWN, request, last);
	if (f->half_closed) { /* the program may have shut its direction long after it wrote */
		from = last ? later(e->begin, last->begin) : e->begin;
		give(&in, END_OWN, CAUSE_WRITING,
			f->request_last > from ? f->request_last - from : 0);
	}
	give_rest(&in, END_OWN, CAUSE_STACK);
	divide_away(f, away.left, came, request, reply, e);
	if (f->reply_calls != 1) {
		in = interval_of(e, came, f->reply_first);
		give_whole_receipt(&in, reply, f->reply_offset);
		came = f->reply_first;
	}
	/* one call may have waited for the whole reply (MSG_WAITALL) */
	in = interval_of(e, came, e->end);
	last = recent_find(reply, f->reply_offset + f->reply_bytes - 1);
	lost = give_receipt(&in, END_OWN, last, far);
	give_held(&in, END_FAR, far, lost);
	lost = later(lost, recent_lost(far, came, e->end));
	here = recent_lost(reply, came, e->end);
	give(&in, END_OWN, CAUSE_LOST, here > lost ? here - lost : 0);
	if (far || !request || request->closed >= came)
		give_waits_for_reader(&in, END_OWN, reply, last);
	give_window(&in, END_FAR, far, recent_begun(far, came, e->end));
	give_rest(&in, END_OWN, f->reply_calls == 1 && !last ? CAUSE_RECEIVE : CAUSE_ARRIVING);
}

static bool has_times(const struct fact_exchange *f)
{
	return !f->unseen && f->request_first && f->request_last && f->reply_first &&
	       f->request_first <= f->request_last && f->request_last <= f->reply_first &&
	       f->request_bytes && f->reply_bytes;
}

void causes_divide(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes *to)
{
	*to = (struct exchange_causes){0};
	if (has_times(f))
		(f->role == ROLE_SERVER ? divide_server : divide_client)(f, request, reply, to);
}

void causes_divide_in_parts(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes to[CAUSE_PARTS])
{
	struct exchange_causes *read = &to[UNTIL_READ], *before = &to[UNTIL_DEPARTURE],
			       *after = &to[AFTER_DEPARTURE];

	memset(to, 0, CAUSE_PARTS * sizeof(*to));
	if (!has_times(f))
		return;
	divide_request(f, request, read);
	read->end = before->begin = f->request_last;
	before->end = after->begin = later(f->reply_first, f->departed);
	after->end = reply_left(f, reply);
	divide_program(f, before);
	divide_reply(before, f->reply_first, reply, NULL);
	divide_reply(after, after->begin, reply,
		recent_find(reply, f->reply_offset + f->reply_bytes - 1));
}

void causes_client_waits(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct client_waits *to)
{
	struct away away = away_of(f);
	uint64_t wait = away.came - away.left, lost = recent_lost(request, away.left, away.came);
	uint64_t from = f->reply_calls == 1 ? away.came : f->reply_first;

	*to = (struct client_waits){.lost = lost < wait ? lost : wait,
		.late = from - away.came,
		.arriving = later(f->reply_last, from) - from,
		.lost_here = recent_lost(reply, away.came, later(f->reply_last, from))};
}

/* ---- sums ---- */

uint32_t causes_bin(uint64_t v)
{
	uint32_t e = 63 - (uint32_t)__builtin_clzll(v | 1);

	if (e < CAUSE_BITS)
		return (uint32_t)v;
	return ((e - CAUSE_BITS + 1) << CAUSE_BITS) + (uint32_t)(v >> (e - CAUSE_BITS)) -
	       (1u << CAUSE_BITS);
}

static void sum_add(struct cause_sums *to, const struct cause_sums *s)
{
	to->n += s->n;
	to->time += s->time;
	for (int i = 0; i < CAUSES; i++) {
		to->cause[END_OWN][i] += s->cause[END_OWN][i];
		to->cause[END_FAR][i] += s->cause[END_FAR][i];
	}
}

void causes_add(struct cause_bins **bins, const struct exchange_causes *e)
{
	struct cause_sums one = {.n = 1, .time = e->end - e->begin};
	struct cause_sums **bin;

	if (!e->begin)
		return;
	if (!*bins)
		*bins = mg_calloc(1, sizeof(**bins));
	bin = *bins ? &(*bins)->bin[causes_bin(one.time)] : NULL;
	if (bin && !*bin)
		*bin = mg_calloc(1, sizeof(**bin));
	if (!bin || !*bin)
		return;
	memcpy(one.cause, e->cause, sizeof(one.cause));
	sum_add(*bin, &one);
	(*bins)->n++;
	if (one.time > (*bins)->slowest.end - (*bins)->slowest.begin)
		(*bins)->slowest = *e;
}

void causes_free(struct cause_bins *bins)
{
	for (uint32_t i = 0; bins && i < CAUSE_BINS; i++)
		free(bins->bin[i]);
	free(bins);
}

/* Exchanges by their time, from the rank `from` on, counted from 0, up to the one before `end`. */
struct ranks {
	uint64_t from, end;
};

static struct ranks ranks_between(uint64_t n, double low, double high)
{
	/* a quantile that is a rank may be rounded down */
	struct ranks r = {(uint64_t)(low * (double)n + 1e-6), (uint64_t)(high * (double)n + 1e-6)};

	if (r.from >= n)
		r.from = n - 1;
	r.end = r.end < n ? r.end + 1 : n;
	return r;
}

static uint64_t bin_n(const struct cause_bins *bins, uint32_t i)
{
	return bins->bin[i] ? bins->bin[i]->n : 0;
}

/* Returns the bin of the exchange of this rank, and how many are in the bins before it. */
static uint32_t bin_at(const struct cause_bins *bins, uint64_t rank, uint64_t *before)
{
	uint32_t i = 0;

	for (*before = 0; i < CAUSE_BINS - 1 && *before + bin_n(bins, i) <= rank; i++)
		*before += bin_n(bins, i);
	return i;
}

/*
 * Exchanges around the median are about as long as it. Where there are two kinds of exchanges, and
 * the median is the longest of one kind, the other kind is left out.
 */
static void keep_like_median(const struct cause_bins *bins, struct ranks *r)
{
	uint64_t before, first, n;
	uint32_t mid = bin_at(bins, (bins->n - 1) / 2, &before);

	first = mid ? before - bin_n(bins, mid - 1) : before;
	n = before + bin_n(bins, mid) + (mid + 1 < CAUSE_BINS ? bin_n(bins, mid + 1) : 0);
	if (r->from < first)
		r->from = first;
	if (r->end > n)
		r->end = n;
}

static struct ranks ranks_of(const struct cause_bins *bins, double low, double high)
{
	struct ranks r = ranks_between(bins->n, low, high);

	if (low < 0.5 && high > 0.5)
		keep_like_median(bins, &r);
	return r;
}

bool causes_bins_at(
	const struct cause_bins *bins, double low, double high, uint32_t *first, uint32_t *last)
{
	struct ranks r;
	uint64_t before;

	if (!bins || !bins->n)
		return false;
	r = ranks_of(bins, low, high);
	*first = bin_at(bins, r.from, &before);
	*last = bin_at(bins, r.end - 1, &before);
	return true;
}

/* Adds `n` of a bin's exchanges, each with the bin's mean; the causes still sum to the time. */
static void sum_add_some(struct cause_sums *to, const struct cause_sums *s, uint64_t n)
{
	to->n += n;
	for (int end = 0; end < CAUSE_ENDS; end++)
		for (int i = 0; i < CAUSES; i++) {
			uint64_t some = (uint64_t)((unsigned __int128)s->cause[end][i] * n / s->n);

			to->cause[end][i] += some;
			to->time += some;
		}
}

void causes_between(const struct cause_bins *bins, double low, double high, struct cause_sums *sum)
{
	uint64_t before;
	struct ranks r;

	*sum = (struct cause_sums){0};
	if (!bins || !bins->n)
		return;
	if (low >= 1) {
		sum->n = 1;
		sum->time = bins->slowest.end - bins->slowest.begin;
		memcpy(sum->cause, bins->slowest.cause, sizeof(sum->cause));
		return;
	}
	r = ranks_of(bins, low, high);
	for (uint32_t i = bin_at(bins, r.from, &before); i < CAUSE_BINS && before < r.end; i++) {
		uint64_t n = bin_n(bins, i), to = before + n < r.end ? before + n : r.end;
		uint64_t from = before > r.from ? before : r.from;

		if (n && to - from == n)
			sum_add(sum, bins->bin[i]);
		else if (n)
			sum_add_some(sum, bins->bin[i], to - from);
		before += n;
	}
}

enum cause causes_largest(const struct cause_sums *sum, enum cause_end *end)
{
	int largest = 0;

	*end = END_OWN;
	for (int at = END_OWN; at < CAUSE_ENDS; at++)
		for (int i = 0; i < CAUSES; i++)
			if (sum->cause[at][i] > sum->cause[*end][largest]) {
				largest = i;
				*end = (enum cause_end)at;
			}
	return (enum cause)largest;
}
