/* SPDX-License-Identifier: MIT */
/*
 * What the network and its ends lost: packets that the kernel threw away, segments sent again,
 * timeouts and resets; of all flows, and of flows taken together.
 */
#ifndef MAGNET_CORRELATE_RENDER_LOSSES_H
#define MAGNET_CORRELATE_RENDER_LOSSES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core.h"

/* Packets dropped on the way to sockets, or from them, for one reason at one place. */
struct drop_sum {
	bool rx;
	const char *reason, *location, *layer; /* the layer is NULL if the place does not tell */
	uint64_t n, segs, bytes;
	uint64_t discarded; /* segments without payload that TCP itself threw away: no loss */
};

/* The most frequent ones first. */
struct drop_sums {
	struct drop_sum *v;
	size_t n;
};

/* Adds one; false without memory. */
bool drop_sums_add(struct drop_sums *all, const struct drop *d);
void drop_sums_sort(struct drop_sums *all);
void drop_sums_free(struct drop_sums *all);
/* How many of its packets were lost by it. */
uint64_t drop_sum_lost(const struct drop_sum *d);
uint64_t drop_sums_lost(const struct drop_sums *all);

struct losses {
	uint64_t connections, connections_hit; /* TCP's; with both ends recorded, one */
	uint64_t sockets, sockets_hit;         /* others */
	uint64_t retransmits, retransmitted_bytes, resent_bytes, timeouts, syn_retries;
	uint64_t synack_retries; /* SYN-ACKs sent again, among the retransmits as SYNs are */
	uint64_t resets_sent, resets_received;
	uint64_t listen_drops; /* packets that listening sockets dropped */
	uint64_t dropped;      /* packets, without those that TCP itself discarded */
	struct drop_sums drops;
	struct dist wait; /* of bytes sent again, from the first copy to the last, cycles */
};

struct report;
/* Each socket of a report is added once, but netlink's, and all drops; the latter 0 or -ENOMEM. */
void losses_add_socket(struct losses *l, const struct mg_sock *s);
int losses_add_drops(struct losses *l, const struct core *c);
void losses_free(struct losses *l);

/* What losses are counted by. */
#define LOSS_EVENTS (EVENT_BIT(tcp_retransmit) | EVENT_BIT(tcp_reset) | EVENT_BIT(drop))

/* Whether SYN-ACKs that were sent again are in the recording. */
bool losses_know_synacks(const struct report *r);

/* Whether these events of the ring may be missing: their counts are least counts then. */
bool losses_may_miss(const struct report *r, uint64_t events);

/* (json_losses.c) */
json_t *json_losses(const struct report *r);
/* A list; null where drops were not observed. */
json_t *json_drop_sums(const struct report *r, const struct drop_sums *all);

/* (text_losses.c) The lines of the report's head; nothing where there was no loss. */
void text_losses(const struct report *r, FILE *to, bool colour);
/* A line for each kind of drop, below a waterfall. */
void text_drop_sums(const struct drop_sums *all, FILE *to);

#endif
