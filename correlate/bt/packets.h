/* SPDX-License-Identifier: MIT */
/* The sizes that the packets of a CTF stream tell of themselves, without a look at the metadata's
 * types. */
#ifndef MAGNET_CORRELATE_BT_PACKETS_H
#define MAGNET_CORRELATE_BT_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct packet_layout {
	bool known; /* what LTTng's tracers and magnet's write; of others nothing is said */
	bool big_endian;
	uint32_t sizes_at; /* bytes from the packet's begin to content_size and packet_size */
};

/* `metadata` is its text, which ends with a 0. */
struct packet_layout packet_layout_of(const char *metadata);
/*
 * Whether babeltrace2 comes to the stream's end: a packet that says it has no size, it reads again
 * and again, and remembers it each time. `at` gets where that packet is.
 */
bool packets_are_sane(FILE *stream, uint64_t size, const struct packet_layout *l, uint64_t *at);

#endif
