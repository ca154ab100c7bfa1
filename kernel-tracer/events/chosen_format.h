/* SPDX-License-Identifier: MIT */
/* Description of a tracepoint's fields, from the text of its format file only. */
#ifndef MAGNET_KERNEL_TRACER_CHOSEN_FORMAT_H
#define MAGNET_KERNEL_TRACER_CHOSEN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_INTEGER,
	FIELD_TEXT,     /* characters up to the field's size, or up to a NUL before it */
	FIELD_ARRAY,    /* integers, or bytes where the element type is not known */
	FIELD_STRING,   /* text elsewhere in the record */
	FIELD_SEQUENCE, /* integers elsewhere in the record */
};

struct event_field {
	char name[64];
	uint16_t offset, size; /* position in the record, in bytes */
	uint8_t kind;          /* enum field_kind */
	uint8_t element;       /* bytes of one integer: 1, 2, 4 or 8 */
	bool is_signed, hex;
	/*
	 * whether the position of data elsewhere counts from the field's end, not from the record's
	 * start
	 */
	bool relative;
};

struct event_format {
	uint32_t id; /* the kernel's number for the tracepoint */
	struct event_field *field;
	size_t count;
};

/* Parses a format file's text. Returns 0, -EINVAL if it is not a format file, or -ENOMEM. */
int format_parse(const char *text, struct event_format *f);
void format_free(struct event_format *f);
/*
 * Keeps only these fields, in this order. Returns NULL, or the name of a field that does not exist;
 * with `some`, missing fields are ignored.
 */
const char *format_choose(struct event_format *f, const char *fields, bool some);
/* Returns the field whose name is the `len` bytes at `name`; NULL if there is none. */
const struct event_field *format_field(const struct event_format *f, const char *name, size_t len);
/*
 * Keeps the fields to record when none is named: all but common_*, and, with `anonymous`, but
 * addresses.
 */
void format_choose_all(struct event_format *f, bool anonymous);
/* Returns whether the name is that of a network address or port. */
bool field_is_address(const char *name);

#endif
