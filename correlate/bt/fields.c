/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fields.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "field_text.h"

static void text(FILE *to, const char *s)
{
	field_text_words(to, s, strlen(s));
}

static void number(FILE *to, const bt_field *f, bool is_signed, bool in_array)
{
	bool hex = bt_field_class_integer_get_preferred_display_base(bt_field_borrow_class_const(
			   f)) == BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;

	field_text_number(to,
		is_signed ? (uint64_t)bt_field_integer_signed_get_value(f)
			  : bt_field_integer_unsigned_get_value(f),
		is_signed, hex, in_array);
}

static bool is_byte(const bt_field_class *class)
{
	return bt_field_class_type_is(
		       bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) &&
	       bt_field_class_integer_get_field_value_range(class) == 8 &&
	       bt_field_class_integer_get_preferred_display_base(class) ==
		       BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
}

static void value(FILE *to, const bt_field *f, bool in_array)
{
	bt_field_class_type type = bt_field_get_class_type(f);

	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		text(to, bt_field_string_get_value(f));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		uint64_t n = bt_field_array_get_length(f);

		for (uint64_t i = 0; i < n; i++) {
			const bt_field *e =
				bt_field_array_borrow_element_field_by_index_const(f, i);

			/* single bytes are written without separators */
			if (i && !is_byte(bt_field_borrow_class_const(e)))
				fputc(',', to);
			value(to, e, true);
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		number(to, f, true, in_array);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		number(to, f, false, in_array);
	} else {
		fputc('?', to);
	}
}

/* Returns whether a field is the length of the sequence after it: the text leaves it out. */
static bool is_length(const bt_field_class *payload, uint64_t i, uint64_t count)
{
	const bt_field_class_structure_member *m, *next;
	const char *name;
	size_t len;

	if (i + 1 == count)
		return false;
	m = bt_field_class_structure_borrow_member_by_index_const(payload, i);
	next = bt_field_class_structure_borrow_member_by_index_const(payload, i + 1);
	if (!bt_field_class_type_is(
		    bt_field_class_get_type(
			    bt_field_class_structure_member_borrow_field_class_const(next)),
		    BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
		return false;
	name = bt_field_class_structure_member_get_name(next);
	len = strlen(name);
	return strncmp(bt_field_class_structure_member_get_name(m), name, len) == 0 &&
	       strcmp(bt_field_class_structure_member_get_name(m) + len, "_length") == 0;
}

char *fields_text(const bt_field *payload)
{
	const bt_field_class *class = payload ? bt_field_borrow_class_const(payload) : NULL;
	uint64_t count = class ? bt_field_class_structure_get_member_count(class) : 0;
	const char *separator = "";
	char *out = NULL;
	size_t size = 0;
	FILE *to = mg_text_open(&out, &size);

	if (!to)
		return NULL;
	for (uint64_t i = 0; i < count; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (is_length(class, i, count))
			continue;
		fputs(separator, to);
		separator = " ";
		text(to, bt_field_class_structure_member_get_name(m));
		fputc('=', to);
		value(to, bt_field_structure_borrow_member_field_by_index_const(payload, i), false);
	}
	return mg_text_close(to, &out) ? out : NULL;
}
