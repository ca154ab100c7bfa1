/* SPDX-License-Identifier: MIT */
/*
 * Sums of exchanges by listening port and by peer, and the slowest of them, from facts (method,
 * "Exchanges"). Those of each connection are among its measures.
 */
#ifndef MAGNET_CORRELATE_FIGURES_EXCHANGES_H
#define MAGNET_CORRELATE_FIGURES_EXCHANGES_H

#include "core/contract.h"
#include "figures/causes.h"
#include "figures/in_program.h"
#include "figures/measures.h"
#include "hash.h"
#include "sums/dist.h"

/* A server is known by its port, a client by where it asks. */
struct exchange_key {
	uint8_t role, kind;
	uint16_t port;    /* of the server; 0: it has none, or it is not known */
	uint8_t addr[16]; /* client: the server's, 0: not known */
	char program[16]; /* "": not known */
	uint16_t aside;   /* 1: it may be a tracer's, see is_aside of the group */
};

/* Time to the reply, and its parts: before the server's program, in it, and after it. */
enum exchange_time { TIME_TO_REPLY, TIME_WAY, TIME_PROGRAM, TIME_BACK, EXCHANGE_TIMES };

/*
 * Values in bins of 1/512 to 1/1024 of the value. Simpler than a distribution, and several times as
 * fast; it becomes one when all is read.
 */
#define TIME_BITS    9
#define TIME_DOUBLES (64 - TIME_BITS + 1)
struct exchange_bins {
	uint32_t *n[TIME_DOUBLES]; /* of each doubling 1 << TIME_BITS; NULL: no value yet */
	uint64_t min, max;
	unsigned __int128 sum;
	bool any;
};

/* Whether a client's exchanges are divided by an answer of both hosts (hosts/joint.h). */
enum exchange_together {
	APART,          /* no, or a part of them alone */
	TOGETHER_FIRST, /* by the one that is printed first */
	TOGETHER,       /* by another one */
};

struct exchange_group {
	struct exchange_key key;
	struct exchange_counts counts;
	struct dist unanswered; /* until the connection or the recording ended, cycles */
	/* from requests' first byte to their last, at this end, of those with a reply; cycles */
	uint64_t in_requests;
	uint64_t pipelined, half_closed;
	uint64_t request_bytes, reply_bytes;
	uint64_t divided_bytes; /* of both, those of exchanges that were divided by cause */
	struct exchange_bins bins[EXCHANGE_TIMES];
	struct dist time[EXCHANGE_TIMES]; /* cycles; empty until all is read */
	struct program_table program;     /* what a server's time in the program was */
	struct program_table reader;      /* and that before requests were read */
	struct program_table replies;     /* and that from the first to the last call of replies */
	struct cause_bins *causes;        /* NULL: none is known */
	/*
	 * UNIX sockets that are not the program's own business, as far as can be told: LTTng's
	 * programs use them, or only calls that libmagnet.so did not record although it was there,
	 * such as those of LTTng-UST in the program itself. Known once all is read.
	 */
	bool is_aside;
	enum exchange_together together;
	UT_hash_handle hh;
};

/* One of the slowest; what the fact points to is copied. */
struct slow_exchange {
	struct fact_exchange fact;
	uint8_t local[16], remote[16];
	bool has_local, has_remote;
	char program[16];
	uint64_t span[EXCHANGE_TIMES]; /* cycles, FACT_NONE if not known */
	struct program_times *parts;   /* of the time in the program; NULL: not known */
	struct exchange_causes causes;
};

/* The slowest so far: a heap, the least slow first. */
struct slow_heap {
	struct slow_exchange *v;
	uint32_t n;
};

/* One exchange, as one end recorded it, and when the server had read it; 0: not known. */
struct exchange_id {
	uint64_t sock, ordinal;
	bool rx; /* direction of the request */
	uint64_t server_request_last;
};

/* An exchange that was divided by cause. What it points to is valid during the call. */
struct divided_exchange {
	const struct fact_exchange *fact;
	struct exchange_group *group; /* valid as long as the table */
	const struct exchange_causes *causes;
	const struct exchange_causes *part; /* CAUSE_PARTS of a server's; NULL: a client's */
	struct client_waits waits;          /* a client's */
};

struct exchange_table {
	struct core *core;
	void (*divided)(void *arg, const struct divided_exchange *d); /* NULL: nobody asks */
	void *divided_arg;
	struct exchange_group *groups; /* a hash table */
	uint64_t left_out;             /* exchanges beyond the groups there is room for */
	struct slow_heap heap[2];      /* those that are not aside, and those that are */
	struct slow_exchange *slow;    /* of both, the slowest first; empty until all is read */
	uint32_t slow_n, slow_max;
	const struct exchange_id *only; /* NULL: any may be one of the slowest */
	bool has_app;                   /* the application side was recorded; known at the end */
	/* parts of the exchange that comes next */
	struct program_times latest, before_read, in_reply;
};

#define EXCHANGES_SLOWEST     10
#define EXCHANGES_SLOWEST_MAX 10000

void exchange_table_listen(struct exchange_table *t, struct core *c);
/* Keeps so many of the slowest. Call it before the first event. */
void exchange_table_keep(struct exchange_table *t, uint32_t slowest);
/*
 * Keeps that exchange and its server's end alone, instead of the slowest. The caller's `only` is
 * there as long as the table. Call it before the first event.
 */
void exchange_table_keep_only(struct exchange_table *t, const struct exchange_id *only);
/* Sorts the slowest, the slowest first, once the recording is read. */
void exchange_table_finish(struct exchange_table *t);
/* Returns the whole time of an exchange, or what is known of it: that by which it is slow. */
uint64_t slow_exchange_whole(const struct slow_exchange *s);
void exchange_table_free(struct exchange_table *t);

#endif
