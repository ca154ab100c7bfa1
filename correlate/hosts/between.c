/* SPDX-License-Identifier: MIT */
#include "between.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define KEPT_MAX 8000000 /* ranges, some 200 MB */

void host_side_init(struct host_side *s, struct core *core)
{
	memset(s, 0, sizeof(*s));
	s->core = core;
	figures_tell_exchanges(core, host_exchanges_add, host_exchanges_resent, &s->exchanges);
}

void host_side_free(struct host_side *s)
{
	struct end *e, *tmp;

	HASH_ITER (hh, s->ends, e, tmp) {
		HASH_DEL(s->ends, e);
		ranges_free(&e->call);
		ranges_free(&e->xmit);
		ranges_free(&e->sent_again);
		ranges_free(&e->recv);
		ranges_free(&e->ret);
		ranges_free(&e->came_again);
		free(e);
	}
	host_exchanges_free(&s->exchanges);
}

static struct end *find(const struct host_side *s, uint64_t cookie)
{
	struct end *e = NULL;

	HASH_FIND(hh, s->ends, &cookie, sizeof(cookie), e);
	return e;
}

static struct end *get(struct host_side *s, uint64_t cookie)
{
	struct end *e = find(s, cookie);

	if (e || s->full)
		return s->full ? NULL : e;
	e = mg_calloc(1, sizeof(*e));
	if (e) {
		e->cookie = cookie;
		HASH_ADD(hh, s->ends, cookie, sizeof(e->cookie), e);
		e = hash_kept(e);
	}
	return e;
}

static void add(struct host_side *s, struct ranges *first, struct ranges *again, uint64_t off,
	uint64_t len, uint64_t ns)
{
	uint64_t fresh = ranges_add(first, off, off + len, ns);

	if (again && fresh < len)
		ranges_add(again, off, off + len, ns);
	s->kept++;
	s->full = s->kept >= KEPT_MAX;
}

/* Stores the ranges that a call of the program moved. */
static void on_call(struct host_side *s, const struct mg_event *e, const struct annotation *a)
{
	for (uint32_t i = 0; i < a->pieces; i++) {
		struct moved_bytes m = annotated_bytes(a, i);
		struct end *k = get(s, m.flow.sock);
		uint64_t t = m.flow.rx ? e->call.exit : e->call.enter;

		if (k)
			add(s, m.flow.rx ? &k->ret : &k->call, NULL, m.offset, m.length,
				core_ns(s->core, t));
	}
}

void host_side_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct host_side *s = arg;
	struct end *k;

	if (!a->sock || annotated_kind(a) != MG_KIND_tcp)
		return;
	if (MG_IS_CALL(e->id)) {
		on_call(s, e, a);
	} else if (a->has_offset && a->length &&
		   (e->id == MG_EVENT_dev_xmit || e->id == MG_EVENT_dev_recv)) {
		k = get(s, annotated_flow(a).sock);
		if (k && e->id == MG_EVENT_dev_xmit)
			add(s, &k->xmit, &k->sent_again, a->offset, a->length, e->time_ns);
		else if (k)
			add(s, &k->recv, &k->came_again, a->offset, a->length, e->time_ns);
	}
}

/* ---- connections between the two ---- */

enum { IS_SENT, IS_RECEIVED, IS_SENT_AGAIN, IS_CAME_AGAIN, IS_CALL, IS_RETURN, LAYERS };
#define BITS_OF_TRANSIT (1u << IS_SENT | 1u << IS_RECEIVED)
#define BITS_OF_AGAIN   (1u << IS_SENT_AGAIN | 1u << IS_CAME_AGAIN)
#define BITS_OF_CALLS   (1u << IS_CALL | 1u << IS_RETURN)

struct walk {
	struct between *between;
	/* NULL while the passings that relate the clocks are collected */
	struct crossing *crossing;
	bool to_b;
	uint64_t last_x, last_y;
	int err;
};

