/* SPDX-License-Identifier: MIT */
/*
 * A capture's clock related to the recording's, as those of two hosts are (core/clock/hosts.h), by
 * the packets that both have (method, "Captures"): whatever captured a packet that a socket sent
 * saw it after the device's queue got it; one that a socket received, before IP handed it to the
 * transport. That is so on the same host, on the wire and on another host.
 */
#ifndef MAGNET_CORRELATE_CAPTURE_CAPTURE_CLOCK_H
#define MAGNET_CORRELATE_CAPTURE_CAPTURE_CLOCK_H

#include "capture/match.h"
#include "capture/reader.h"
#include "core/clock/hosts.h"

struct capture_clock {
	const struct traffic *t;
	struct hosts hosts; /* A: the recording, CLOCK_MONOTONIC; B: the capture less the guess */
	uint32_t *covered;  /* bytes of each received packet that were captured, + 1 */
	bool has_guess;
	/* by a first packet: what the capture's clock is ahead by, modulo 2^64 */
	uint64_t guess_ns;
	uint64_t first_ns, last_ns; /* of the packets that relate them, by the capture's clock */
};

void capture_clock_init(struct capture_clock *c, const struct traffic *t, double resolution_ns);
void capture_clock_free(struct capture_clock *c);
/* Adds a captured packet if the recording has just one that it can be. */
void capture_clock_add(struct capture_clock *c, const struct matcher *m, const struct captured *p,
	const struct frame *f);
/* Call it after all packets. */
void capture_clock_solve(struct capture_clock *c);

/*
 * Returns the time of the recording at which the capture's clock showed `ns`, or a guess; 0 if
 * nothing is known. `half_ns` gets the bound of its error, NAN for a guess.
 */
uint64_t capture_clock_time(const struct capture_clock *c, uint64_t ns, double *half_ns);

#endif
