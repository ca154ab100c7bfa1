/* SPDX-License-Identifier: MIT */
/* Members of babeltrace2's structure fields by their names, whatever their types are. */
#ifndef MAGNET_CORRELATE_BT_MEMBERS_H
#define MAGNET_CORRELATE_BT_MEMBERS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL if the structure (which may be NULL) has none of this name. */
const bt_field *member_of(const bt_field *structure, const char *name);
/* `otherwise` if it is no integer. */
uint64_t member_integer(const bt_field *structure, const char *name, uint64_t otherwise);
bool field_integer(const bt_field *f, uint64_t *value);
/* Text, or an array of bytes; at most size - 1 of them, zero-padded. */
bool field_text(const bt_field *f, char *out, size_t size);
/* An array of integers of `each` bytes, in network order; false if it has not so many. */
bool field_bytes(const bt_field *f, uint8_t *out, size_t size, unsigned int each);

#endif
