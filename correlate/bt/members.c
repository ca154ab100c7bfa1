/* SPDX-License-Identifier: MIT */
#include "members.h"

#include <string.h>

const bt_field *member_of(const bt_field *structure, const char *name)
{
	if (!structure || bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

bool field_integer(const bt_field *f, uint64_t *value)
{
	bt_field_class_type type;

	if (!f)
		return false;
	type = bt_field_get_class_type(f);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = (uint64_t)bt_field_integer_signed_get_value(f);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = bt_field_integer_unsigned_get_value(f);
	else
		return false;
	return true;
}

uint64_t member_integer(const bt_field *structure, const char *name, uint64_t otherwise)
{
	uint64_t v;

	return field_integer(member_of(structure, name), &v) ? v : otherwise;
}

bool field_text(const bt_field *f, char *out, size_t size)
{
	const char *text;

	memset(out, 0, size);
	if (!f || bt_field_get_class_type(f) != BT_FIELD_CLASS_TYPE_STRING)
		return false;
	text = bt_field_string_get_value(f);
	memcpy(out, text, strnlen(text, size - 1));
	return true;
}

bool field_bytes(const bt_field *f, uint8_t *out, size_t size, unsigned int each)
{
	uint64_t v, n = size / each;

	if (!f || bt_field_get_class_type(f) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY ||
		bt_field_array_get_length(f) < n)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!field_integer(bt_field_array_borrow_element_field_by_index_const(f, i), &v))
			return false;
		for (unsigned int b = 0; b < each; b++)
			*out++ = (uint8_t)(v >> 8 * (each - 1 - b));
	}
	return true;
}
