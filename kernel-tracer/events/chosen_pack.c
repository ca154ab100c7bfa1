/* SPDX-License-Identifier: MIT */
/* Describes a tracepoint's fields in CTF, and packs its records accordingly. */
#include "events/chosen_pack.h"

#include <string.h>

#include "events/chosen_format.h"

static void integer(const struct event_field *d, FILE *to)
{
	fprintf(to, "integer { size = %u; align = 8; signed = %s;%s }", d->element * 8u,
		d->is_signed ? "true" : "false", d->hex ? " base = x;" : "");
}

void format_describe(const struct event_format *f, FILE *to, unsigned int id, const char *category,
	const char *name)
{
	fprintf(to, "event {\n\tname = \"%s:%s\";\n\tid = %u;\n\tstream_id = 0;\n", category, name,
		id);
	fputs("\tfields := struct {\n", to);
	for (size_t i = 0; i < f->count; i++) {
		const struct event_field *d = &f->field[i];

		fputs("\t\t", to);
		switch (d->kind) {
		case FIELD_TEXT:
			fprintf(to, "utf8 _%s[%u]", d->name, d->size);
			break;
		case FIELD_STRING:
			fprintf(to, "string { encoding = UTF8; } _%s", d->name);
			break;
		case FIELD_SEQUENCE:
			fprintf(to, "u32 _%s_length;\n\t\t", d->name);
			integer(d, to);
			fprintf(to, " _%s[_%s_length]", d->name, d->name);
			break;
		case FIELD_ARRAY:
			integer(d, to);
			fprintf(to, " _%s[%u]", d->name, d->size / d->element);
			break;
		default:
			integer(d, to);
			fprintf(to, " _%s", d->name);
		}
		fputs(";\n", to);
	}
	fputs("\t};\n};\n", to);
}

size_t format_least(const struct event_format *f)
{
	size_t sum = 0;

	for (size_t i = 0; i < f->count; i++)
		sum += f->field[i].kind == FIELD_STRING ? 1 : f->field[i].size;
	return sum;
}

/*
 * Returns the data of a field that is elsewhere in the record, and its size; size 0 if it lies
 * outside the record.
 */
static const uint8_t *elsewhere(
	const struct event_field *d, const uint8_t *record, size_t record_size, size_t *size)
{
	uint32_t where = 0;
	size_t at;

	if (d->offset + sizeof(where) <= record_size)
		memcpy(&where, record + d->offset, sizeof(where));
	at = (where & 0xffff) + (d->relative ? d->offset + sizeof(where) : 0);
	*size = where >> 16;
	if (at > record_size || *size > record_size - at)
		*size = 0;
	return record + at;
}

/*
 * Copies text up to its NUL only: kernel code may leave anything behind it, even kernel addresses.
 */
static void copy_text(uint8_t *out, const uint8_t *from, size_t size)
{
	size_t length = strnlen((const char *)from, size);

	memcpy(out, from, length);
	memset(out + length, 0, size - length);
}

static void copy(uint8_t *out, const uint8_t *from, size_t size)
{
	/* copies of constant length are the fastest */
	if (size == 8)
		memcpy(out, from, 8);
	else if (size == 4)
		memcpy(out, from, 4);
	else
		memcpy(out, from, size);
}

size_t format_pack(const struct event_format *f, const uint8_t *record, size_t record_size,
	uint8_t *out, size_t room)
{
	uint8_t *at = out;

	room -= format_least(f); /* room left for fields of variable size */
	for (size_t i = 0; i < f->count; i++) {
		const struct event_field *d = &f->field[i];
		const uint8_t *from;
		uint32_t length;
		size_t size;

		if (d->kind == FIELD_STRING || d->kind == FIELD_SEQUENCE) {
			from = elsewhere(d, record, record_size, &size);
			if (size > room)
				size = room;
			if (d->kind == FIELD_STRING) {
				size = strnlen((const char *)from, size);
				at[size] = 0;
			} else {
				length = (uint32_t)size / d->element;
				size = (size_t)length * d->element;
				copy(at, (const uint8_t *)&length, sizeof(length));
				at += sizeof(length);
			}
			memcpy(at, from, size);
			at += size + (d->kind == FIELD_STRING);
			room -= size;
		} else if (d->kind == FIELD_TEXT && d->offset + (size_t)d->size <= record_size) {
			copy_text(at, record + d->offset, d->size);
			at += d->size;
		} else if (d->offset + (size_t)d->size <= record_size) {
			copy(at, record + d->offset, d->size);
			at += d->size;
		} else { /* the kernel makes no such record */
			memset(at, 0, d->size);
			at += d->size;
		}
	}
	return (size_t)(at - out);
}
