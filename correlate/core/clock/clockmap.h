/* SPDX-License-Identifier: MIT */
/*
 * Mapping between CLOCK_MONOTONIC and the cycle counter by synchronisation points (method:
 * narrowest of many triples, Cristian 1989; linear in between).
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
	uint32_t last; /* segment used last */
	/* the same segment, where no product of two differences overflows; else of length 0 */
	struct {
		uint64_t ns, length_ns, cycles, length_cycles;
		uint64_t reciprocal; /* 2^64 / length_ns, or a little less */
	} now;
	double error;        /* largest error of the segments so far */
	uint64_t longest_ns; /* longest time between two consecutive points */
	uint32_t gaps;       /* those longer than the promised 100 ms */
	double per_ns;       /* cycles per ns in the first segment; 0 before there is one */
	/*
	 * The counter has no constant rate: times are those of CLOCK_MONOTONIC, and all "cycles"
	 * here are nanoseconds.
	 */
	bool ns_only;
};

/*
 * Adds a point. Points must come in order of time; one that does not, or follows too closely, is
 * left out.
 */
void clockmap_add(struct clockmap *m, uint64_t ns, uint64_t cycles, uint32_t half_width);
/* Has all times be nanoseconds. */
static inline void clockmap_use_ns(struct clockmap *m)
{
	m->ns_only = true;
	m->now.length_ns = 0;
}
/* Both need two points; before the first and after the last the nearest segment is continued. */
uint64_t clockmap_cycles_elsewhere(struct clockmap *m, uint64_t ns);
static inline uint64_t clockmap_cycles(struct clockmap *m, uint64_t ns)
{
	uint64_t in = ns - m->now.ns, length = m->now.length_ns, within, quotient;

	if (in >= length)
		return clockmap_cycles_elsewhere(m, ns);
	within = in * m->now.length_cycles + length / 2;
	/* the product is the quotient, or 1 less: the CPU waits longer for a division */
	quotient = (uint64_t)((unsigned __int128)within * m->now.reciprocal >> 64);
	return m->now.cycles + quotient + (within - quotient * length >= length);
}
uint64_t clockmap_ns(struct clockmap *m, uint64_t cycles);
/* Converts the program's own counter reading to the unit of times: cycles, or nanoseconds. */
uint64_t clockmap_counter(struct clockmap *m, uint64_t counter);
static inline bool clockmap_valid(const struct clockmap *m)
{
	return m->n >= 2;
}
/* Returns roughly how many cycles pass in `ns` nanoseconds, for time limits. */
static inline uint64_t clockmap_span(const struct clockmap *m, uint64_t ns)
{
	return m->ns_only || m->n < 2 ? ns : (uint64_t)((double)ns * m->per_ns);
}
static inline uint64_t clockmap_until(const struct clockmap *m)
{
	return m->n ? m->p[m->n - 1].ns : 0;
}
/* Returns whether the time is not after the last point; before the first one is no matter. */
static inline bool clockmap_has(const struct clockmap *m, uint64_t ns)
{
	return ns - m->now.ns < m->now.length_ns /* within the segment that is used */ ||
	       (clockmap_valid(m) && ns <= clockmap_until(m));
}
/* Returns the counter's frequency over the whole span, Hz; 1e9 with nanoseconds only. */
double clockmap_hz(const struct clockmap *m);
/*
 * Returns the bound of the mapping error in cycles: the larger half-width of a segment's ends, plus
 * a quarter of the segment times the spread of the rates in it and its neighbours; the worst of all
 * segments.
 */
static inline double clockmap_error(const struct clockmap *m)
{
	return m->error;
}
/* Returns the same for a span that may go beyond the points, where the rate's error adds up. */
double clockmap_error_over(const struct clockmap *m, uint64_t from_ns, uint64_t to_ns);
/*
 * Returns the bound of the relative error of the rate over all points, whose errors may be
 * one-sided (`early_only`); NAN without two points.
 */
double clockmap_rate_error(const struct clockmap *m, bool early_only);
/* Returns an error as a whole number to compare times by, even where readings are absurd. */
static inline uint64_t clock_slack(double error)
{
	return error < 1e18 ? (uint64_t)error + 1 : 1000000000000000000;
}
void clockmap_free(struct clockmap *m);

#endif
