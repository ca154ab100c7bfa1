/* SPDX-License-Identifier: MIT */
#include "export/schema.h"

#include <stdlib.h>
#include <string.h>

/* 2^64 - 1 does not fit the integers of jansson: it is printed in the place of this. */
#define MAX_MARK "\"2^64-1\""
#define MAX_TEXT "18446744073709551615"

/* Returns the value that stands for "not known"; NULL: there is none. JSON has no NaN: "nan". */
static json_t *unknown(const struct record_column *c)
{
	switch ((enum record_unknown)c->unknown) {
	case UNKNOWN_NEVER:
		return NULL;
	case UNKNOWN_ZERO:
		return json_integer(0);
	case UNKNOWN_MAX:
		return c->bytes == 8 ? json_string("2^64-1")
				     : json_integer((1ll << 8 * c->bytes) - 1);
	case UNKNOWN_MINUS:
		return json_integer(-1);
	case UNKNOWN_NAN:
		return json_string("nan");
	case UNKNOWN_MAYBE:
		return json_integer(FACT_MAYBE);
	}
	return NULL;
}

static json_t *words(const struct record_column *c)
{
	json_t *list = json_array();

	for (int i = 0; i < c->word_count; i++)
		json_array_append_new(list, c->words[i] ? json_string(c->words[i]) : json_null());
	return list;
}

static json_t *names(const struct mg_enum *e)
{
	json_t *all = json_object();
	char value[24];

	for (size_t i = 0; i < e->count; i++) {
		snprintf(value, sizeof(value), "%lld", (long long)e->label[i].value);
		json_object_set_new(all, value, json_string(e->label[i].name));
	}
	return all;
}

static json_t *column(const struct record_column *c)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:s}", "name", c->name, "type", c->type,
		"dtype", c->dtype, "offset", (json_int_t)c->offset, "doc", c->doc);
	json_t *none = unknown(c);

	if (c->unit)
		json_object_set_new(j, "unit", json_string(c->unit));
	if (none)
		json_object_set_new(j, "unknown", none);
	if (c->words)
		json_object_set_new(j, "words", words(c));
	if (c->names)
		json_object_set_new(j, "names", names(c->names));
	return j;
}

json_t *schema_of_layout(const struct record_layout *l)
{
	json_t *columns = json_array();

	for (uint32_t i = 0; i < l->columns; i++)
		json_array_append_new(columns, column(&l->column[i]));
	return json_pack("{s:s, s:s, s:I, s:o}", "name", l->name, "doc", l->doc, "record_bytes",
		(json_int_t)l->bytes, "columns", columns);
}

bool schema_print(const json_t *schema, FILE *to)
{
	char *text = json_dumps(schema, JSON_INDENT(1) | JSON_ENSURE_ASCII), *mark, *rest = text;

	while (rest && (mark = strstr(rest, MAX_MARK))) {
		fwrite(rest, 1, (size_t)(mark - rest), to);
		fputs(MAX_TEXT, to);
		rest = mark + strlen(MAX_MARK);
	}
	if (rest)
		fprintf(to, "%s\n", rest);
	free(text);
	return rest;
}
