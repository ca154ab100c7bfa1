/* SPDX-License-Identifier: MIT */
/*
 * Numbers what flows have in common that are reported together: program, protocol, direction, side
 * and the server's port. There may be tens of thousands of flows, whose sockets are packed: this is
 * noted of each when all are looked at.
 */
#ifndef MAGNET_CORRELATE_RENDER_ALIKE_H
#define MAGNET_CORRELATE_RENDER_ALIKE_H

#include <stdint.h>

#include "facts/facts.h"

struct alike_key {
	char comm[16];
	uint16_t port; /* the server's port; 0 = not recorded */
	uint8_t rx, kind, side;
	uint8_t none; /* 0, as two are compared as memory */
};

struct alike;
struct alikes {
	struct alike *all;
	uint32_t n;
};

struct alike_key alike_key_of(const struct fact_flow *f);
/* Returns the number of flows like this one, from 0 on; `n` if memory is short. */
uint32_t alike_number(struct alikes *a, const struct fact_flow *f);
void alikes_free(struct alikes *a);

#endif
