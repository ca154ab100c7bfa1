/* SPDX-License-Identifier: MIT */
/*
 * Reading of captures, block by block, so that one can be changed and all others stay as they are:
 * libpcap drops options and blocks that it does not know. Files of the older format (pcap) are
 * read, too, each of their records as a block. All that a file says is checked.
 */
#ifndef MAGNET_CORRELATE_CAPTURE_READER_H
#define MAGNET_CORRELATE_CAPTURE_READER_H

#include "capture/block.h"

#define BLOCK_MOST      (64u << 20) /* bytes; larger blocks are refused */
#define INTERFACES_MOST 65536

struct capture_interface {
	uint16_t link_type;
	uint32_t snaplen;
	uint64_t ticks; /* of its time stamps in a second */
	int64_t offset_s;
};

struct capture_reader {
	FILE *from;
	bool is_pcapng, swapped;             /* of the present section */
	struct capture_interface *interface; /* of the present section */
	uint32_t interfaces;
	/* the present block, with its header and trailer; of a pcap file a record with its header
	 */
	uint8_t *block;
	size_t size, room;
	uint32_t type;
	uint64_t at; /* the block's place in the file */
	char why[160];
};

/* A packet of a block. */
struct captured {
	const struct capture_interface *interface;
	bool has_time;
	uint64_t ns;          /* since the epoch */
	double resolution_ns; /* the time stamp's; the time is its begin */
	uint32_t length, original;
	const uint8_t *data;
	size_t options; /* where they begin in the block; 0: it can have none */
};

/* Return 0 or -1 with the reason in `why`. The caller closes the reader in any case. */
int capture_open(struct capture_reader *r, const char *path);
/* Does the same with a stream that can be read again from its beginning, and takes it over. */
int capture_open_stream(struct capture_reader *r, FILE *from);
/* Begins again with the first block. */
int capture_rewind(struct capture_reader *r);
void capture_close(struct capture_reader *r);
/* Reads the next block. Returns 1, or 0 at the end, or -1 with the reason in `why`. */
int capture_next(struct capture_reader *r);
/*
 * Fills in the packet of the present block. Returns 1; 0 if the block has none; -1 with the reason
 * in `why` if it is damaged.
 */
int capture_packet(struct capture_reader *r, struct captured *to);
/*
 * Begins a copy of the reader's packet with all its options; for a record of a pcap file a packet
 * block of interface 0. More options may follow, then block_finish().
 */
void capture_copy(const struct capture_reader *r, const struct captured *p, struct block *b);

#endif
