/* SPDX-License-Identifier: MIT */
/*
 * Divides the time of exchanges by cause, for fast and slow ones apart (method, "The answer"): at
 * each time that exchanges took, the sum of each cause.
 */
#ifndef MAGNET_CORRELATE_FIGURES_CAUSES_H
#define MAGNET_CORRELATE_FIGURES_CAUSES_H

#include "facts/facts.h"
#include "figures/cause_table.h"
#include "figures/recent.h"

/* Bins of the whole time, eight for each doubling. */
#define CAUSE_BITS 3
#define CAUSE_BINS ((64 - CAUSE_BITS + 1) << CAUSE_BITS)

/* At whose end: that of the exchange itself, or the other one, if that is recorded too. */
enum cause_end { END_OWN, END_FAR, CAUSE_ENDS };

struct cause_sums {
	uint64_t n;    /* exchanges */
	uint64_t time; /* their whole time, cycles */
	uint64_t cause[CAUSE_ENDS][CAUSES];
};

/* One exchange. */
struct exchange_causes {
	uint64_t begin,
		end; /* server: from the request's arrival until the reply had left; client:
		      * from the request's first call until the reply was read; 0: not known */
	uint64_t cause[CAUSE_ENDS][CAUSES]; /* they sum to the time between */
};

struct cause_bins {
	struct cause_sums *bin[CAUSE_BINS]; /* NULL: none took so long */
	uint64_t n;
	struct exchange_causes slowest;
};

/*
 * Divides one exchange. `request` and `reply` are what happened lately to the bytes of either, and
 * may be NULL.
 */
void causes_divide(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes *to);
/*
 * Divides a server's exchange in three: until the program had the request, until the driver had the
 * reply's first byte, and from then on. A client on another host waits for the first two, and
 * receives during the third.
 */
enum cause_part { UNTIL_READ, UNTIL_DEPARTURE, AFTER_DEPARTURE, CAUSE_PARTS };
void causes_divide_in_parts(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct exchange_causes to[CAUSE_PARTS]);
/* Waits of a client of which another host may know more; cycles. */
struct client_waits {
	uint64_t lost;      /* due to retransmissions, between the request's departure and the
			     * reply's arrival */
	uint64_t late;      /* from the reply's arrival until its first byte was read; 0 if one call
			     * read all of it */
	uint64_t arriving;  /* from then on */
	uint64_t lost_here; /* due to retransmissions, since the reply's first copy came */
};
void causes_client_waits(const struct fact_exchange *f, const struct recent_bytes *request,
	const struct recent_bytes *reply, struct client_waits *to);
/* Adds an exchange to the sums, which are made if needed. */
void causes_add(struct cause_bins **bins, const struct exchange_causes *e);
void causes_free(struct cause_bins *bins);
/* Returns the cause that a stage of received bytes is. */
enum cause cause_of_rx_stage(int stage);
/* Returns the label and remedy of a cause. */
const char *cause_name(enum cause cause);
const char *cause_label(enum cause cause);
const char *cause_remedy(enum cause cause);
/* Returns the bin of exchanges that took so long, in cycles. */
uint32_t causes_bin(uint64_t time);
/* Sets the bins of the quantiles from `low` to `high`; false if there is no exchange. */
bool causes_bins_at(
	const struct cause_bins *bins, double low, double high, uint32_t *first, uint32_t *last);
/*
 * Adds up the exchanges between two quantiles, at least one. Of those in a bin that is only partly
 * between them, each counts with the bin's mean. Around the median they are at most about an eighth
 * shorter or longer than it; at the quantile 1 is the slowest alone.
 */
void causes_between(const struct cause_bins *bins, double low, double high, struct cause_sums *sum);
/* Returns the cause with the largest sum, and at which end. */
enum cause causes_largest(const struct cause_sums *sum, enum cause_end *end);

#endif
