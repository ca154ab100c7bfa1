/* SPDX-License-Identifier: MIT */
/*
 * Sums of what became of requests in a server's program, from facts (method, "In the program"):
 * over all exchanges of a port, those about as long as the median, and the longest.
 */
#ifndef MAGNET_CORRELATE_FIGURES_IN_PROGRAM_H
#define MAGNET_CORRELATE_FIGURES_IN_PROGRAM_H

#include "facts/facts.h"
#include "figures/causes.h"
#include "hash.h"

/* Identity of a part; compared as bytes, all of which are set. */
struct program_key {
	const char *call; /* NULL: none, or not known */
	uint8_t addr[16]; /* the peer that it waited for, with a port */
	uint16_t port;    /* 0: none is known */
	uint8_t part;     /* enum fact_program_part */
	uint8_t in;       /* enum fact_blocked; enum fact_not_divided of PROGRAM_UNKNOWN; or none */
	uint32_t io;      /* 0, 1 or FACT_MAYBE */
};

/* One part of one exchange. */
struct program_time {
	struct program_key key;
	uint64_t time, tid; /* cycles; FACT_NONE: several threads */
};

/* The parts of one exchange, the longest first. */
#define PROGRAM_TIMES 32
struct program_times {
	uint32_t n;
	uint64_t sock, ordinal; /* the exchange */
	struct program_time part[PROGRAM_TIMES];
};

/* By the time in the program: four bins for each power of two. */
#define PROGRAM_BINS 256

/* A part, over exchanges. */
struct program_row {
	struct program_key key;
	uint64_t n, time, max; /* exchanges with it; cycles */
	uint64_t middle, tail; /* the same of exchanges as long as the median, and of the longest */
	uint64_t *in_bin;      /* NULL once all is read */
	uint64_t *in_whole;    /* time by causes_bin() of the exchanges' whole time */
	UT_hash_handle hh;
};

struct program_table {
	struct program_row *rows; /* a hash table; the longest first once all is read */
	uint64_t n, time;         /* exchanges, and their time in the program */
	uint64_t rest;            /* part of it for which there was no row */
	uint64_t middle, tail;
	uint64_t tail_n; /* exchanges in the tail */
	uint64_t *in_bin, *n_in_bin;
	uint64_t *in_whole;
};

/*
 * Adds a fact, in_program or one with the same columns, to the parts of its exchange; those of an
 * earlier exchange are forgotten.
 */
void program_times_add(struct program_times *p, const void *fact);
/* Leaves out the parts in which a thread waited for this peer. */
void program_times_leave_out(struct program_times *p, const struct fact_address *peer);
/* Whether these are the parts of this exchange. */
bool program_times_are_of(const struct program_times *p, const struct fact_exchange *f);
/* Returns a copy, sorted; NULL without memory. */
struct program_times *program_times_copy(const struct program_times *p);
/* `whole` is causes_bin() of the exchange's whole time, CAUSE_BINS if that is not known. */
void program_table_add(struct program_table *t, const struct program_times *p, uint32_t whole);
/*
 * Returns the row with the longest time in exchanges whose whole time is in these bins, and its
 * share of the time that they have in the table; NULL if there is none.
 */
const struct program_row *program_table_longest(
	const struct program_table *t, uint32_t first, uint32_t last, double *share);
/* Returns the time, in cycles, that exchanges whose whole time is in these bins have in the table.
 */
uint64_t program_table_time(const struct program_table *t, uint32_t first, uint32_t last);
/* Call it once all is read. */
void program_table_finish(struct program_table *t);
void program_table_free(struct program_table *t);

#endif
