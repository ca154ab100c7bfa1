/* SPDX-License-Identifier: MIT */
/*
 * Losses of the network and its ends: packets dropped by the kernel, retransmissions, timeouts and
 * resets, of all flows and of groups of flows.
 */
#ifndef MAGNET_CORRELATE_RENDER_LOSSES_H
#define MAGNET_CORRELATE_RENDER_LOSSES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/contract.h"
#include "figures/figures.h"

/* Packets dropped on the way to or from sockets, for one reason at one place. */
struct drop_sum {
	bool rx;
	/* the layer is NULL if the place does not identify it */
	const char *reason, *location, *layer;
	uint64_t n, segs, bytes;
	uint64_t discarded; /* segments without payload that TCP itself discarded: no loss */
};

/* The list is sorted by count, the highest first. */
struct drop_sums {
	struct drop_sum *v;
	size_t n;
};

/* Adds a drop. Returns false if memory is short. */
bool drop_sums_add(struct drop_sums *all, const struct drop *d);
void drop_sums_sort(struct drop_sums *all);
void drop_sums_free(struct drop_sums *all);
/* Return how many of the packets were lost. */
uint64_t drop_sum_lost(const struct drop_sum *d);
uint64_t drop_sums_lost(const struct drop_sums *all);
/*
 * Returns whether the packets are TCP's, without payload, and found no socket: those of refused
 * connections, and what comes after a connection was closed. No data are lost with them.
 */
bool drop_sum_no_socket(const struct drop_sum *d);

/* Returns whether TCP dropped them as it had the data already: they were late, or sent twice. */
bool drop_sum_is_copy(const struct drop_sum *d);

struct losses {
	/*
	 * TCP connections, all and those with losses; with both ends recorded, a connection counts
	 * once
	 */
	uint64_t connections, connections_hit;
	uint64_t sockets, sockets_hit; /* other sockets */
	uint64_t retransmits, retransmitted_bytes, resent_bytes, timeouts, syn_retries;
	uint64_t synack_retries; /* retransmitted SYN-ACKs, which count as retransmits like SYNs */
	uint64_t resets_sent, resets_received;
	uint64_t listen_drops; /* packets that listening sockets dropped */
	uint64_t dropped;      /* packets, without those that TCP itself discarded */
	struct drop_sums drops;
	struct dist wait; /* time of retransmitted bytes from the first to the last copy, cycles */
};

/* Both flows of a socket, and which of them the filter takes: the other one has no losses. */
struct taken_socket {
	struct fact_flow flow[2]; /* sent, received */
	bool has[2];
};

/* Asks the filter about both flows, which then have the window's counters. Returns whether it takes
 * one. */
bool losses_take_socket(struct core *c, struct taken_socket *s);

struct report;
/* Add all sockets but netlink's, each once, as losses_take_socket() has left them, and all drops;
 * the latter returns 0 or -ENOMEM. */
void losses_add_socket(struct losses *l, struct core *c, const struct taken_socket *s);
int losses_add_drops(struct losses *l, const struct core *c, const struct fact_recording *r);
void losses_free(struct losses *l);

/* Events that losses are counted by. */
#define LOSS_EVENTS MG_EVENTS(tcp_retransmit, tcp_reset, drop)

/* Returns whether the recording has retransmitted SYN-ACKs. */
bool losses_know_synacks(const struct report *r);

/* Returns whether some of these events may be missing: their counts are lower bounds then. */
bool losses_may_miss(const struct report *r, struct mg_events events);

/* text_losses.c: prints the lines for the report's head; nothing if there was no loss. */
void text_losses(const struct report *r, FILE *to, bool colour);
/* Prints a line for each kind of drop, below a waterfall. */
void text_drop_sums(const struct drop_sums *all, FILE *to);

#endif
