/* SPDX-License-Identifier: MIT */
/* How the fields of events that are not in the table are written as text, whoever reads them. */
#ifndef MAGNET_CORRELATE_FIELD_TEXT_H
#define MAGNET_CORRELATE_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Without spaces and what cannot be seen. */
void field_text_words(FILE *to, const char *s, size_t length);
/* `value` of a signed one is sign-extended. */
void field_text_number(FILE *to, uint64_t value, bool is_signed, bool is_hex, bool in_array);

#endif
