/* SPDX-License-Identifier: MIT */
/*
 * From CLOCK_MONOTONIC to the cycle counter and back, by synchronisation points (method: narrowest
 * of many triples, Cristian 1989; linear in between).
 */
#ifndef MAGNET_CORRELATE_CLOCKMAP_H
#define MAGNET_CORRELATE_CLOCKMAP_H

#include <stdbool.h>
#include <stdint.h>

struct clock_point {
	uint64_t ns, cycles;
	uint32_t half_width; /* cycles */
};

struct clockmap {
	struct clock_point *p;
	uint32_t n, cap;
	uint32_t last;       /* segment used last */
	double error;        /* of the segments so far */
	uint64_t longest_ns; /* between two points that follow one another */
	uint32_t gaps;       /* of these, longer than the 100 ms that are promised */
	double per_ns;       /* cycles, of the first segment; 0 before there is one */
	/*
	 * The counter is not one of constant rate: times are those of CLOCK_MONOTONIC, and what
	 * else is called cycles here are nanoseconds.
	 */
	bool ns_only;
};

/* Points must come in order of time; one that does not, or follows too closely, is left out. */
void clockmap_add(struct clockmap *m, uint64_t ns, uint64_t cycles, uint32_t half_width);
/* Both need two points; before the first and after the last the nearest segment is continued. */
uint64_t clockmap_cycles(struct clockmap *m, uint64_t ns);
uint64_t clockmap_ns(struct clockmap *m, uint64_t cycles);
/* The program's own reading of the counter, as times are kept: in cycles, or in nanoseconds only.
 */
uint64_t clockmap_counter(struct clockmap *m, uint64_t counter);
static inline bool clockmap_valid(const struct clockmap *m)
{
	return m->n >= 2;
}
/* How many cycles pass in so many nanoseconds, roughly: to wait for so long. */
static inline uint64_t clockmap_span(const struct clockmap *m, uint64_t ns)
{
	return m->ns_only || m->n < 2 ? ns : (uint64_t)((double)ns * m->per_ns);
}
static inline uint64_t clockmap_until(const struct clockmap *m)
{
	return m->n ? m->p[m->n - 1].ns : 0;
}
/* Counter frequency over the whole span, Hz; 1e9 with nanoseconds only. */
double clockmap_hz(const struct clockmap *m);
/*
 * Bound of the mapping error in cycles: the larger half-width of a segment's ends, plus a quarter
 * of the segment times the spread of the rates in it and its neighbours; the worst of all segments.
 */
static inline double clockmap_error(const struct clockmap *m)
{
	return m->error;
}
/* The same for a span of time that may go beyond the points: there the rate's error adds up. */
double clockmap_error_over(const struct clockmap *m, uint64_t from_ns, uint64_t to_ns);
/* Bound of the relative error of the rate over all points, which may be early only; NAN without
 * two. */
double clockmap_rate_error(const struct clockmap *m, bool early_only);
/* An error as a whole number to compare times by, also where readings are absurd. */
static inline uint64_t clock_slack(double error)
{
	return error < 1e18 ? (uint64_t)error + 1 : 1000000000000000000;
}
void clockmap_free(struct clockmap *m);

#endif
