/* SPDX-License-Identifier: MIT */
/*
 * What a tracepoint's format file says of its fields. Nothing here knows
 * the kernel but by text.
 */
#ifndef MAGNET_KERNEL_TRACER_CHOSEN_FORMAT_H
#define MAGNET_KERNEL_TRACER_CHOSEN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_INTEGER,
	FIELD_TEXT,     /* characters up to the field's size, or to a NUL before it */
	FIELD_ARRAY,    /* integers, or bytes where nothing better is known */
	FIELD_STRING,   /* text elsewhere in the record */
	FIELD_SEQUENCE, /* integers elsewhere in the record */
};

struct event_field {
	char name[64];
	uint16_t offset, size; /* in the record, bytes */
	uint8_t kind;          /* enum field_kind */
	uint8_t element;       /* bytes an integer of it has: 1, 2, 4 or 8 */
	bool is_signed, hex;
	bool relative; /* what is elsewhere is told from the field's end, not the record's begin */
};

struct event_format {
	uint32_t id; /* the kernel's number for the tracepoint */
	struct event_field *field;
	size_t count;
};

/* From a format file's text; 0, or -EINVAL if it is none, or -ENOMEM. */
int format_parse(const char *text, struct event_format *f);
void format_free(struct event_format *f);
/*
 * Only these fields are left, in this order. Returns NULL, or the name that is not there; if
 * `some`, those that are not are passed over.
 */
const char *format_choose(struct event_format *f, const char *fields, bool some);
/* The field of that name, of `len` bytes; NULL if there is none. */
const struct event_field *format_field(const struct event_format *f, const char *name, size_t len);
/* The ones nobody asked for by name: common_* goes, and, if `anonymous`, what is an address. */
void format_choose_all(struct event_format *f, bool anonymous);
/* A network address or port, by its name. */
bool field_is_address(const char *name);

#endif
