/* SPDX-License-Identifier: MIT */
/* Decodes the fields of one event. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "field_text.h"
#include "layout.h"

static uint64_t integer(const struct tsdl_integer *i, const uint8_t *at)
{
	const struct spot s = {0, i->size, i->is_signed};

	return spot_read(&s, at);
}

/* Returns the bytes that a field takes at `at`; more than `left` if it goes beyond the end. */
static size_t field_size(
	const struct tsdl_field *f, const uint8_t *at, size_t left, uint64_t value_before)
{
	const uint8_t *end;

	switch (f->kind) {
	case TSDL_INTEGER:
		return f->integer.size;
	case TSDL_TEXT:
	case TSDL_ARRAY:
		return (size_t)f->count * f->integer.size;
	case TSDL_SEQUENCE:
		return value_before > left ? left + 1 : (size_t)value_before * f->integer.size;
	default:
		end = memchr(at, 0, left);
		return end ? (size_t)(end - at) + 1 : left + 1;
	}
}

size_t event_size_varying(const struct event_class *k, const uint8_t *at, size_t left)
{
	uint64_t value = 0; /* value of the previous field */
	size_t sum = 0;

	for (uint32_t i = 0; i < k->described->fields.count; i++) {
		const struct tsdl_field *f = &k->described->fields.field[i];
		size_t size = field_size(f, at + sum, left - sum, value);

		if (size > left - sum)
			return left + 1;
		value = f->kind == TSDL_INTEGER ? integer(&f->integer, at + sum) : 0;
		sum += size;
	}
	return sum;
}

static void move_number(const struct move *m, const uint8_t *at, uint8_t *payload)
{
	const struct spot s = {m->from, (uint8_t)m->width, m->kind == MOVE_SIGNED};
	uint64_t value = spot_read(&s, at);

	memcpy(payload + m->to, &value, m->size);
}

void event_payload(const struct event_class *k, const uint8_t *at, struct mg_event *out)
{
	uint8_t *payload = (uint8_t *)&out->sys_enter;

	if (k->clear)
		memset(payload, 0, k->clear);
	for (uint32_t i = 0; i < k->moves; i++) {
		const struct move *m = &k->move[i];
		size_t most = m->width < m->size ? m->width : m->size;

		if (m->kind == MOVE_BYTES)
			memcpy(payload + m->to, at + m->from, m->size);
		else if (m->kind == MOVE_TEXT)
			memcpy(payload + m->to, at + m->from,
				strnlen((const char *)at + m->from, most));
		else
			move_number(m, at, payload);
	}
}

static void number(FILE *to, const struct tsdl_integer *i, const uint8_t *at, bool in_array)
{
	field_text_number(to, integer(i, at), i->is_signed, i->is_hex, in_array);
}

static void value(FILE *to, const struct tsdl_field *f, const uint8_t *at, size_t size)
{
	bool bytes = f->integer.size == 1 && !f->integer.is_signed && f->integer.is_hex;

	switch (f->kind) {
	case TSDL_TEXT:
	case TSDL_STRING:
		field_text_words(to, (const char *)at, strnlen((const char *)at, size));
		break;
	case TSDL_INTEGER:
		number(to, &f->integer, at, false);
		break;
	default:
		for (size_t i = 0; i < size; i += f->integer.size) {
			/* single bytes are written without separators */
			if (i && !bytes)
				fputc(',', to);
			number(to, &f->integer, at + i, true);
		}
	}
}

/* Returns whether a field is the length of the sequence after it: the text leaves it out. */
static bool is_length(const struct tsdl_struct *s, uint32_t i)
{
	const struct tsdl_field *next = i + 1 < s->count ? &s->field[i + 1] : NULL;
	size_t len = next ? strlen(next->name) : 0;

	return next && next->kind == TSDL_SEQUENCE &&
	       strncmp(s->field[i].name, next->name, len) == 0 &&
	       strcmp(s->field[i].name + len, "_length") == 0;
}

char *event_text(const struct event_class *k, const uint8_t *at, size_t size)
{
	const struct tsdl_struct *s = &k->described->fields;
	const char *separator = "";
	uint64_t before = 0;
	const uint8_t *end = at + size;
	char *out = NULL;
	FILE *to = mg_text_open(&out, &size);

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct tsdl_field *f = &s->field[i];
		size_t bytes = field_size(f, at, (size_t)(end - at), before);

		if (!is_length(s, i)) {
			fputs(separator, to);
			separator = " ";
			field_text_words(to, f->name, strlen(f->name));
			fputc('=', to);
			value(to, f, at, bytes);
		}
		before = f->kind == TSDL_INTEGER ? integer(&f->integer, at) : 0;
		at += bytes;
	}
	return mg_text_close(to, &out) ? out : NULL;
}
