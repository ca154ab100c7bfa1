/* SPDX-License-Identifier: MIT */

#include "clock/clockmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define SHORTEST_SEGMENT_NS 40000000
#define PROMISED_NS         100000000
/* No clock has run that long (decades); below it no product of two differences overflows. */
#define ABSURD (1ull << 62)

static double rate(const struct clock_point *p)
{
	return (double)(p[1].cycles - p[0].cycles) / (double)(p[1].ns - p[0].ns);
}

static double segment_error(const struct clockmap *m, uint32_t i)
{
	const struct clock_point *p = &m->p[i];
	double lo = rate(p), hi = lo, length = (double)(p[1].ns - p[0].ns);

	if (i > 0) {
		lo = fmin(lo, rate(p - 1));
		hi = fmax(hi, rate(p - 1));
	}
	if (i + 2 < m->n) {
		lo = fmin(lo, rate(p + 1));
		hi = fmax(hi, rate(p + 1));
	}
	return fmax(p[0].half_width, p[1].half_width) + (hi - lo) * length / 4;
}

void clockmap_add(struct clockmap *m, uint64_t ns, uint64_t cycles, uint32_t half_width)
{
	const struct clock_point *last = m->n ? &m->p[m->n - 1] : NULL;

	if (last && (ns <= last->ns || cycles <= last->cycles))
		return;
	if (ns >= ABSURD || cycles >= ABSURD)
		return;
	/* over a short segment the readings' own width would look like a change of rate */
	if (m->n >= 2 && ns - last->ns < SHORTEST_SEGMENT_NS)
		return;
	if (last && ns - last->ns > m->longest_ns)
		m->longest_ns = ns - last->ns;
	m->gaps += last && ns - last->ns > PROMISED_NS;
	if (m->n == m->cap) {
		uint32_t cap = m->cap ? m->cap * 2 : 64;
		struct clock_point *p = mg_realloc(m->p, cap * sizeof(*p));

		if (!p)
			return;
		m->p = p;
		m->cap = cap;
	}
	m->p[m->n++] = (struct clock_point){ns, cycles, half_width};
	if (m->n == 2)
		m->per_ns = rate(m->p);
	/* the new segment, and the previous one, which has a new neighbour */
	for (uint32_t i = m->n > 2 ? m->n - 3 : 0; i + 1 < m->n; i++)
		m->error = fmax(m->error, segment_error(m, i));
}

/* Returns x mapped by the line through (x0, y0) and (x1, y1); also outside of it, and before x0. */
static uint64_t on_line(uint64_t x, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1)
{
	__int128 num, den = x1 - x0;
	uint64_t within;

	/* the usual case, for which the CPU has a division */
	if (x >= x0 && !__builtin_mul_overflow(x - x0, y1 - y0, &within) &&
		!__builtin_add_overflow(within, (x1 - x0) / 2, &within))
		return y0 + within / (x1 - x0);
	num = ((__int128)x - x0) * (__int128)(y1 - y0);
	return (uint64_t)((__int128)y0 + (num + (num < 0 ? -(den / 2) : den / 2)) / den);
}

/* Returns the segment [i, i+1] that holds ns, or the nearest. */
static uint32_t segment_of_ns(struct clockmap *m, uint64_t ns)
{
	uint32_t i = m->last;

	if (i + 1 < m->n && m->p[i].ns <= ns && ns < m->p[i + 1].ns) /* the usual case */
		return i;
	i = i < m->n - 1 ? i : 0;
	while (i > 0 && ns < m->p[i].ns)
		i--;
	while (i + 2 < m->n && ns >= m->p[i + 1].ns)
		i++;
	return m->last = i;
}

static uint32_t segment_of_cycles(struct clockmap *m, uint64_t cycles)
{
	uint32_t i = m->last < m->n - 1 ? m->last : 0;

	while (i > 0 && cycles < m->p[i].cycles)
		i--;
	while (i + 2 < m->n && cycles >= m->p[i + 1].cycles)
		i++;
	return m->last = i;
}

/* Keeps a segment for clockmap_cycles(). */
static void use(struct clockmap *m, const struct clock_point *p)
{
	uint64_t ns = p[1].ns - p[0].ns, cycles = p[1].cycles - p[0].cycles, most;

	m->now.ns = p[0].ns;
	m->now.cycles = p[0].cycles;
	m->now.length_cycles = cycles;
	m->now.length_ns = __builtin_mul_overflow(ns, cycles, &most) ||
					   __builtin_add_overflow(most, ns / 2, &most)
				   ? 0
				   : ns;
	m->now.reciprocal = UINT64_MAX / ns;
}

uint64_t clockmap_cycles_elsewhere(struct clockmap *m, uint64_t ns)
{
	const struct clock_point *p;

	if (!clockmap_valid(m) || m->ns_only)
		return ns;
	p = &m->p[segment_of_ns(m, ns)];
	use(m, p);
	return on_line(ns, p[0].ns, p[0].cycles, p[1].ns, p[1].cycles);
}

static uint64_t to_ns(struct clockmap *m, uint64_t cycles)
{
	const struct clock_point *p;

	if (!clockmap_valid(m))
		return cycles;
	p = &m->p[segment_of_cycles(m, cycles)];
	return on_line(cycles, p[0].cycles, p[0].ns, p[1].cycles, p[1].ns);
}

uint64_t clockmap_ns(struct clockmap *m, uint64_t cycles)
{
	return m->ns_only ? cycles : to_ns(m, cycles);
}

uint64_t clockmap_counter(struct clockmap *m, uint64_t counter)
{
	return m->ns_only ? to_ns(m, counter) : counter;
}

double clockmap_hz(const struct clockmap *m)
{
	const struct clock_point *a = m->p, *b;

	if (m->ns_only)
		return 1e9;
	if (!clockmap_valid(m))
		return 0;
	b = &m->p[m->n - 1];
	return (double)(b->cycles - a->cycles) * 1e9 / (double)(b->ns - a->ns);
}

/* Returns the error of the line through two points at `ns` beyond the first. */
static double error_beyond(const struct clock_point *p, const struct clock_point *next, double ns)
{
	double length = fabs((double)next->ns - (double)p->ns);

	return p->half_width + ((double)p->half_width + next->half_width) * ns / length;
}

double clockmap_error_over(const struct clockmap *m, uint64_t from_ns, uint64_t to_ns)
{
	const struct clock_point *first = m->p, *last = m->p + m->n - 1;
	double error = m->error;

	if (!clockmap_valid(m))
		return NAN;
	if (from_ns < first->ns)
		error = fmax(error, error_beyond(first, first + 1, (double)(first->ns - from_ns)));
	if (to_ns > last->ns)
		error = fmax(error, error_beyond(last, last - 1, (double)(to_ns - last->ns)));
	return error;
}

double clockmap_rate_error(const struct clockmap *m, bool early_only)
{
	const struct clock_point *a = m->p, *b = m->p + m->n - 1;

	if (!clockmap_valid(m))
		return NAN;
	return (early_only ? fmax(a->half_width, b->half_width)
			   : (double)a->half_width + b->half_width) /
	       (double)(b->cycles - a->cycles);
}

void clockmap_free(struct clockmap *m)
{
	free(m->p);
	memset(m, 0, sizeof(*m));
}
