/* SPDX-License-Identifier: MIT */
#include "figures/exchanges.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"

#define GROUPS_MAX 1000
/*
 * The server's end and its client's may both be there, and the former, which has the parts of the
 * time in the program, is less slow than the ends of some other exchanges.
 */
#define SLOW_KEPT 4

/* ---- bins ---- */

/* Returns a value's bin: its exponent and the digits behind the first. */
static uint32_t bin_of(uint64_t v)
{
	uint32_t e = 63 - (uint32_t)__builtin_clzll(v | 1);

	if (e < TIME_BITS)
		return (uint32_t)v;
	return ((e - TIME_BITS + 1) << TIME_BITS) + (uint32_t)(v >> (e - TIME_BITS)) -
	       (1u << TIME_BITS);
}

/* Returns the value in the middle of a bin. */
static uint64_t middle_of(uint32_t bin)
{
	uint32_t e = bin >> TIME_BITS;
	uint64_t digits = (bin & ((1u << TIME_BITS) - 1)) + (1u << TIME_BITS);

	return e ? (digits << (e - 1)) + ((1ull << (e - 1)) >> 1) : bin;
}

static void bins_add(struct exchange_bins *b, uint64_t v)
{
	uint32_t bin = bin_of(v), **n = &b->n[bin >> TIME_BITS];

	if (!*n)
		*n = mg_calloc(1u << TIME_BITS, sizeof(**n));
	if (!*n)
		return;
	(*n)[bin & ((1u << TIME_BITS) - 1)]++;
	b->sum += v;
	if (v > b->max)
		b->max = v;
	if (v < b->min || !b->any)
		b->min = v;
	b->any = true;
}

static uint64_t within(uint64_t v, uint64_t min, uint64_t max)
{
	return v < min ? min : v > max ? max : v;
}

static void bins_free(struct exchange_bins *b)
{
	for (uint32_t at = 0; at < TIME_DOUBLES; at++) {
		free(b->n[at]);
		b->n[at] = NULL;
	}
}

/* Moves the values to a distribution, of which sum and maximum are exact. */
static void bins_finish(struct exchange_bins *b, struct dist *d)
{
	for (uint32_t at = 0; at < TIME_DOUBLES; at++)
		for (uint32_t i = 0; b->n[at] && i < 1u << TIME_BITS; i++)
			if (b->n[at][i])
				dist_add(d,
					within(middle_of((at << TIME_BITS) + i), b->min, b->max),
					b->n[at][i]);
	bins_free(b);
	d->n = d->weight; /* samples, not values */
	d->sum = b->sum;
	d->max = b->max;
}

/* ---- groups ---- */

static bool is_unix(uint8_t kind)
{
	return kind == MG_KIND_unix_stream || kind == MG_KIND_unix_seqpacket ||
	       kind == MG_KIND_unix_dgram;
}

/* Returns whether it may be an exchange of a tracer: it is, if the application side was recorded.
 */
static bool may_be_aside(const struct fact_exchange *f)
{
	bool lttng = f->program && strncmp(f->program, "lttng-", 6) == 0;
	bool bypasses =
		(f->request_function & FACT_SYSTEM_CALL) && (f->reply_function & FACT_SYSTEM_CALL);

	return is_unix(f->kind) && (lttng || bypasses);
}

static struct exchange_key key_of(const struct fact_exchange *f)
{
	const struct fact_address *at = f->role == ROLE_SERVER ? &f->local : &f->remote;
	struct exchange_key key = {.role = f->role, .kind = f->kind, .port = at->port};

	if (f->role == ROLE_CLIENT && at->addr)
		memcpy(key.addr, at->addr, sizeof(key.addr));
	if (f->program)
		strncpy(key.program, f->program, sizeof(key.program) - 1);
	key.aside = may_be_aside(f);
	return key;
}

/* Returns NULL if there are too many, or without memory. */
static struct exchange_group *group_of(struct exchange_table *t, const struct fact_exchange *f)
{
	struct exchange_key key = key_of(f);
	struct exchange_group *g = NULL;

	HASH_FIND(hh, t->groups, &key, sizeof(key), g);
	if (g || HASH_COUNT(t->groups) >= GROUPS_MAX)
		return g;
	g = mg_calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->key = key;
	HASH_ADD(hh, t->groups, key, sizeof(g->key), g);
	return hash_kept(g);
}

/* Returns the group of a fact's socket, which never changes if it is connected. */
static struct exchange_group *group_of_socket(
	struct exchange_table *t, const struct fact_exchange *f)
{
	void *state = *(f->request.rx ? f->reply.state : f->request.state);
	struct flow_measures *m = f->kind == MG_KIND_udp ? NULL : state;
	struct exchange_group *g = m ? m->exchanges.group : NULL;

