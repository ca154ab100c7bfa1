/* SPDX-License-Identifier: MIT */
/* Making and freeing the rings of chosen tracepoints. */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_RINGS_OPEN_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_RINGS_OPEN_H

#include "events/chosen_rings.h"

/* Opens the rings without starting to record. `ring_bytes` is a power of two. */
int chosen_rings_open(struct chosen_rings **out, struct chosen_list *l, int tracefs,
	uint64_t ring_bytes, char *why, size_t size);
void chosen_rings_free(struct chosen_rings *r);

#endif
