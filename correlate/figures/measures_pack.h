/* SPDX-License-Identifier: MIT */
/* Packs what is measured of the flows of closed sockets, see struct core_client. */
#ifndef MAGNET_CORRELATE_FIGURES_MEASURES_PACK_H
#define MAGNET_CORRELATE_FIGURES_MEASURES_PACK_H

#include "figures/measures.h"

/* Returns whether the measures hold only what can be packed. */
bool measures_fit(const void *state);
/* Returns the bytes that count towards the memory limit, without hash tables. */
size_t measures_size(const void *state);
void measures_pack(const void *state, struct packing *to);
/* Returns NULL or measures that can only be freed, and sets `failed`, if memory is short. */
void *measures_unpack(void *memory, struct unpacking *from);

#endif
