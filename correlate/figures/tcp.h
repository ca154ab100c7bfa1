/* SPDX-License-Identifier: MIT */
/* Sums up the recorded protocol state of a connection, from facts. */
#ifndef MAGNET_CORRELATE_FIGURES_TCP_H
#define MAGNET_CORRELATE_FIGURES_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/facts.h"
#include "figures/tcp_table.h"

/* Statistics of values with equal weight. */
struct extent {
	uint64_t n, min, max;
	double sum;
};

/* A counter that only grows, of which the recording saw a part. */
struct growing {
	uint64_t first, last;
	bool known;
};

struct zero_window {
	uint64_t n;      /* times the window closed */
	uint64_t cycles; /* time it was closed */
	uint64_t since;
	bool is_closed;
};

/* Who uses a counter beside its figure, see tcp_table.h. */
enum counter_use { QUIET, NOTABLE, SAID };

/* clang-format off */
#define TCP_EXTENT(S, name)            struct extent name;
#define TCP_GROWTH(S, name, type)      struct growing name;
#define TCP_COUNT(S, name, event, n, use) uint64_t name;
/* Protocol state recorded of a socket. */
struct tcp_record {
	MG_TCP_SUMS(TCP_EXTENT, TCP_GROWTH, TCP_COUNT)
	struct extent snd_wnd, rcv_wnd;
	struct zero_window own, peer;
	uint32_t ssthresh;        /* latest value */
	const char *reset_reason; /* of the last reset that has one; NULL: none has */
	char algorithm[17];       /* algorithm in use at last, "" = not recorded */
};
#undef TCP_EXTENT
#undef TCP_GROWTH
#undef TCP_COUNT
/* clang-format on */

void tcp_add(struct tcp_record *r, const struct fact_state *f);
/* Call it when the socket has closed, or the recording has ended. */
void tcp_end(struct tcp_record *r, uint64_t now);
/* Adds what happened to another connection. */
void tcp_sum(struct tcp_record *sum, const struct tcp_record *r);
/* Returns whether anything happened to it that is rare. */
bool tcp_is_eventful(const struct tcp_record *r);
double extent_mean(const struct extent *x);

#endif
