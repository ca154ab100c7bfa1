/* SPDX-License-Identifier: MIT */
/*
 * Positions of all fields in a trace's packets and events, taken from its metadata: layouts are
 * verified, not assumed, and a trace of an older version has the fields it has.
 */
#ifndef MAGNET_CORRELATE_DIRECT_LAYOUT_H
#define MAGNET_CORRELATE_DIRECT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event.h"
#include "event_table.h"
#include "tsdl.h"

/* An integer at a fixed position. */
struct spot {
	uint32_t at;
	uint8_t size; /* bytes, 0 = no such field */
	bool is_signed;
};

enum move_kind { MOVE_BYTES, MOVE_UNSIGNED, MOVE_SIGNED, MOVE_TEXT };

/* A copy from `from` of an event's fields to `to` of the payload. */
struct move {
	uint32_t from;
	uint16_t to, size; /* bytes in the payload */
	uint16_t width;    /* bytes that a number takes in the trace; characters of a text */
	uint8_t kind;      /* enum move_kind */
};

struct event_class {
	const struct tsdl_event *described;
	const struct mg_event_desc *desc; /* NULL: not in the table */
	bool is_chosen;                   /* chosen by the user: known by its name */
	/* whether all such events have `size`; else `size` is the least */
	bool is_fixed;
	uint32_t size; /* bytes of the fields */
	/* bytes of the payload to clear, as the copies do not write all of them */
	uint32_t clear;
	struct move *move;
	uint32_t moves;
	/* one copy is all, from the beginning of the fields to that of the payload */
	bool is_plain;
	uint16_t id;     /* of a plain event: as in the table */
	uint64_t mask;   /* of its first eight bytes */
	uint32_t ids_at; /* of a plain event: where its tid and pid are, from its beginning */
};

struct layout {
	struct tsdl_trace tsdl;
	uint32_t packet_head; /* bytes before the first event */
	struct spot magic, uuid, stream_id, begin, end, content, packet, seq, cpu;
	bool is_app;         /* whether it is a trace of the application side */
	uint32_t event_head; /* bytes before an event's fields */
	struct spot id, time, tid, pid;
	bool has_ids; /* tid and pid are there, of 4 bytes each, one behind the other */
	struct event_class **class; /* by id; NULL: not described */
	uint32_t classes;
};

/*
 * Builds the layout. Returns NULL, or what differs from magnet's traces. The caller frees the
 * layout in any case.
 */
const char *layout_make(struct layout *l, const char *metadata, size_t size);
void layout_free(struct layout *l);

/* Reads an integer; for little-endian machines only, as the traces are. */
static inline uint64_t spot_read(const struct spot *s, const uint8_t *from)
{
	uint64_t v = 0;

	switch (s->size) {
	case 1:
		memcpy(&v, from + s->at, 1);
		return s->is_signed ? (uint64_t)(int8_t)v : v;
	case 2:
		memcpy(&v, from + s->at, 2);
		return s->is_signed ? (uint64_t)(int16_t)v : v;
	case 4:
		memcpy(&v, from + s->at, 4);
		return s->is_signed ? (uint64_t)(int32_t)v : v;
	case 8:
		memcpy(&v, from + s->at, 8);
		return v;
	default:
		return 0;
	}
}

size_t event_size_varying(const struct event_class *k, const uint8_t *at, size_t left);
/*
 * Returns the bytes of the fields of an event at `at`; more than `left` if they go beyond the end.
 */
static inline size_t event_size(const struct event_class *k, const uint8_t *at, size_t left)
{
	return k->is_fixed ? k->size : event_size_varying(k, at, left);
}

/* Copies the payload of an event that is in the table. */
void event_payload(const struct event_class *k, const uint8_t *at, struct mg_event *out);
/*
 * Copies as many bytes as the largest payload has, whatever the event's size is: the CPU cannot
 * foresee how often a loop goes round. What is behind a short payload in its first eight bytes is
 * cleared by `mask`.
 */
#define PLAIN_BYTES (sizeof(struct mg_event) - offsetof(struct mg_event, sys_enter))
static inline void copy_plain(uint8_t *to, const uint8_t *from, uint64_t mask)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	word &= mask;
	memcpy(to, &word, sizeof(word));
	memcpy(to + sizeof(word), from + sizeof(word), PLAIN_BYTES - sizeof(word));
}
/*
 * Returns the fields, `size` bytes, as text in the form of fields_text(); NULL if memory is short.
 */
char *event_text(const struct event_class *k, const uint8_t *at, size_t size);

#endif
