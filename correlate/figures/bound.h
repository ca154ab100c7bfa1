/* SPDX-License-Identifier: MIT */
/* Bounds the memory of all flows' distributions together, see struct core_client. */
#ifndef MAGNET_CORRELATE_FIGURES_BOUND_H
#define MAGNET_CORRELATE_FIGURES_BOUND_H

#include "figures/measures.h"

void bound_init(struct measures_memory *m);
/* Widens the bins if the limit is exceeded. */
void bound_between(void *memory, struct core *c);
/* Frees spare memory of a flow that hardly any event will concern. */
void bound_trim(void *memory, void *state);
/* Accounts for the memory of packed sockets. */
void bound_packed(void *memory, size_t more, size_t less);

#endif
