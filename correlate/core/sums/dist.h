/* SPDX-License-Identifier: MIT */
/*
 * A weighted distribution of non-negative integers (cycles, bytes) in bounded memory: values below
 * 2048 are kept apart exactly, larger ones in bins of 1/1024 relative width, each with the sum of
 * what it holds. Means and sums are exact; quantiles are off by less than a bin.
 *
 * Distributions that share a pool keep its limit: when all of them together need more, the owner
 * of the pool makes the bins of the larger ones wider (dist_coarsen()).
 */
#ifndef MAGNET_CORRELATE_DIST_H
#define MAGNET_CORRELATE_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Most of the time dist_add() takes is spent on waiting for memory: four bins of neighbouring
 * values stand in one cache line.
 */
struct dist_bin {
	uint64_t key : 18;    /* 0 = free, else bin + 1 */
	uint64_t weight : 46; /* what does not fit has gone to `wide` */
	uint64_t above;       /* sum of weight times value above the bin's begin */
};

/*
 * What came last waits for its bin, in a row: to write there needs no waiting, and where there are
 * many distributions each one's bins are looked for many at a time. Most of a short connection
 * never get bins.
 */
struct dist_late {
	uint32_t value, weight; /* larger ones go to their bin at once */
};

struct dist_more;

/* The memory of distributions that are bounded together, bytes. */
struct dist_pool {
	size_t limit;                /* of both together: */
	size_t used;                 /* packed, and waiting for bins, */
	size_t tables_limit, tables; /* and in hash tables, which only busy ones have */
	bool is_scarce;              /* the limit was reached once: less may wait */
	uint8_t coarse;              /* binary digits by which the bins of large ones are wider */
};
/* The widest bins are 1/8 of the value. */
#define DIST_COARSEST 7
/* A distribution of no more bins keeps the narrowest. */
#define DIST_FEW 32

typedef unsigned __int128 dist_sum __attribute__((aligned(8)));

/* A connection has some forty of these: what few of them need is elsewhere. */
struct dist {
	union {
		struct dist_bin *bins; /* open addressing, a power of two */
		uint8_t *packed;       /* in order of key, of varying length */
	};
	struct dist_more *more; /* NULL: none */
	union {
		struct dist_late *late;
		struct dist_late only; /* in its place, as long as `late_cap` is 0 */
	};
	struct dist_pool *pool; /* NULL: a hash table without limit */
	uint32_t used;          /* bins */
	uint32_t size;          /* bins, or bytes of `packed` */
	uint8_t late_n, late_cap;
	uint8_t coarse; /* binary digits by which the bins are wider than the narrowest */
	bool is_packed;
	uint64_t n;      /* samples */
	uint64_t weight; /* their weights */
	uint64_t max;
	dist_sum sum;
};

void dist_add(struct dist *d, uint64_t value, uint64_t weight);
/* For values that vary little about the first, which may be large: bins are finest around it. */
void dist_add_near(struct dist *d, uint64_t value, uint64_t weight);
/* All values of another; neither has values near one. */
void dist_add_all(struct dist *d, const struct dist *from);
/* Make the bins as wide as `coarse` says, unless it has few or a hash table. */
void dist_coarsen(struct dist *d, unsigned int coarse);
/* Hardly any value will come: it keeps no more memory than its bins need. */
void dist_trim(struct dist *d);
void dist_free(struct dist *d);

/* All of these give 0 for an empty distribution. */
double dist_mean(const struct dist *d);
/* Not of one with values near another. */
uint64_t dist_weight_of_zero(const struct dist *d);
/* Weighted nearest rank (Hyndman & Fan 1996, type 1); q in (0, 1]. */
double dist_quantile(const struct dist *d, double q);
/* Whether at least 10 samples lie beyond the quantile, as they must before it is printed. */
int dist_quantile_supported(const struct dist *d, double q);
/* Mean absolute deviation from the median: J of the method, where values are delays. */
double dist_mean_abs_dev(const struct dist *d);
/* Wasserstein-1 distance between two distributions, by the area between their CDFs. */
double dist_w1(const struct dist *a, const struct dist *b);

#endif