static void add_passing(struct walk *w, const uint64_t t[])
{
	uint64_t x = w->to_b ? t[IS_SENT] : t[IS_RECEIVED];
	uint64_t y = w->to_b ? t[IS_RECEIVED] : t[IS_SENT];

	if (x == w->last_x && y == w->last_y)
		return;
	w->last_x = x;
	w->last_y = y;
	if (!w->err)
		w->err = hosts_add(&w->between->hosts, w->to_b, x, y);
}

/*
 * Adds the time between the two hosts, which may be negative within the bound of the clocks and
 * then counts as 0.
 */
static void add_interval(
	struct walk *w, struct dist *d, double *widest, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint64_t x = w->to_b ? from : to, y = w->to_b ? to : from;
	double ns, half;

	if (!hosts_interval(&w->between->hosts, w->to_b, x, y, &ns, &half))
		return;
	dist_add(d, ns > 0 ? (uint64_t)(ns + 0.5) : 0, bytes);
	*widest = fmax(*widest, half);
}

static void atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct walk *w = arg;
	struct crossing *c = w->crossing;
	bool passed = (present & BITS_OF_TRANSIT) == BITS_OF_TRANSIT;

	if (!c) {
		if (passed && !(present & BITS_OF_AGAIN))
			add_passing(w, t);
		return;
	}
	if (passed && present & BITS_OF_AGAIN)
		c->ambiguous += b - a;
	else if (passed)
		add_interval(w, &c->transit, &c->transit_half, t[IS_SENT], t[IS_RECEIVED], b - a);
	if ((present & BITS_OF_CALLS) == BITS_OF_CALLS)
		add_interval(w, &c->calls, &c->calls_half, t[IS_CALL], t[IS_RETURN], b - a);
}

static uint64_t end_of(const struct ranges *r)
{
	return r->len ? ranges_at(r, r->len - 1)->b : 0;
}

static void walk(struct walk *w, const struct end *from, const struct end *to)
{
	const struct ranges *layer[LAYERS] = {
		&from->xmit, &to->recv, &from->sent_again, &to->came_again, &from->call, &to->ret};
	uint64_t upto = end_of(&from->xmit) > end_of(&from->call) ? end_of(&from->xmit)
								  : end_of(&from->call);

	ranges_atoms(layer, LAYERS, 0, upto, atom, w);
}

/* A connection whose opening was recorded. */
struct opening {
	uint32_t isn, irs;
	uint64_t sock, bytes; /* and the bytes that it sent */
};

struct openings {
	const struct host_side *side;
	struct opening *v;
	size_t n;
};

static int by_numbers(const void *a, const void *b)
{
	const struct opening *x = a, *y = b;

	if (x->isn != y->isn)
		return x->isn < y->isn ? -1 : 1;
	return x->irs < y->irs ? -1 : x->irs > y->irs;
}

/* Adds a connection if its opening was seen and its other end is not on the same host. */
static void add_opening(void *arg, const struct fact_flow *tx, const struct fact_flow *rx)
{
	struct openings *all = arg;

	(void)rx;
	if (tx->opened && tx->kind == MG_KIND_tcp && !tx->peer_sock &&
		find(all->side, tx->flow.sock) && (tx->isn || tx->irs))
		all->v[all->n++] = (struct opening){.isn = (uint32_t)tx->isn,
			.irs = (uint32_t)tx->irs,
			.sock = tx->flow.sock,
			.bytes = flow_bytes(tx)};
}

static struct openings opened(struct core *c, const struct host_side *side)
{
	struct openings all = {side, mg_calloc(core_sock_count(c) + 1, sizeof(*all.v)), 0};

	if (all.v)
		core_each_flow(c, add_opening, &all);
	return all;
}

static void add_crossings(struct between *w, const struct opening *a, const struct opening *b)
{
	for (int to_b = 1; to_b >= 0; to_b--)
		w->crossing[w->crossings++] = (struct crossing){.a = a->sock,
			.b = b->sock,
			.to_b = to_b,
			.bytes = to_b ? a->bytes : b->bytes};
}

/*
 * Pairs connections by their initial sequence numbers, which needs both openings, but no addresses.
 */
