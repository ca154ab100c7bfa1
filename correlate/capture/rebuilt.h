/* SPDX-License-Identifier: MIT */
/* Writes the packets of a recording as a capture in pcapng, with headers rebuilt from events. */
#ifndef MAGNET_CORRELATE_CAPTURE_REBUILT_H
#define MAGNET_CORRELATE_CAPTURE_REBUILT_H

#include <stdio.h>

#include "capture/traffic.h"

struct rebuilt_about {
	const char *host, *kernel, *program; /* NULL: not known */
};

/* Numbers of packets. */
struct rebuilt_counts {
	uint64_t sent, received; /* recorded */
	uint64_t looped;         /* pairs of them that are one packet on the loopback device */
	uint64_t devices;
	uint64_t without_end; /* of the written: an address is not known, and 0 */
};

/* Returns false if writing failed. `counts` gets what was written. */
bool rebuilt_write(FILE *to, const struct traffic *t, const struct rebuilt_about *about,
	struct rebuilt_counts *counts);

#endif
