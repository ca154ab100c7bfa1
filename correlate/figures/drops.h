/* SPDX-License-Identifier: MIT */
/* Drops by socket, direction, reason and place, from facts. */
#ifndef MAGNET_CORRELATE_FIGURES_DROPS_H
#define MAGNET_CORRELATE_FIGURES_DROPS_H

#include "core/contract.h"
#include "hash.h"

struct drop_key {
	uint64_t sock;
	char reason[33], location[33];
	uint8_t rx;
};
struct drop {
	struct drop_key key;
	uint64_t n;         /* buffers */
	uint64_t segs;      /* segments or datagrams they stand for */
	uint64_t bytes;     /* their payload */
	uint64_t discarded; /* segments without payload that TCP itself discarded */
	const char *layer;  /* NULL if its place does not tell */
	UT_hash_handle hh;
};

/* Takes every drop of the core from now on into a hash table, which is empty at first. */
void drops_listen(struct drop **drops, struct core *c);
void drops_free(struct drop **drops);

#endif