	if (!g)
		g = group_of(t, f);
	if (m) {
		m->exchanges.group = g;
		m->exchanges.aside = g && g->key.aside;
	}
	return g;
}

static uint64_t between(uint64_t from, uint64_t to)
{
	return from && to && from <= to ? to - from : FACT_NONE;
}

static void spans_of(const struct fact_exchange *f, uint64_t span[EXCHANGE_TIMES])
{
	bool server = f->role == ROLE_SERVER;

	span[TIME_TO_REPLY] = f->to_reply;
	span[TIME_PROGRAM] = f->in_program;
	span[TIME_WAY] = server ? between(f->arrived, f->request_last)
				: between(f->request_last, f->server_request_last);
	span[TIME_BACK] = server ? between(f->reply_first, f->departed)
				 : between(f->server_reply_first, f->reply_first);
}

static void add(struct exchange_group *g, const struct fact_exchange *f,
	const uint64_t span[EXCHANGE_TIMES], const struct program_times *parts,
	const struct program_times *before, const struct program_times *in_reply,
	const struct exchange_causes *causes)
{
	uint32_t whole = causes->begin ? causes_bin(causes->end - causes->begin) : CAUSE_BINS;

	exchange_count(&g->counts, f);
	if (f->waited != FACT_NONE)
		dist_add(&g->unanswered, f->waited, 1);
	if (exchange_is_sure(f) && f->part[PART_REQUEST] != FACT_NONE)
		g->in_requests += f->part[PART_REQUEST];
	g->pipelined += f->pipelined == 1;
	g->half_closed += f->half_closed;
	g->request_bytes += f->request_bytes;
	g->reply_bytes += f->reply_bytes;
	for (int i = 0; exchange_is_sure(f) && i < EXCHANGE_TIMES; i++)
		if (span[i] != FACT_NONE)
			bins_add(&g->bins[i], span[i]);
	if (parts && exchange_is_sure(f))
		program_table_add(&g->program, parts, whole);
	if (before && exchange_is_sure(f))
		program_table_add(&g->reader, before, whole);
	if (in_reply && in_reply->n && exchange_is_sure(f))
		program_table_add(&g->replies, in_reply, whole);
}

/* ---- the slowest ---- */

/* Returns the whole time, or what is known of it; FACT_NONE if nothing is. */
static uint64_t whole_of(const uint64_t span[EXCHANGE_TIMES], const struct exchange_causes *causes)
{
	if (causes->begin)
		return causes->end - causes->begin;
	return span[TIME_TO_REPLY] != FACT_NONE ? span[TIME_TO_REPLY] : span[TIME_PROGRAM];
}

uint64_t slow_exchange_whole(const struct slow_exchange *s)
{
	return whole_of(s->span, &s->causes);
}

/* Returns whether the first is listed before the second: it is slower, or as slow and earlier. */
static bool is_before(const struct slow_exchange *a, const struct slow_exchange *b)
{
	uint64_t x = slow_exchange_whole(a), y = slow_exchange_whole(b);

	if (x != y)
		return x > y;
	if (a->fact.request_last != b->fact.request_last)
		return a->fact.request_last < b->fact.request_last;
	return a->fact.request.sock < b->fact.request.sock;
}

static void swap(struct slow_exchange *a, struct slow_exchange *b)
{
	struct slow_exchange x = *a;

	*a = *b;
	*b = x;
}

