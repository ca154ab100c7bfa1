/* SPDX-License-Identifier: MIT */
/*
 * Divides the time of a client's exchange by what its own host and the server's host know of it
 * (method, "The answer", "Two hosts"). Durations are compared, each by its own host's clock; where
 * several exchanges of the server are one of the client's, times by the relation of the clocks.
 */
#ifndef MAGNET_CORRELATE_JOINT_DIVIDE_H
#define MAGNET_CORRELATE_JOINT_DIVIDE_H

#include "clock/hosts.h"
#include "host_exchanges.h"
#include "render/report.h"

/* Both hosts' clocks, and whether the client is on the first one. */
struct joint_clocks {
	const struct hosts *hosts;
	bool client_is_a;
};

/* An exchange as the server's host knows it; one of its cycles is `rate` of the client's host. */
struct server_end {
	const struct kept_exchange *e; /* the first of `n` that are one of the client's */
	size_t n;
	const struct host_exchanges *host;
	double rate;
	/* filled in by joint_divide(): */
	uint64_t known_lost; /* what the client's host has lost, and is not counted yet */
	uint64_t first_lost; /* until the reply's first byte was sent for the last time, cycles of
			      * the client's host */
	uint64_t rest_lost;  /* from then on, until the last of its other bytes was */
	bool by_clocks;      /* it was divided by the relation of the clocks, */
	double clock_half;   /* whose largest error there is this, ns */
};

/*
 * Divides the client's exchange `k`; `far` is filled in but for what was lost. Returns false if
 * that needs the relation of the clocks and it is not known.
 */
bool joint_divide(const struct host_exchanges *asked, const struct kept_exchange *k,
	const struct joint_clocks *clocks, const struct report *client, const struct report *server,
	struct server_end *far, struct exchange_causes *e);

#endif