static int find_crossings(struct between *w, const struct host_side *as, const struct host_side *bs)
{
	struct openings a = opened(w->a->core, as), b = opened(w->b->core, bs);
	bool has_memory = a.v && b.v;

	w->crossing = mg_calloc(2 * a.n + 1, sizeof(*w->crossing));
	if (b.v)
		qsort(b.v, b.n, sizeof(*b.v), by_numbers);
	for (size_t i = 0; i < a.n && has_memory && w->crossing; i++) {
		struct opening key = {.isn = a.v[i].irs, .irs = a.v[i].isn};
		const struct opening *other = bsearch(&key, b.v, b.n, sizeof(*b.v), by_numbers);

		if (other)
			add_crossings(w, &a.v[i], other);
	}
	free(a.v);
	free(b.v);
	return has_memory && w->crossing ? 0 : -ENOMEM;
}

static int by_bytes(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : y->to_b - x->to_b;
}

static double known_or_0(double v)
{
	return isnan(v) ? 0 : v;
}

/* Joins the exchanges of both hosts' clients with their servers. */
static int join_exchanges(struct between *w, struct host_side *as, struct host_side *bs)
{
	size_t n = w->crossings / 2;
	struct joint_sockets *of_a = mg_calloc(n + 1, sizeof(*of_a));
	struct joint_sockets *of_b = mg_calloc(n + 1, sizeof(*of_b));
	struct joint_clocks a_asks = {&w->hosts, true}, b_asks = {&w->hosts, false};
	int err = of_a && of_b ? 0 : -ENOMEM;

	host_exchanges_sort(&as->exchanges);
	host_exchanges_sort(&bs->exchanges);
	for (size_t i = 0; i < n && !err; i++) { /* there is one for each direction */
		const struct crossing *c = &w->crossing[2 * i];

		of_a[i] = (struct joint_sockets){.client = c->a, .server = c->b};
		of_b[i] = (struct joint_sockets){.client = c->b, .server = c->a};
	}
	if (!err)
		err = joint_add(
			&w->joint, &a_asks, w->a, &as->exchanges, w->b, &bs->exchanges, of_a, n);
	if (!err)
		err = joint_add(
			&w->joint, &b_asks, w->b, &bs->exchanges, w->a, &as->exchanges, of_b, n);
	joint_finish(&w->joint);
	joint_explain(&w->joint, n, w->a, &as->exchanges, w->b, &bs->exchanges);
	free(of_a);
	free(of_b);
	return err;
}

static bool left_out(const struct host_exchanges *h)
{
	return h->full || h->resents_full;
}

int between_make(struct between *w, const struct report *a, struct host_side *as,
	const struct report *b, struct host_side *bs)
{
	double doubt = known_or_0(report_clock_error_ns(a)) + known_or_0(report_clock_error_ns(b));
	int err;

	memset(w, 0, sizeof(*w));
	w->a = a;
	w->b = b;
	w->left_out = as->full || bs->full || left_out(&as->exchanges) || left_out(&bs->exchanges);
	hosts_init(&w->hosts,
		known_or_0(report_cpu_offset_ns(a)) + known_or_0(report_cpu_offset_ns(b)));
	err = find_crossings(w, as, bs);
	/* the first pass relates the clocks, the second one measures */
	for (int figures = 0; figures < 2 && !err; figures++) {
		for (size_t i = 0; i < w->crossings && !err; i++) {
			struct crossing *c = &w->crossing[i];
			const struct end *x = find(as, c->a), *y = find(bs, c->b);
			struct walk k = {.between = w, .crossing = figures ? c : NULL};

			k.to_b = c->to_b;
			walk(&k, c->to_b ? x : y, c->to_b ? y : x);
			c->calls_half += figures ? doubt : 0;
			err = k.err;
		}
		if (!figures && !err)
			err = hosts_solve(&w->hosts);
	}
	if (!err)
		err = join_exchanges(w, as, bs);
	if (w->crossings)
		qsort(w->crossing, w->crossings, sizeof(*w->crossing), by_bytes);
	return err;
}

void between_free(struct between *w)
{
	for (size_t i = 0; i < w->crossings; i++) {
		dist_free(&w->crossing[i].transit);
		dist_free(&w->crossing[i].calls);
	}
	free(w->crossing);
	joint_free(&w->joint);
	hosts_free(&w->hosts);
}
