/* SPDX-License-Identifier: MIT */
/* Texts that occur often, each kept once and known by its number. */
#ifndef MAGNET_CORRELATE_PAGE_TEXTS_H
#define MAGNET_CORRELATE_PAGE_TEXTS_H

#include <jansson.h>
#include <stdint.h>

struct text_entry;
struct texts {
	struct text_entry *table; /* a hash table, in the order of their numbers */
};

/* Returns the number of a text, from 0. */
uint32_t texts_number(struct texts *t, const char *text);
/* Returns all of them in a new list, whose index is the number. */
json_t *texts_json(const struct texts *t);
void texts_free(struct texts *t);

#endif
