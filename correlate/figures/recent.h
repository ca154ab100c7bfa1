/* SPDX-License-Identifier: MIT */
/*
 * Recent history of a flow's bytes: the last ranges, and the times in which something held
 * them. An exchange, which is told after its bytes, finds here where their time went.
 */
#ifndef MAGNET_CORRELATE_FIGURES_RECENT_H
#define MAGNET_CORRELATE_FIGURES_RECENT_H

#include "facts/facts.h"
#include "figures/cause_table.h"

#define RECENT_RANGES 4
#define RECENT_HELD   12
/* Flows with a memory. Later ones have none: their exchanges are divided more coarsely. */
#define RECENT_MAX 8192

struct recent_range {
	uint64_t offset, length;
	uint64_t begin, until; /* first and last time, 0 = not known */
	bool followed;         /* its stages are known */
	uint64_t stage[STAGES_MAX];
};

struct recent_held {
	uint64_t begin, length; /* length: time that is due to this cause */
	uint8_t cause;
};

struct recent_bytes {
	uint32_t *count; /* number of all memories; NULL once the flow has let go of this one */
	struct recent_bytes
		*far;          /* the same bytes at the connection's other end, NULL: not known */
	uint32_t users;        /* the flow, and the other end's memory */
	uint64_t divided;      /* begin of the last exchange that was divided */
	uint64_t queued_until; /* end of the last wait in the device's queue that is held */
	uint64_t closed; /* sent bytes: when the receive window of this end last became zero */
	/* sent messages: their last ranges as the other end received them, whose socket may have
	 * received many others since; NULL: there are none */
	struct recent_range *came;
	uint32_t ranges, held_n, came_n;
	struct recent_range range[RECENT_RANGES]; /* a ring */
	struct recent_held held[RECENT_HELD];     /* by time; when it is full, the oldest goes */
};

/* Returns the cause that a reason of waits in the send buffer is. */
enum cause recent_cause_of_why(enum why_reason why);
/* Returns NULL when there are too many, or without memory. `count` counts them. */
struct recent_bytes *recent_new(uint32_t *count);
/* Ends a flow's use of its memory. */
void recent_free(struct recent_bytes *r);
/* Makes two the ends of one direction. */
void recent_join(struct recent_bytes *sender, struct recent_bytes *receiver);
/* Notes with the sender how its messages were received; `receiver` has that range. */
void recent_came_add(
	struct recent_bytes *sender, const struct recent_bytes *receiver, uint64_t offset);
void recent_range_add(struct recent_bytes *r, const struct fact_range *f);
void recent_unsent_add(struct recent_bytes *r, const struct fact_unsent *f);
void recent_resent_add(struct recent_bytes *r, const struct fact_resent *f);
/*
 * An exchange that began then has been divided: what ended before the one before it is forgotten.
 * The exchange itself may still be needed for the other end.
 */
void recent_divided(struct recent_bytes *r, uint64_t begin);
/* Returns the range that has a byte, NULL if it is not among the last. */
const struct recent_range *recent_find(const struct recent_bytes *r, uint64_t offset);
/* Returns the last range that begins within an interval; NULL if none of the last does. */
const struct recent_range *recent_begun(const struct recent_bytes *r, uint64_t from, uint64_t to);
/*
 * Returns the last range of sent bytes whose receipt at the other end ended in an interval; NULL
 * if none of the last did.
 */
const struct recent_range *recent_came(
	const struct recent_bytes *sender, uint64_t from, uint64_t to);
/* Returns the last time known of bytes between two offsets; 0 if none. */
uint64_t recent_until(const struct recent_bytes *r, uint64_t from, uint64_t to);
/* Adds the times of each cause in an interval. */
void recent_held(const struct recent_bytes *r, uint64_t from, uint64_t to, uint64_t sum[CAUSES]);
/*
 * Returns that of retransmissions. Of received bytes these are known if a copy of them had come to
 * this host and did not come to TCP.
 */
uint64_t recent_lost(const struct recent_bytes *r, uint64_t from, uint64_t to);

#endif
