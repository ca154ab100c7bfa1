/* SPDX-License-Identifier: MIT */
/* Text form of the fields of events that are not in the table, shared by all readers. */
#ifndef MAGNET_COMMON_FIELD_TEXT_H
#define MAGNET_COMMON_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes text without spaces and unprintable characters. */
void field_text_words(FILE *to, const char *s, size_t length);
/* Writes a number; `value` is sign-extended if `is_signed`. */
void field_text_number(FILE *to, uint64_t value, bool is_signed, bool is_hex, bool in_array);

#endif
