/* SPDX-License-Identifier: MIT */

#include "clock/hosts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define SKEW_MAX 1e-3 /* no crystal is that far off */
/*
 * Least number of passings that relate anything: in each direction of a part of a recording; of a
 * whole one more than so many in both directions together.
 */
#define FEWEST      4
#define SHORTEST_NS 10000000

void hosts_init(struct hosts *h, double slack_ns)
{
	memset(h, 0, sizeof(*h));
	h->slack = slack_ns;
}

void hosts_free(struct hosts *h)
{
	free(h->to_b.v);
	free(h->to_a.v);
	free(h->window);
	memset(h, 0, sizeof(*h));
}

int hosts_add(struct hosts *h, bool to_b, uint64_t x, uint64_t y)
{
	struct host_passings *p = to_b ? &h->to_b : &h->to_a;

	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 256;
		struct host_passing *more = mg_realloc(p->v, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->v = more;
		p->cap = cap;
	}
	p->v[p->n++] = (struct host_passing){x, y};
	return 0;
}

/* ---- points relative to a window's origin: u is time, v the offset of B ---- */

struct point {
	double u, v;
};

static struct point point_of(const struct hosts_window *w, const struct host_passing *p)
{
	int64_t u = (int64_t)(p->x - w->x0), y = (int64_t)(p->y - w->y0);

	return (struct point){(double)u, (double)(y - u)};
}

/* Returns > 0 if c lies to the left of the line from a to b. */
static double turn(const struct point *a, const struct point *b, const struct point *c)
{
	return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

/*
 * Computes the convex hull of the points, as only its points can touch a line on one side of all of
 * them: the lower hull of what B received, the upper one of what it sent (Duda et al. 1987). Points
 * are in order of u; returns how many there are.
 */
static size_t hull(const struct hosts_window *w, const struct host_passings *p, size_t from,
	size_t to, bool lower, struct point *out)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		struct point c = point_of(w, &p->v[i]);

		while (n >= 2 && (lower ? turn(&out[n - 2], &out[n - 1], &c) <= 0
					: turn(&out[n - 2], &out[n - 1], &c) >= 0))
			n--;
		out[n++] = c;
	}
	return n;
}

/* ---- the (skew, offset) that contradict no passing: a convex polygon, cut by each ---- */

/*
 * Returns how far vertex `i`'s line keeps to its side of the point: negative if it contradicts it.
 */
static double room(const struct hosts_window *w, int i, const struct point *p, bool lower)
{
	double line = w->vertex[i].skew * p->u + w->vertex[i].offset;

	return lower ? p->v - line : line - p->v;
}

/*
 * Keeps the part of the polygon that has room (Sutherland & Hodgman 1974). Returns false if nothing
 * is left.
 */
static bool cut(struct hosts_window *w, const struct point *p, bool lower)
{
	struct hosts_window old = *w;
	int n = 0;

	for (int i = 0; i < old.vertices; i++)
		n += room(&old, i, p, lower) >= 0;
	if (n == old.vertices)
		return true;
	w->vertices = 0;
	for (int i = 0; i < old.vertices && n; i++) {
		int k = (i + 1) % old.vertices;
		double a = room(&old, i, p, lower), b = room(&old, k, p, lower), s;

		if (a >= 0 && w->vertices < HOSTS_VERTICES)
			w->vertex[w->vertices++] = old.vertex[i];
		if ((a >= 0) == (b >= 0) || w->vertices == HOSTS_VERTICES)
			continue;
		s = a / (a - b);
		w->vertex[w->vertices].skew =
			old.vertex[i].skew + s * (old.vertex[k].skew - old.vertex[i].skew);
		w->vertex[w->vertices++].offset =
			old.vertex[i].offset + s * (old.vertex[k].offset - old.vertex[i].offset);
	}
	return w->vertices > 0;
}

