/* SPDX-License-Identifier: MIT */
/* Making blocks of pcapng files, and writing them. */
#ifndef MAGNET_CORRELATE_CAPTURE_BLOCK_H
#define MAGNET_CORRELATE_CAPTURE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* types of blocks; others are passed on as they are */
enum {
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};
/* options; the numbers of those that all blocks have are the same everywhere */
enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_NAME = 2,        /* of an interface */
	OPTION_DESCRIPTION = 3, /* of an interface */
	OPTION_HARDWARE = 2,    /* of a section */
	OPTION_SYSTEM = 3,      /* of a section */
	OPTION_PROGRAM = 4,     /* of a section */
	OPTION_FLAGS = 2,       /* of a packet */
	OPTION_RESOLUTION = 9,  /* of an interface */
	OPTION_OFFSET = 14,     /* of an interface */
};
#define OPTION_MOST 65532 /* bytes of an option; padded they still fit its length */

#define BLOCK_MAGIC 0x1a2b3c4du /* in a section's header, in its byte order */

/* A block that is being made. Without memory it is not complete, and block_write() fails. */
struct block {
	uint8_t *v;
	size_t n, room;
	bool swapped; /* byte order of the section that it is for */
	bool failed;
};

void block_begin(struct block *b, uint32_t type);
void block_16(struct block *b, uint16_t value);
void block_32(struct block *b, uint32_t value);
void block_64(struct block *b, uint64_t value);
/* Adds bytes as they are. */
void block_raw(struct block *b, const void *from, size_t size);
/* Adds bytes and pads them to a multiple of four. */
void block_bytes(struct block *b, const void *from, size_t size);
void block_option(struct block *b, uint16_t code, const void *value, size_t size);
void block_text(struct block *b, uint16_t code, const char *text);
/* Ends the options. */
void block_finish(struct block *b);
/* Writes the block. Returns false if that failed. */
bool block_write(const struct block *b, FILE *to);
void block_free(struct block *b);

/* Begin blocks of these kinds; options may follow, then block_finish(). */
void block_begin_section(struct block *b);
void block_begin_interface(struct block *b, uint16_t link_type, uint32_t snaplen);
void block_begin_packet(struct block *b, uint32_t interface, uint64_t ticks, const void *data,
	uint32_t length, uint32_t original);

#endif
