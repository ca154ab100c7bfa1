/* SPDX-License-Identifier: MIT */
/* Parses a tracepoint's format file from tracefs and chooses which of its fields to keep. */
#define _GNU_SOURCE

#include "events/chosen_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* Returns the size of an integer type in bytes; 0 if the type is not known. */
static uint8_t size_of_type(const char *type, size_t len)
{
	static const struct {
		const char *name;
		uint8_t size;
	} known[] = {
		{"char", 1},
		{"u8", 1},
		{"s8", 1},
		{"__u8", 1},
		{"__s8", 1},
		{"uint8_t", 1},
		{"int8_t", 1},
		{"bool", 1},
		{"short", 2},
		{"u16", 2},
		{"s16", 2},
		{"__u16", 2},
		{"__s16", 2},
		{"__be16", 2},
		{"uint16_t", 2},
		{"int16_t", 2},
		{"int", 4},
		{"u32", 4},
		{"s32", 4},
		{"__u32", 4},
		{"__s32", 4},
		{"__be32", 4},
		{"uint32_t", 4},
		{"int32_t", 4},
		{"unsigned", 4},
		{"pid_t", 4},
		{"long", 8},
		{"u64", 8},
		{"s64", 8},
		{"__u64", 8},
		{"__s64", 8},
		{"uint64_t", 8},
		{"int64_t", 8},
		{"size_t", 8},
		{"cpumask_t", 8},
	};
	const char *word = type + len;

	/* the last word decides: "unsigned long", "const u8" */
	while (word > type && word[-1] != ' ')
		word--;
	len -= (size_t)(word - type);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == len && memcmp(known[i].name, word, len) == 0)
			return known[i].size;
	return 0;
}

static bool is_char(const char *type, size_t len)
{
	return (len == 4 && memcmp(type, "char", 4) == 0) ||
	       (len == 10 && memcmp(type, "const char", 10) == 0);
}

static size_t trimmed(const char *s, size_t len)
{
	while (len && s[len - 1] == ' ')
		len--;
	return len;
}

/*
 * Splits a declaration such as "__u8 saddr[28]" into the name, the length of the type before it,
 * and whether it is an array.
 */
static bool split(const char *decl, size_t len, struct event_field *f, size_t *type, bool *array)
{
	size_t name;

	len = trimmed(decl, len);
	while (len && decl[len - 1] == ']') {
		const char *open = memrchr(decl, '[', len);

		if (!open)
			return false;
		len = trimmed(decl, (size_t)(open - decl));
		*array = true;
	}
	for (name = len; name && decl[name - 1] != ' ' && decl[name - 1] != '*'; name--)
		;
	if (name == len || len - name >= sizeof(f->name))
		return false;
	memcpy(f->name, decl + name, len - name);
	*type = trimmed(decl, name);
	return true;
}

static void classify(struct event_field *f, const char *type, size_t len, bool array)
{
	uint8_t known;

	if (!array && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8)) {
		f->kind = FIELD_INTEGER;
		f->element = (uint8_t)f->size;
		f->hex = memchr(type, '*', len) != NULL;
		/* arguments of system calls occupy whole words, whatever their type */
		if (f->size == 8 && !f->hex && size_of_type(type, len) == 4) {
			f->size = f->element = 4;
			f->is_signed = len == 3 || (len == 5 && memcmp(type, "pid_t", 5) == 0);
		}
		return;
	}
	if (array && is_char(type, len)) {
		f->kind = FIELD_TEXT;
		f->element = 1;
		return;
	}
	known = array ? size_of_type(type, len) : 0;
	f->kind = FIELD_ARRAY;
	f->element = known && f->size % known == 0 ? known : 1;
	f->hex = f->element == 1 && !f->is_signed;
}

/* Parses one line after "field:", up to its end. */
static bool parse_field(const char *line, struct event_field *f)
{
	size_t decl = strcspn(line, ";\n"), type = 0;
	unsigned int offset, size, is_signed = 0;
	bool array = false, elsewhere;

	*f = (struct event_field){0};
	if (line[decl] != ';' || sscanf(line + decl, "; offset:%u; size:%u; signed:%u;", &offset,
					 &size, &is_signed) < 2)
		return false;
	if (offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	f->offset = (uint16_t)offset;
	f->size = (uint16_t)size;
	f->is_signed = is_signed;
	f->relative = strncmp(line, "__rel_loc ", 10) == 0;
	elsewhere = f->relative || strncmp(line, "__data_loc ", 11) == 0;
	if (elsewhere) {
		size_t skip = f->relative ? 10 : 11;

		line += skip;
		decl -= skip;
	}
	if (!split(line, decl, f, &type, &array))
		return false;
	if (!elsewhere) {
		classify(f, line, type, array);
		return true;
	}
	/* "char[] name", or for CPU masks "cpumask_t name" */
	if (f->size != 4)
		return false;
	if (type > 2 && memcmp(line + type - 2, "[]", 2) == 0)
		type = trimmed(line, type - 2);
	f->kind = is_char(line, type) ? FIELD_STRING : FIELD_SEQUENCE;
	f->element = size_of_type(line, type) ?: 1;
	f->hex = f->element == 1 || (type == 9 && memcmp(line, "cpumask_t", 9) == 0);
	return true;
}

int format_parse(const char *text, struct event_format *f)
{
	const char *id = strstr(text, "\nID: "), *p;

	*f = (struct event_format){0};
	if (!id || sscanf(id, "\nID: %u", &f->id) != 1)
		return -EINVAL;
	for (p = text; (p = strstr(p, "\tfield:")); p++) {
		struct event_field *more = mg_realloc(f->field, (f->count + 1) * sizeof(*more));

		if (!more) {
			format_free(f);
			return -ENOMEM;
		}
		f->field = more;
		if (!parse_field(p + 7, &more[f->count])) {
			format_free(f);
			return -EINVAL;
		}
		/*
		 * an array without a length takes the rest of the record: its length is recorded
		 * nowhere
		 */
		if (more[f->count].size)
			f->count++;
	}
	return 0;
}

void format_free(struct event_format *f)
{
	free(f->field);
	*f = (struct event_format){0};
}

const struct event_field *format_field(const struct event_format *f, const char *name, size_t len)
{
	for (size_t i = 0; i < f->count; i++)
		if (strncmp(f->field[i].name, name, len) == 0 && !f->field[i].name[len])
			return &f->field[i];
	return NULL;
}

const char *format_choose(struct event_format *f, const char *fields, bool some)
{
	struct event_field *chosen = mg_calloc(f->count + 1, sizeof(*chosen));
	size_t n = 0;

	while (chosen && *fields) {
		size_t len = strcspn(fields, ",");
		const struct event_field *field = format_field(f, fields, len);

		if (!field && !some) {
			free(chosen);
			return fields;
		}
		if (field)
			chosen[n++] = *field;
		fields += len + (fields[len] == ',');
	}
	if (!chosen)
		return fields;
	free(f->field);
	f->field = chosen;
	f->count = n;
	return NULL;
}

bool field_is_address(const char *name)
{
	static const char *const names[] = {"saddr", "daddr", "saddr_v6", "daddr_v6", "laddr",
		"raddr", "sport", "dport", "lport", "rport", "primary_key", "src", "dst", "gw4",
		"gw6"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void format_choose_all(struct event_format *f, bool anonymous)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		if (strncmp(f->field[i].name, "common_", 7) != 0 &&
			!(anonymous && field_is_address(f->field[i].name)))
			f->field[n++] = f->field[i];
	f->count = n;
}