static void whole(struct hosts_window *w, double offset_max)
{
	w->vertices = 4;
	for (int i = 0; i < 4; i++) {
		w->vertex[i].skew = i == 0 || i == 3 ? -SKEW_MAX : SKEW_MAX;
		w->vertex[i].offset = i < 2 ? -offset_max : offset_max;
	}
}

/*
 * Computes the skew from passings in one direction only, where a constant delay cannot be told from
 * an offset: the line below all points that is nearest to them all (Moon, Skelly & Towsley 1999)
 * touches the hull about their mean time.
 */
static void skew_only(struct hosts_window *w, const struct host_passings *p, size_t from, size_t to,
	bool lower, struct point *room_for)
{
	size_t n = hull(w, p, from, to, lower, room_for), i = 0;
	double mean = 0;

	for (size_t k = from; k < to; k++)
		mean += point_of(w, &p->v[k]).u / (double)(to - from);
	if (n < 2)
		return;
	while (i + 2 < n && room_for[i + 1].u < mean)
		i++;
	if (room_for[i + 1].u <= room_for[i].u)
		return;
	w->skew = (room_for[i + 1].v - room_for[i].v) / (room_for[i + 1].u - room_for[i].u);
	w->state = HOSTS_SKEW_ONLY;
}

/* Returns the first passing not before x. */
static size_t first_from(const struct host_passings *p, uint64_t x)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->v[mid].x < x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_window(struct hosts *h, const struct hosts_window *w)
{
	if (h->windows == h->windows_cap) {
		size_t cap = h->windows_cap ? h->windows_cap * 2 : 4;
		struct hosts_window *more = mg_realloc(h->window, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		h->window = more;
		h->windows_cap = cap;
	}
	h->window[h->windows++] = *w;
	return 0;
}

static bool polygon(struct hosts *h, struct hosts_window *w, const size_t b[2], const size_t a[2],
	struct point *space)
{
	double offset_max = 1e9;
	size_t n;

	for (int side = 0; side < 2; side++) {
		const struct host_passings *p = side ? &h->to_a : &h->to_b;
		const size_t *r = side ? a : b;

		for (size_t i = r[0]; i < r[1]; i++) {
			struct point c = point_of(w, &p->v[i]);

			offset_max = fmax(offset_max, 2 * (fabs(c.v) + SKEW_MAX * fabs(c.u)));
		}
	}
	whole(w, offset_max);
	for (int side = 0; side < 2; side++) {
		n = hull(w, side ? &h->to_a : &h->to_b, side ? a[0] : b[0], side ? a[1] : b[1],
			!side, space);
		for (size_t i = 0; i < n; i++) {
			struct point c = {space[i].u, space[i].v + (side ? -h->slack : h->slack)};

			if (!cut(w, &c, !side))
				return false;
		}
	}
	return true;
}

/*
 * Returns whether there are enough in both directions. A download has few packets with bytes one
 * way; each of them is a bound.
 */
static bool are_enough(size_t to_b, size_t to_a, bool is_whole)
{
	return (to_b >= FEWEST && to_a >= FEWEST) ||
	       (is_whole && to_b && to_a && to_b + to_a > FEWEST);
}

/*
 * Solves [from, to), and halves it where no line fits: then a clock was set, or its rate changed.
 */
static int solve(struct hosts *h, uint64_t from, uint64_t to, bool is_whole, struct point *space)
{
	size_t b[2] = {first_from(&h->to_b, from), first_from(&h->to_b, to)};
	size_t a[2] = {first_from(&h->to_a, from), first_from(&h->to_a, to)};
	struct hosts_window w = {.state = HOSTS_UNRELATED, .from = from, .to = to, .skew = NAN};
	size_t to_b = b[1] - b[0], to_a = a[1] - a[0];
	int err;

	w.x0 = from + (to - from) / 2;
	if (to_b + to_a == 0)
		return add_window(h, &w);
	w.y0 = to_b ? h->to_b.v[b[0]].y : h->to_a.v[a[0]].y;
	if (are_enough(to_b, to_a, is_whole)) {
		if (polygon(h, &w, b, a, space)) {
			w.state = HOSTS_RELATED;
			return add_window(h, &w);
		}
		if (to - from >= 2 * SHORTEST_NS) {
			err = solve(h, from, w.x0, false, space);
			return err ? err : solve(h, w.x0, to, false, space);
		}
	} else if (to_b >= FEWEST) {
		skew_only(&w, &h->to_b, b[0], b[1], true, space);
	} else if (to_a >= FEWEST) {
		skew_only(&w, &h->to_a, a[0], a[1], false, space);
	}
	return add_window(h, &w);
}

static int by_time(const void *a, const void *b)
{
	const struct host_passing *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

int hosts_solve(struct hosts *h)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct point *space;
	int err;

	h->windows = 0;
	for (int side = 0; side < 2; side++) {
		struct host_passings *p = side ? &h->to_a : &h->to_b;

		if (!p->n)
			continue;
		qsort(p->v, p->n, sizeof(*p->v), by_time);
		from = p->v[0].x < from ? p->v[0].x : from;
		to = p->v[p->n - 1].x + 1 > to ? p->v[p->n - 1].x + 1 : to;
	}
	if (from >= to)
		return 0;
	space = mg_malloc((h->to_b.n + h->to_a.n) * sizeof(*space));
	if (!space)
		return -ENOMEM;
	err = solve(h, from, to, true, space);
	free(space);
	return err;
}

/* ---- results ---- */

/*
 * Returns the window of x; before the first and after the last the nearest one, as its lines are
 * straight.
 */
static const struct hosts_window *window_of(const struct hosts *h, uint64_t x)
{
	for (size_t i = 0; i < h->windows; i++)
		if (x < h->window[i].to || i + 1 == h->windows)
			return &h->window[i];
	return NULL;
}

bool hosts_at(const struct hosts *h, uint64_t x, struct host_bounds *out)
{
	const struct hosts_window *w = window_of(h, x);
	double u;

	if (!w || w->state != HOSTS_RELATED)
		return false;
	u = (double)(int64_t)(x - w->x0);
	*out = (struct host_bounds){INFINITY, -INFINITY};
	for (int i = 0; i < w->vertices; i++) {
		double v = w->vertex[i].skew * u + w->vertex[i].offset;

		out->low = fmin(out->low, v);
		out->high = fmax(out->high, v);
	}
	out->low += (double)(int64_t)(w->y0 - w->x0);
	out->high += (double)(int64_t)(w->y0 - w->x0);
	return true;
}

/* Finds the least and the largest skew that contradict no passing. Returns false if unbounded. */
static bool skews(const struct hosts_window *w, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	if (!w || w->state != HOSTS_RELATED)
		return false;
	for (int i = 0; i < w->vertices; i++) {
		*low = fmin(*low, w->vertex[i].skew);
		*high = fmax(*high, w->vertex[i].skew);
	}
	return true;
}

double hosts_skew(const struct hosts *h, uint64_t x)
{
	const struct hosts_window *w = window_of(h, x);
	double low, high;

	if (w && w->state == HOSTS_SKEW_ONLY)
		return w->skew;
	return skews(w, &low, &high) ? (low + high) / 2 : NAN;
}

double hosts_skew_error(const struct hosts *h, uint64_t x)
{
	double low, high;

	return skews(window_of(h, x), &low, &high) ? (high - low) / 2 : NAN;
}

bool hosts_interval(
	const struct hosts *h, bool to_b, uint64_t x, uint64_t y, double *ns, double *half_width)
{
	double ahead = (double)(int64_t)(y - x);
	struct host_bounds b;

	if (!hosts_at(h, x, &b))
		return false;
	*ns = ahead - (b.low + b.high) / 2;
	if (!to_b)
		*ns = -*ns;
	*half_width = (b.high - b.low) / 2;
	return true;
}
