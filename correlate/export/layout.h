/* SPDX-License-Identifier: MIT */
/*
 * Tables of fixed-width records: how a fact, or an event, is laid out in them. Both are made from
 * the tables of facts and events; schema.c describes them to readers.
 */
#ifndef MAGNET_CORRELATE_EXPORT_LAYOUT_H
#define MAGNET_CORRELATE_EXPORT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_table.h"
#include "facts/facts.h"

/* How a column stands for "not known". */
enum record_unknown {
	UNKNOWN_NEVER, /* each value is one */
	UNKNOWN_ZERO,
	UNKNOWN_MAX,   /* the greatest number that fits */
	UNKNOWN_MINUS, /* -1 */
	UNKNOWN_NAN,
	UNKNOWN_MAYBE, /* FACT_MAYBE */
};

struct record_column {
	char name[64];
	const char *type;  /* as in the table of facts */
	const char *dtype; /* as NumPy names it */
	const char *unit;  /* NULL: none */
	const char *doc;
	const char *const *words;    /* the value's name by the value; NULL: none */
	const struct mg_enum *names; /* the same where values have gaps; NULL: none */
	uint32_t offset;             /* bytes, in the record */
	uint8_t bytes, word_count;
	uint8_t unknown; /* enum record_unknown */
};

struct record_layout {
	char name[72]; /* "call", "event/tcp_state" */
	const char *doc;
	struct record_column *column;
	uint32_t columns, bytes;
};

/* Columns that each event has before its fields, by what annotates it. */
struct record_event_head {
	uint64_t time, cycles, flow, offset, length, sender, sender_offset;
	uint32_t pid, tid;
	int32_t cpu;
	uint8_t flow_rx, sender_rx;
} __attribute__((packed));

/* Events that were chosen with --event, which are not in the table, have a name and a text. */
struct record_other {
	struct record_event_head head;
	uint32_t name, text; /* numbers of strings */
} __attribute__((packed));

/* Return false without memory. The caller frees the columns in any case. */
bool layout_of_fact(struct record_layout *l, enum fact kind);
bool layout_of_event(struct record_layout *l, const struct mg_event_desc *event);
bool layout_of_other(struct record_layout *l);

/* Returns whether a field of an event is among the columns that each event has. */
bool layout_has_in_head(const struct mg_event_desc *event, const struct mg_field_desc *field);
/* Returns the bytes that a field of an event takes in a record: a text is a number of a string. */
uint8_t layout_field_bytes(const struct mg_field_desc *field);

#endif
