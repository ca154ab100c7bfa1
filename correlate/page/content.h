/* SPDX-License-Identifier: MIT */
/* Which lines and rows a page has, the list of them, and their numbers. */
#ifndef MAGNET_CORRELATE_PAGE_CONTENT_H
#define MAGNET_CORRELATE_PAGE_CONTENT_H

#include "page/collect.h"

/* Returns a new object: the tracks, distributions, texts and words of a page. */
json_t *content_json(struct page *p, const struct report *r);
/* Writes the numbers of these tracks, a script element each. */
void content_tracks(struct page *p, const struct report *r, FILE *to);

#endif
