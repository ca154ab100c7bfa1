/* SPDX-License-Identifier: MIT */
/* Parses integers, fields and structures of a trace's metadata. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "tsdl_parser.h"

#define FIELDS_MAX 4096 /* fields of one structure; no tracepoint comes near */
#define CLOCK      "clock.monotonic.value"

bool tsdl_refuse(struct tsdl_parser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return false;
}

/* ---- blocks of assignments ---- */

bool tsdl_block(struct tsdl_parser *p, tsdl_assign_fn assign, void *arg)
{
	if (!tsdl_take_mark(&p->l, '{'))
		return tsdl_refuse(p, "a block does not begin");
	while (!tsdl_take_mark(&p->l, '}')) {
		char key[40];

		if (p->l.word != TSDL_NAME || p->l.length >= sizeof(key))
			return tsdl_refuse(p, "an assignment has no name");
		memcpy(key, p->l.text, p->l.length);
		key[p->l.length] = 0;
		tsdl_next(&p->l);
		if (!tsdl_take_mark(&p->l, '=') && !tsdl_take_assign(&p->l))
			return tsdl_refuse(p, "a name has nothing assigned");
		if (!assign(p, key, arg))
			return tsdl_refuse(p, "an attribute that magnet does not write");
		if (!tsdl_take_mark(&p->l, ';'))
			return tsdl_refuse(p, "an assignment does not end");
	}
	return true;
}

bool tsdl_take_number(struct tsdl_parser *p, int64_t min, int64_t max, int64_t *out)
{
	if (p->l.word != TSDL_NUMBER || p->l.number < min || p->l.number > max)
		return false;
	*out = p->l.number;
	tsdl_next(&p->l);
	return true;
}

bool tsdl_take_constant(struct tsdl_parser *p, int64_t value)
{
	int64_t unused;

	return tsdl_take_number(p, value, value, &unused);
}

/* Copies a quoted text; a longer one is cut and then equals none of the names asked for. */
bool tsdl_take_quoted(struct tsdl_parser *p, char *out, size_t size)
{
	size_t length = p->l.length < size ? p->l.length : size - 1;

	if (p->l.word != TSDL_QUOTED)
		return false;
	memcpy(out, p->l.text, length);
	out[length] = 0;
	tsdl_next(&p->l);
	return true;
}

/* ---- types ---- */

static bool assign_integer(struct tsdl_parser *p, const char *key, void *arg)
{
	struct tsdl_integer *i = arg;
	int64_t n;

	if (strcmp(key, "size") == 0 && tsdl_take_number(p, 8, 64, &n)) {
		i->size = (uint8_t)(n / 8);
		return n == 8 || n == 16 || n == 32 || n == 64;
	}
	if (strcmp(key, "align") == 0)
		return tsdl_take_constant(p, 8);
	if (strcmp(key, "signed") == 0) {
		i->is_signed = tsdl_is_name(&p->l, "true");
		return tsdl_take_name(&p->l, "true") || tsdl_take_name(&p->l, "false");
	}
	if (strcmp(key, "base") == 0)
		return i->is_hex = tsdl_take_name(&p->l, "x");
	if (strcmp(key, "encoding") == 0)
		return i->is_char = tsdl_take_name(&p->l, "UTF8");
	if (strcmp(key, "map") == 0)
		return i->is_clock = p->has_clock && tsdl_take_name(&p->l, CLOCK);
	return false;
}

static bool integer(struct tsdl_parser *p, struct tsdl_integer *i)
{
	*i = (struct tsdl_integer){0};
	if (!tsdl_block(p, assign_integer, i))
		return false;
	if (!i->size || (i->is_char && (i->size != 1 || i->is_signed)) ||
		(i->is_clock && (i->size != 8 || i->is_signed)))
		return tsdl_refuse(p, "an integer that magnet does not write");
	return true;
}

/* The integer of a name given before. */
static bool known_integer(struct tsdl_parser *p, struct tsdl_integer *i)
{
	for (uint32_t n = 0; n < p->aliases; n++)
		if (tsdl_take_name(&p->l, p->alias[n].name)) {
			*i = p->alias[n].integer;
			return true;
		}
	return false;
}

/* Names of an integer's values: `: TYPE { "name" = value, ... }`. The values are what is read. */
static bool enumeration(struct tsdl_parser *p, struct tsdl_integer *i)
{
	char unused[8];
	int64_t value;

	if (!tsdl_take_mark(&p->l, ':') || !known_integer(p, i) || i->is_char || i->is_clock ||
		!tsdl_take_mark(&p->l, '{'))
		return false;
	do {
		if (!tsdl_take_quoted(p, unused, sizeof(unused)) || !tsdl_take_mark(&p->l, '=') ||
			!tsdl_take_number(p, INT64_MIN, INT64_MAX, &value))
			return false;
	} while (tsdl_take_mark(&p->l, ','));
	return tsdl_take_mark(&p->l, '}');
}

