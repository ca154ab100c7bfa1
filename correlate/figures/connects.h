/* SPDX-License-Identifier: MIT */
/* Statistics of attempts to open TCP connections, from facts. */
#ifndef MAGNET_CORRELATE_FIGURES_CONNECTS_H
#define MAGNET_CORRELATE_FIGURES_CONNECTS_H

#include "core/contract.h"
#include "sums/dist.h"

struct connect_stats {
	uint64_t n, failed, open; /* open: when the recording ended */
	struct dist took;         /* of all, cycles */
};

/* Registers for every attempt of the core from now on. */
void connects_listen(struct connect_stats *s, struct core *c);
void connects_free(struct connect_stats *s);

#endif
