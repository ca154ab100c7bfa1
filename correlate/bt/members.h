/* SPDX-License-Identifier: MIT */
/* Members of babeltrace2's structure fields by name, whatever their types. */
#ifndef MAGNET_CORRELATE_BT_MEMBERS_H
#define MAGNET_CORRELATE_BT_MEMBERS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the member of this name; NULL if there is none or `structure` is NULL. */
const bt_field *member_of(const bt_field *structure, const char *name);
/* Returns the member's value, `otherwise` if it is no integer. */
uint64_t member_integer(const bt_field *structure, const char *name, uint64_t otherwise);
bool field_integer(const bt_field *f, uint64_t *value);
/*
 * Copies text or an array of bytes, at most size - 1 of them, zero-padded. Returns whether it is
 * either.
 */
bool field_text(const bt_field *f, char *out, size_t size);
/*
 * Copies an array of integers of `each` bytes in network order. Returns false if its length
 * differs.
 */
bool field_bytes(const bt_field *f, uint8_t *out, size_t size, unsigned int each);

#endif
