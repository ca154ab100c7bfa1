/* SPDX-License-Identifier: MIT */
/*
 * A weighted distribution of non-negative integers (cycles, bytes) in bounded memory: values below
 * 2048 are kept exactly, larger ones in bins of 1/1024 relative width, each with the sum of its
 * values. Means and sums are exact; quantiles are off by less than a bin.
 *
 * Distributions that share a pool keep its limit: when all of them together need more, the owner of
 * the pool makes the bins of the larger ones wider (dist_coarsen()).
 */
#ifndef MAGNET_CORRELATE_DIST_H
#define MAGNET_CORRELATE_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A bin. Most of the time of dist_add() is spent waiting for memory, so four bins of neighbouring
 * values share one cache line.
 */
struct dist_bin {
	uint64_t key : 18;    /* 0 = free, else bin + 1 */
	uint64_t weight : 46; /* weight beyond its range goes to `wide` */
	uint64_t above;       /* sum of weight times distance from the bin's begin */
};

/*
 * A recent value that waits for its bin. Waiting values are written in a row without cache misses,
 * and sorted into bins many at a time. Most distributions of short connections never get bins.
 */
struct dist_late {
	uint32_t value, weight; /* larger values go to their bin at once */
};

struct dist_more;

/*
 * A line of the cache with values that wait, filled from its end, or what a waterfall keeps there.
 * Most distributions have one weight only, of each call or of equally long messages.
 */
#define DIST_CELL       14 /* values of one weight */
#define DIST_CELL_MIXED 7  /* values with their weights */
struct dist_cell {
	struct dist_cell *before; /* values that came earlier, or the next spare cell */
	union {
		uint32_t word[DIST_CELL]; /* values of one weight, or a waterfall's */
		struct dist_late mixed[DIST_CELL_MIXED];
	};
};
struct dist_block;

/*
 * Memory of distributions that are bounded together, bytes. Spare cells stay allocated, for values
 * to come, and do not count.
 */
struct dist_pool {
	struct dist_cell *spare;
	struct dist_block *block;    /* where cells are made */
	size_t limit;                /* limit of both sums together */
	size_t used;                 /* packed bins and waiting values */
	size_t tables_limit, tables; /* hash tables, which only busy distributions have */
	/*
	 * three quarters of the limit were reached once: fewer values with weights of their own
	 * wait, and there is hardly any room for tables
	 */
	bool is_scarce;
	/* binary digits by which the bins of large distributions are wider */
	uint8_t coarse;
};
/* Returns whether the limit is exceeded. From a point near it on, memory is scarce. */
static inline bool dist_pool_check(struct dist_pool *p)
{
	size_t all = p->used + p->tables;

	if (all > p->limit / 4 * 3 && !p->is_scarce) {
		p->is_scarce = true;
		p->tables_limit = p->limit / 16;
	}
	return all > p->limit;
}
/* Frees what is left of the pool, after its distributions. */
void dist_pool_free(struct dist_pool *p);
/* The widest bins are 1/8 of the value. */
#define DIST_COARSEST 7
/* A distribution with no more bins than this keeps the narrowest ones. */
#define DIST_FEW 32

typedef unsigned __int128 dist_sum __attribute__((aligned(8)));

/* A distribution. A connection has some forty, so what only few of them need is allocated apart. */
struct dist {
	union {
		struct dist_bin *bins; /* hash table with open addressing, a power of two */
		uint8_t *packed;       /* sorted by key, of variable length */
	};
	struct dist_more *more; /* NULL: none */
	struct dist_pool *pool; /* NULL: a hash table without limit */
	uint32_t used;          /* number of bins */
	uint32_t size;          /* slots, or bytes of `packed` */
	/* values that wait: the last one, and earlier ones in cells; dist_add() reads no cell */
	struct dist_late last;
	struct dist_cell *late;
	uint8_t late_n;    /* number of values, with `last` */
	uint8_t late_left; /* free places in the first cell */
	uint8_t coarse;    /* binary digits by which the bins are wider than the narrowest */
	bool is_packed : 1;
	bool is_mixed : 1;    /* values in cells have more than one weight */
	uint32_t late_weight; /* that of all values in cells, unless it is mixed */
	uint64_t n;           /* samples */
	uint64_t weight;      /* sum of their weights */
	uint64_t max;
	dist_sum sum;
};

void dist_add(struct dist *d, uint64_t value, uint64_t weight);
/* Adds values that vary little about the first, which may be large: bins are finest around it. */
void dist_add_near(struct dist *d, uint64_t value, uint64_t weight);
/* Adds all values of another distribution; neither may have been filled by dist_add_near(). */
void dist_add_all(struct dist *d, const struct dist *from);
/* Widens the bins to `coarse`, unless there are few or they are in a hash table. */
void dist_coarsen(struct dist *d, unsigned int coarse);
/* Frees spare memory; call it when hardly any value will come. */
void dist_trim(struct dist *d);
/* Frees what a distribution can do without where the pool is scarce. */
void dist_save(struct dist *d);
void dist_free(struct dist *d);

/* All of these return 0 for an empty distribution. */
double dist_mean(const struct dist *d);
/* Not valid after dist_add_near(). */
uint64_t dist_weight_of_zero(const struct dist *d);
/* Returns the weighted nearest rank (Hyndman & Fan 1996, type 1); q in (0, 1]. */
double dist_quantile(const struct dist *d, double q);
/* Returns the weight of the values below one, in bins as fine as theirs. */
double dist_weight_below(const struct dist *d, double value);
/*
 * Returns whether at least 10 samples lie beyond the quantile, as they must before it is printed.
 */
int dist_quantile_supported(const struct dist *d, double q);
/* Returns the mean absolute deviation from the median: the method's J, where values are delays. */
double dist_mean_abs_dev(const struct dist *d);
/* Returns the Wasserstein-1 distance of two distributions, the area between their CDFs. */
double dist_w1(const struct dist *a, const struct dist *b);

#endif
