/* SPDX-License-Identifier: MIT */
/* The sizes in the packet headers of a CTF stream, found without the metadata's types. */
#ifndef MAGNET_CORRELATE_BT_PACKETS_H
#define MAGNET_CORRELATE_BT_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct packet_layout {
	/* set for the layouts of LTTng's and magnet's tracers; other layouts are not checked */
	bool known;
	bool big_endian;
	uint32_t sizes_at; /* bytes from the packet's start to content_size and packet_size */
};

/* Returns the packet layout described by `metadata`, a text that ends with a 0. */
struct packet_layout packet_layout_of(const char *metadata);
/*
 * Returns whether babeltrace2 reaches the stream's end: a packet with size 0 it would read for
 * ever, allocating each time. `at` gets the position of such a packet.
 */
bool packets_are_sane(FILE *stream, uint64_t size, const struct packet_layout *l, uint64_t *at);

#endif
