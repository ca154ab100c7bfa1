/* SPDX-License-Identifier: MIT */
/*
 * Parser for the metadata of a CTF 1.8 trace (TSDL), as far as magnet writes it: integers of whole
 * bytes, text, arrays and sequences of those, one kind of stream. Anything else is refused.
 */
#ifndef MAGNET_CORRELATE_DIRECT_TSDL_H
#define MAGNET_CORRELATE_DIRECT_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tsdl_kind {
	TSDL_INTEGER,
	TSDL_TEXT,     /* characters up to a fixed number, or up to a NUL before it */
	TSDL_ARRAY,    /* integers */
	TSDL_SEQUENCE, /* integers, as many as the previous field says */
	TSDL_STRING,   /* characters up to a NUL */
};

struct tsdl_integer {
	uint8_t size; /* bytes: 1, 2, 4 or 8 */
	bool is_signed, is_hex;
	bool is_char;  /* an array of them is text */
	bool is_clock; /* reading of the trace's clock */
};

struct tsdl_field {
	char *name; /* without the leading underscore */
	enum tsdl_kind kind;
	struct tsdl_integer integer; /* the field, or one element of it */
	uint32_t count;              /* elements of an array; characters of a text */
};

struct tsdl_struct {
	struct tsdl_field *field;
	uint32_t count, cap;
};

struct tsdl_event {
	char *name;
	uint64_t id;
	struct tsdl_struct fields;
};

struct tsdl_trace {
	uint8_t uuid[16];
	char tracer[64], domain[16];
	int64_t offset_ns; /* offset of the clock, which ticks in nanoseconds, from the epoch */
	uint64_t stream_id;
	struct tsdl_struct packet_header, packet_context, event_header, event_context;
	struct tsdl_event *event;
	uint32_t events, events_cap;
};

/*
 * Parses the metadata. Returns NULL, or what differs from magnet's traces. The caller frees `t` in
 * any case.
 */
const char *tsdl_parse(struct tsdl_trace *t, const char *text, size_t size);
void tsdl_free(struct tsdl_trace *t);
/* Returns the field of this name, NULL if there is none. */
const struct tsdl_field *tsdl_find(const struct tsdl_struct *s, const char *name);

#endif