static void rise(struct slow_exchange *heap, uint32_t i)
{
	for (; i && is_before(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sink(struct slow_exchange *heap, uint32_t n)
{
	for (uint32_t i = 0, least;; i = least) {
		least = i;
		for (uint32_t k = 2 * i + 1; k < n && k <= 2 * i + 2; k++)
			if (is_before(&heap[least], &heap[k]))
				least = k;
		if (least == i)
			return;
		swap(&heap[i], &heap[least]);
	}
}

static void copy_of(const struct fact_exchange *f, const uint64_t span[EXCHANGE_TIMES],
	const struct exchange_causes *causes, struct slow_exchange *to)
{
	memset(to, 0, sizeof(*to));
	to->causes = *causes;
	to->fact = *f;
	to->fact.request.state = to->fact.reply.state = NULL;
	to->fact.program = NULL;
	to->has_local = f->local.addr;
	to->has_remote = f->remote.addr;
	if (f->local.addr)
		memcpy(to->local, f->local.addr, sizeof(to->local));
	if (f->remote.addr)
		memcpy(to->remote, f->remote.addr, sizeof(to->remote));
	if (f->program)
		strncpy(to->program, f->program, sizeof(to->program) - 1);
	memcpy(to->span, span, sizeof(to->span));
}

/* Returns whether the exchange may be listed: any, or the one that is asked for, at both ends. */
static bool is_wanted(const struct exchange_table *t, const struct fact_exchange *f)
{
	const struct exchange_id *only = t->only;

	if (!only)
		return true;
	if (f->request.sock == only->sock && f->request.rx == only->rx)
		return f->ordinal == only->ordinal;
	return f->role == ROLE_SERVER && only->server_request_last &&
	       f->request_last == only->server_request_last;
}

static void keep_slowest(struct exchange_table *t, const struct fact_exchange *f,
	const uint64_t span[EXCHANGE_TIMES], const struct exchange_causes *causes,
	const struct program_times *parts)
{
	struct slow_heap *heap = &t->heap[may_be_aside(f)];
	uint64_t slow = whole_of(span, causes);
	struct slow_exchange this;

	if (slow == FACT_NONE || !t->slow_max || !is_wanted(t, f))
		return;
	if (!heap->v)
		heap->v = mg_calloc(t->slow_max, sizeof(*heap->v));
	if (!heap->v || (heap->n == t->slow_max && slow < slow_exchange_whole(&heap->v[0])))
		return;
	copy_of(f, span, causes, &this);
	if (heap->n == t->slow_max && !is_before(&this, &heap->v[0]))
		return;
	if (parts)
		this.parts = program_times_copy(parts);
	if (heap->n < t->slow_max) {
		heap->v[heap->n] = this;
		rise(heap->v, heap->n++);
	} else {
		free(heap->v[0].parts);
		heap->v[0] = this;
		sink(heap->v, heap->n);
	}
}

static int slowest_first(const void *a, const void *b)
{
	return is_before(b, a) - is_before(a, b);
}

/* Returns whether both are the same exchange, seen by the server and by its client. */
static bool is_other_end(const struct slow_exchange *server, const struct slow_exchange *client)
{
	return server->fact.role == ROLE_SERVER && client->fact.role == ROLE_CLIENT &&
	       server->fact.request_last == client->fact.server_request_last;
}

/* Returns whether the client's end is listed; the parts of the time in the program go there. */
static bool is_told_by_client(const struct exchange_table *t, struct slow_exchange *s)
{
	for (uint32_t i = 0; i < t->slow_n; i++) {
		struct slow_exchange *client = &t->slow[i];

		if (!is_other_end(s, client))
			continue;
		free(client->parts);
		client->parts = s->parts;
		s->parts = NULL;
		return true;
	}
	return false;
}

static int longest_first(const struct exchange_group *a, const struct exchange_group *b)
{
	const struct dist *x = a->time, *y = b->time; /* TIME_TO_REPLY */

	if (a->is_aside != b->is_aside)
		return a->is_aside ? 1 : -1;
	return x->sum < y->sum ? 1 : -(x->sum > y->sum);
}

/* Puts the slowest of both heaps into one list: those aside last, or where they belong. */
static void join_heaps(struct exchange_table *t)
{
	struct slow_heap *own = &t->heap[0], *aside = &t->heap[1];
	uint32_t n = own->n + aside->n;

	if (n)
		t->slow = mg_calloc(n, sizeof(*t->slow));
	for (int i = 0; i < 2; i++) {
		struct slow_heap *h = &t->heap[i];

		if (h->n && t->slow)
			memcpy(t->slow + t->slow_n, h->v, h->n * sizeof(*h->v));
		t->slow_n += t->slow ? h->n : 0;
		for (uint32_t j = 0; j < h->n && !t->slow; j++)
			free(h->v[j].parts);
		free(h->v);
	}
	if (t->slow && t->has_app && own->n && aside->n) {
		qsort(t->slow, own->n, sizeof(*t->slow), slowest_first);
		qsort(t->slow + own->n, aside->n, sizeof(*t->slow), slowest_first);
	} else if (t->slow_n) {
		qsort(t->slow, t->slow_n, sizeof(*t->slow), slowest_first);
	}
	own->v = aside->v = NULL;
}

void exchange_table_finish(struct exchange_table *t)
{
	uint32_t kept = 0, wanted = t->slow_max / SLOW_KEPT;
	struct fact_recording recording;

	core_recording(t->core, &recording);
	t->has_app = recording.app_events;
	for (struct exchange_group *g = t->groups; g; g = g->hh.next) {
		program_table_finish(&g->program);
		program_table_finish(&g->reader);
		program_table_finish(&g->replies);
	}
	for (struct exchange_group *g = t->groups; g; g = g->hh.next)
		for (int i = 0; i < EXCHANGE_TIMES; i++)
			bins_finish(&g->bins[i], &g->time[i]);
	for (struct exchange_group *g = t->groups; g; g = g->hh.next)
		g->is_aside = g->key.aside && t->has_app;
	HASH_SORT(t->groups, longest_first);

	join_heaps(t);
	for (uint32_t i = 0; i < t->slow_n; i++)
		if (!is_told_by_client(t, &t->slow[i]))
			swap(&t->slow[kept++], &t->slow[i]);
	wanted = kept < wanted ? kept : wanted;
	for (uint32_t i = wanted; i < t->slow_n; i++)
		free(t->slow[i].parts);
	t->slow_n = wanted;
}

/* ---- the listener ---- */

static struct recent_bytes *recent_of(const struct fact_flow_id *of)
{
	return measures_by_id(*of)->exchanges.recent;
}

static void tell_divided(const struct exchange_table *t, struct exchange_group *g,
	const struct fact_exchange *f, const struct exchange_causes *causes)
{
	struct divided_exchange d = {f, g, causes, NULL, {0}};
	struct exchange_causes part[CAUSE_PARTS];

	if (f->role == ROLE_SERVER) {
		causes_divide_in_parts(f, recent_of(&f->request), recent_of(&f->reply), part);
		d.part = part;
	} else {
		causes_client_waits(f, recent_of(&f->request), recent_of(&f->reply), &d.waits);
	}
	t->divided(t->divided_arg, &d);
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct exchange_table *t = arg;
	struct exchange_group *g = group_of_socket(t, f);
	const struct program_times *parts = program_times_are_of(&t->latest, f) ? &t->latest : NULL;
	const struct program_times *before =
		program_times_are_of(&t->before_read, f) ? &t->before_read : NULL;
	struct program_times *in_reply =
		program_times_are_of(&t->in_reply, f) ? &t->in_reply : NULL;
	struct recent_bytes *request = recent_of(&f->request), *reply = recent_of(&f->reply);
	uint64_t span[EXCHANGE_TIMES];
	struct exchange_causes causes = {0};

	spans_of(f, span);
	if (in_reply) /* a wait for the other end is a cause of its own */
		program_times_leave_out(in_reply, &f->remote);
	if (exchange_is_sure(f))
		causes_divide(f, request, reply, &causes);
	if (g)
		add(g, f, span, parts, before, in_reply, &causes);
	else
		t->left_out++;
	if (!exchange_is_sure(f))
		return;
	recent_divided(request, causes.begin);
	recent_divided(reply, causes.begin);
	if (g)
		causes_add(&g->causes, &causes);
	if (g && causes.begin)
		g->divided_bytes += f->request_bytes + f->reply_bytes;
	if (g && causes.begin && t->divided)
		tell_divided(t, g, f, &causes);
	keep_slowest(t, f, span, &causes, parts);
}

static void on_in_program(void *arg, const void *fact)
{
	struct exchange_table *t = arg;

	program_times_add(&t->latest, fact);
}

static void on_before_read(void *arg, const void *fact)
{
	struct exchange_table *t = arg;

	program_times_add(&t->before_read, fact);
}

static void on_during_reply(void *arg, const void *fact)
{
	struct exchange_table *t = arg;

	program_times_add(&t->in_reply, fact);
}

void exchange_table_keep(struct exchange_table *t, uint32_t slowest)
{
	t->slow_max = SLOW_KEPT * slowest;
}

void exchange_table_keep_only(struct exchange_table *t, const struct exchange_id *only)
{
	t->only = only;
	exchange_table_keep(t, 1);
}

void exchange_table_listen(struct exchange_table *t, struct core *c)
{
	t->core = c;
	exchange_table_keep(t, EXCHANGES_SLOWEST);
	facts_listen(core_facts(c), FACT_in_program, on_in_program, t);
	facts_listen(core_facts(c), FACT_before_read, on_before_read, t);
	facts_listen(core_facts(c), FACT_during_reply, on_during_reply, t);
	facts_listen(core_facts(c), FACT_exchange, on_exchange, t);
}

void exchange_table_free(struct exchange_table *t)
{
	struct exchange_group *g, *tmp;

	HASH_ITER (hh, t->groups, g, tmp) {
		HASH_DEL(t->groups, g);
		for (int i = 0; i < EXCHANGE_TIMES; i++) {
			dist_free(&g->time[i]);
			bins_free(&g->bins[i]);
		}
		dist_free(&g->unanswered);
		program_table_free(&g->program);
		program_table_free(&g->reader);
		program_table_free(&g->replies);
		causes_free(g->causes);
		free(g);
	}
	for (uint32_t i = 0; i < t->slow_n; i++)
		free(t->slow[i].parts);
	free(t->slow);
	for (int i = 0; i < 2; i++) { /* if it was not finished */
		for (uint32_t j = 0; j < t->heap[i].n && t->heap[i].v; j++)
			free(t->heap[i].v[j].parts);
		free(t->heap[i].v);
	}
}