static bool aliased(struct tsdl_parser *p, struct tsdl_integer *i)
{
	return tsdl_take_name(&p->l, "integer") ? integer(p, i)
	       : tsdl_take_name(&p->l, "enum")  ? enumeration(p, i)
						: false;
}

bool tsdl_typealias(struct tsdl_parser *p)
{
	struct tsdl_alias *a = &p->alias[p->aliases];

	if (p->aliases == sizeof(p->alias) / sizeof(p->alias[0]) || !aliased(p, &a->integer) ||
		!tsdl_take_assign(&p->l) || p->l.word != TSDL_NAME ||
		p->l.length >= sizeof(a->name))
		return tsdl_refuse(p, "a type that magnet does not write");
	memcpy(a->name, p->l.text, p->l.length);
	a->name[p->l.length] = 0;
	p->aliases++;
	tsdl_next(&p->l);
	return true;
}

static bool assign_string(struct tsdl_parser *p, const char *key, void *arg)
{
	(void)arg;
	return strcmp(key, "encoding") == 0 && tsdl_take_name(&p->l, "UTF8");
}

static bool type(struct tsdl_parser *p, struct tsdl_field *f)
{
	if (tsdl_take_name(&p->l, "string")) {
		f->kind = TSDL_STRING;
		return !tsdl_is_mark(&p->l, '{') || tsdl_block(p, assign_string, NULL);
	}
	f->kind = TSDL_INTEGER;
	if (tsdl_take_name(&p->l, "integer"))
		return integer(p, &f->integer);
	return known_integer(p, &f->integer) ||
	       tsdl_refuse(p, "a field of a type that magnet does not write");
}

/* Takes a field's name without its underscore, as babeltrace2 does. */
static char *take_field_name(struct tsdl_parser *p)
{
	size_t skip = p->l.length > 1 && *p->l.text == '_';
	char *name = NULL;

	if (p->l.word == TSDL_NAME && !memchr(p->l.text, '.', p->l.length))
		name = mg_strndup(p->l.text + skip, p->l.length - skip);
	if (name)
		tsdl_next(&p->l);
	return name;
}

/* Parses what is in brackets: a number, or the name of the previous field. */
static bool length(struct tsdl_parser *p, const struct tsdl_struct *s, struct tsdl_field *f)
{
	const struct tsdl_field *before = s->count ? f - 1 : NULL;
	int64_t n;

	if (f->kind != TSDL_INTEGER || f->integer.is_clock)
		return tsdl_refuse(p, "an array that magnet does not write");
	if (tsdl_take_number(p, 0, 65536, &n)) {
		f->kind = f->integer.is_char ? TSDL_TEXT : TSDL_ARRAY;
		f->count = (uint32_t)n;
		return true;
	}
	if (p->l.word != TSDL_NAME || !before || before->kind != TSDL_INTEGER ||
		before->integer.is_signed || f->integer.is_char || p->l.length < 2 ||
		*p->l.text != '_' || strlen(before->name) != p->l.length - 1 ||
		memcmp(p->l.text + 1, before->name, p->l.length - 1) != 0)
		return tsdl_refuse(p, "a sequence that magnet does not write");
	f->kind = TSDL_SEQUENCE;
	tsdl_next(&p->l);
	return true;
}

static struct tsdl_field *new_field(struct tsdl_struct *s)
{
	if (s->count == FIELDS_MAX)
		return NULL;
	if (s->count == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 8;
		struct tsdl_field *more = mg_realloc(s->field, cap * sizeof(*more));

		if (!more)
			return NULL;
		s->field = more;
		s->cap = cap;
	}
	s->field[s->count] = (struct tsdl_field){0};
	return &s->field[s->count];
}

static bool field(struct tsdl_parser *p, struct tsdl_struct *s)
{
	struct tsdl_field *f = new_field(s);

	if (!f)
		return tsdl_refuse(p, "too many fields");
	if (!type(p, f))
		return false;
	f->name = take_field_name(p);
	if (!f->name)
		return tsdl_refuse(p, "a field without a name");
	if (tsdl_find(s, f->name)) {
		free(f->name);
		return tsdl_refuse(p, "two fields of one name");
	}
	if (tsdl_take_mark(&p->l, '[') && (!length(p, s, f) || !tsdl_take_mark(&p->l, ']'))) {
		free(f->name);
		return tsdl_refuse(p, "an array that magnet does not write");
	}
	s->count++;
	return tsdl_take_mark(&p->l, ';') || tsdl_refuse(p, "a field does not end");
}

bool tsdl_structure(struct tsdl_parser *p, struct tsdl_struct *s)
{
	if (s->field || !tsdl_take_name(&p->l, "struct") || !tsdl_take_mark(&p->l, '{'))
		return tsdl_refuse(p, "a structure does not begin");
	while (!tsdl_take_mark(&p->l, '}'))
		if (!field(p, s))
			return false;
	return true;
}
