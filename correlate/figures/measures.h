/* SPDX-License-Identifier: MIT */
/*
 * Sums up facts about each flow: packets at each layer, the time of bytes in each
 * stage, and between the ends (method, "Residence", "Modulation").
 */
#ifndef MAGNET_CORRELATE_FIGURES_MEASURES_H
#define MAGNET_CORRELATE_FIGURES_MEASURES_H

#include "core/contract.h"
#include "figures/recent.h"
#include "figures/slow_ranges.h"
#include "figures/tcp.h"
#include "figures/timed_sums.h"
#include "filter/filter.h"
#include "sums/dist.h"
#include "sums/series.h"
#include "sums/units.h"
#include "sums/waterfall.h"

/* Bytes that share what held them in the send buffer last, and what let them go. */
struct why_row {
	uint8_t reason, release;
	uint64_t n, bytes;
	unsigned __int128 wait; /* cycles times bytes */
};

/* Causes of waits in the send buffer. */
struct why_sums {
	struct why_row *row;
	uint32_t rows;
	unsigned __int128 wait[WHYS]; /* cycles times bytes */
	uint64_t bytes[WHYS];         /* bytes that waited for it at all */
	uint64_t cycles[WHYS];        /* time it held the queue */
	/* part of all these waits in which earlier bytes were to be sent again; likewise */
	unsigned __int128 lost;
};

/* Bytes that were sent more than once. */
struct resent_sums {
	struct dist wait; /* TX: from the first copy to the last one, cycles, by bytes */
	/* first to last timestamp of bytes left out of the stages, likewise */
	struct dist left_out;
};

/* Bins of their times: 1/64 of the value is fine enough, and few bins are fast. */
#define EXCHANGE_BINS 4
/* Exchanges of a socket, or of many. */
struct exchange_counts {
	uint64_t answered, unanswered, unasked;
	uint64_t unsure;  /* those of the answered of which no times are known */
	uint64_t assumed; /* those of the answered of which it is a guess who asked */
};

struct exchange_group;
struct flow_window;
struct flow_measures {
	struct unit_stats units[TX_LAYERS]; /* RX_LAYERS is not more */
	/* RX, not TCP's: the calls whose bytes it received; NULL: none */
	struct unit_stats *from;
	uint64_t last_from;            /* time of the last of them */
	struct series *series;         /* of the layers and of `from`; NULL unless asked for */
	struct dist stage[STAGES_MAX]; /* cycles, weighted by bytes */
	struct dist residence;         /* first to last timestamp, cycles, by bytes */
	struct waterfall waterfall;    /* stages by their total, by bytes */
	struct dist last_byte;         /* first to last timestamp of each call's last byte */
	struct dist shift;             /* TX: U0 to X, RX: the peer's U0 to U1, by bytes */
	struct dist transit;           /* RX: the peer's X to R */
	struct dist retry;             /* TX: from a refused call until bytes are copied again */
	struct dist *zerocopy;         /* TX: for how long the kernel held pages; NULL: none */
	struct timed_sums *timed;      /* TX; NULL: none */
	struct resent_sums *resent;    /* NULL: nothing was sent again */
	struct why_sums *why;          /* TX; NULL: nothing waited */
	struct {                       /* TX: of the socket */
		struct exchange_group *group; /* NULL: not known */
		struct exchange_counts counts;
		struct dist to_reply, in_program; /* cycles */
		/* of this flow itself; NULL: none */
		struct recent_bytes *recent;
		bool aside; /* they may be a tracer's, see struct exchange_group */
	} exchanges;
	struct tcp_record *tcp;     /* TX: of the whole connection; NULL: nothing recorded */
	struct slow_ranges *slow;   /* NULL: none, or not asked for */
	struct flow_window *window; /* NULL: all of the recording counts, or nothing of it */
};

/* Memory that all flows' measures share. */
struct measures_memory {
	struct dist_pool dists;
	struct series_pool series;
	bool *due;                   /* set when the distributions exceed their limit */
	uint32_t recents;            /* number of `exchanges.recent` */
	uint32_t slowest;            /* byte ranges to keep of each flow */
	const struct filter *filter; /* NULL: all of the recording counts */
	struct core *core;
	void (*resent)(void *arg, const struct fact_resent *f); /* NULL: nobody asks */
	void *resent_arg;
};

/*
 * Returns how long a flow's bytes waited in all, by which flows are put in order: from layer to
 * layer, weighted by bytes, or else the last byte of each send by the kernel's timestamps, at most.
 */
dist_sum measures_wait(const struct flow_measures *m);
/* Registers for every fact of the core about flows from now on. */
void measures_listen(struct measures_memory *m, struct core *c);
/* Return what is measured of a flow, all of it empty where nothing is. */
const struct flow_measures *measures(const struct fact_flow *f);
const struct flow_measures *measures_by_id(struct fact_flow_id id);
/* Returns what is recorded of its connection's protocol state, NULL for nothing. */
const struct tcp_record *measures_tcp(const struct fact_flow *f);
/* Returns the measures of a fact's flow, made if needed; NULL if memory is short. */
struct flow_measures *measures_made(struct measures_memory *with, const struct fact_flow_id *of);
/* Returns empty measures without limit, for sums of several flows; NULL if memory is short. */
struct flow_measures *measures_new(void);
/* Returns whether it is certain which bytes belong to the exchange, which has times then. */
static inline bool exchange_is_sure(const struct fact_exchange *f)
{
	return f->answer == ANSWERED && !f->overlaps && !f->several_peers && !f->lost;
}
void exchange_count(struct exchange_counts *n, const struct fact_exchange *f);
/* Adds those of a flow, but for packets and series; neither may be NULL. */
void measures_add(struct flow_measures *sum, const struct flow_measures *m);
void measures_free(struct flow_measures *m);

/* ---- as a state of the core's flows, see struct core_client ---- */

void measures_on_gap(
	void *memory, struct fact_flow_id of, uint32_t layers, uint64_t from, uint64_t to);
void measures_free_state(void *state);
void measures_ended(void *state, uint64_t now);

#define MEASURES_DISTS (TX_LAYERS + STAGES_MAX + 8)
/* Fills in all distributions with limited memory. Returns how many there are. */
uint32_t measures_dists(struct flow_measures *m, struct dist *all[MEASURES_DISTS]);
/* Has the limit kept after the present event, if it is exceeded. Call it when something was added.
 */
static inline void measures_check(struct measures_memory *m)
{
	if (dist_pool_check(&m->dists))
		*m->due = true;
}
/* Makes the distributions share the memory, as new ones and unpacked ones must. */
void measures_share(struct flow_measures *m, struct measures_memory *with);

#endif
