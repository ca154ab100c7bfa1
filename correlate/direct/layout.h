/* SPDX-License-Identifier: MIT */
/*
 * Where everything stands in a trace's packets and events, by its own description: known layouts
 * are verified, not assumed, and a trace of an older version has the fields it has.
 */
#ifndef MAGNET_CORRELATE_DIRECT_LAYOUT_H
#define MAGNET_CORRELATE_DIRECT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event.h"
#include "event_table.h"
#include "tsdl.h"

/* An integer at a fixed place. */
struct spot {
	uint32_t at;
	uint8_t size; /* bytes, 0 = there is none */
	bool is_signed;
};

enum move_kind { MOVE_BYTES, MOVE_UNSIGNED, MOVE_SIGNED, MOVE_TEXT };

/* From `from` of an event's fields to `to` of the payload. */
struct move {
	uint32_t from;
	uint16_t to, size; /* bytes in the payload */
	uint16_t width;    /* bytes in the trace, of a number; characters of a text */
	uint8_t kind;      /* enum move_kind */
};

struct event_class {
	const struct tsdl_event *described;
	const struct mg_event_desc *desc; /* NULL: not in the table */
	bool is_chosen;                   /* by the user: known by its name */
	bool is_fixed;                    /* all events of it are of `size`, else of no less */
	uint32_t size;                    /* of its fields, bytes */
	uint32_t clear;                   /* bytes of the payload that not all are written */
	struct move *move;
	uint32_t moves;
};

struct layout {
	struct tsdl_trace tsdl;
	uint32_t packet_head; /* bytes before the first event */
	struct spot magic, uuid, stream_id, begin, end, content, packet, seq, cpu;
	bool is_app;         /* of the application side */
	uint32_t event_head; /* bytes before an event's fields */
	struct spot id, time, tid, pid;
	struct event_class **class; /* by id; NULL: not described */
	uint32_t classes;
};

/* Returns what is not as magnet writes it, NULL if all is. To be freed in any case. */
const char *layout_make(struct layout *l, const char *metadata, size_t size);
void layout_free(struct layout *l);

/* Little-endian machines only, as the traces are. */
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
/* Bytes of the fields of an event at `at`; more than `left` if they go beyond that. */
static inline size_t event_size(const struct event_class *k, const uint8_t *at, size_t left)
{
	return k->is_fixed ? k->size : event_size_varying(k, at, left);
}

void event_payload_by_field(const struct event_class *k, const uint8_t *at, struct mg_event *out);
/* The payload of one in the table: most often all of it as it stands there. */
static inline void event_payload(
	const struct event_class *k, const uint8_t *at, struct mg_event *out)
{
	if (k->moves == 1 && !k->clear && k->move->kind == MOVE_BYTES)
		memcpy((uint8_t *)&out->sys_enter + k->move->to, at + k->move->from, k->move->size);
	else
		event_payload_by_field(k, at, out);
}
/* The fields of any, `size` bytes, as text, as fields_text() gives it; NULL without memory. */
char *event_text(const struct event_class *k, const uint8_t *at, size_t size);

#endif
