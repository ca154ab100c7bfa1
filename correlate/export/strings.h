/* SPDX-License-Identifier: MIT */
/* Distinct texts with numbers, in the order in which they came; number 0 is the empty text. */
#ifndef MAGNET_CORRELATE_EXPORT_STRINGS_H
#define MAGNET_CORRELATE_EXPORT_STRINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct strings {
	struct string *by_text; /* hash table */
	struct string **of;     /* by number */
	uint32_t n, room;
};

void strings_free(struct strings *s);
/* Returns the number of a text; 0 without memory. */
uint32_t strings_number(struct strings *s, const char *text, size_t length);
/* Writes all texts as a JSON array in order of their numbers, as json_print_text() does. */
void strings_json(const struct strings *s, FILE *to);

#endif
