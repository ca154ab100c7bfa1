/* SPDX-License-Identifier: MIT */
/* Sums up the recorded protocol state of a connection, from facts. */
#ifndef MAGNET_CORRELATE_FIGURES_TCP_H
#define MAGNET_CORRELATE_FIGURES_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/facts.h"

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

/* Protocol state recorded of a socket. */
struct tcp_record {
	struct extent srtt_us, rto_us, cwnd, snd_wnd, rcv_wnd, pacing_rate, notsent;
	struct growing delivered, lost, busy_us, rwnd_limited_us, sndbuf_limited_us;
	struct zero_window own, peer;
	uint64_t cong_changes, recoveries, timeouts, resets_sent, resets_received;
	uint32_t ssthresh;        /* latest value */
	const char *reset_reason; /* of the last reset that has one; NULL: none has */
	char algorithm[17];       /* algorithm in use at last, "" = not recorded */
};

void tcp_add(struct tcp_record *r, const struct fact_state *f);
/* Call it when the socket has closed, or the recording has ended. */
void tcp_end(struct tcp_record *r, uint64_t now);
double extent_mean(const struct extent *x);

#endif
