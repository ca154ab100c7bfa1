/* SPDX-License-Identifier: MIT */
/*
 * Words for numbers in events that people read: errors, system calls that threads blocked in,
 * states of threads, and flags of TCP. The tab-separated form has the numbers.
 */
#ifndef MAGNET_CORRELATE_RENDER_SHOW_WORDS_H
#define MAGNET_CORRELATE_RENDER_SHOW_WORDS_H

#include "core/contract.h"
#include "event_table.h"

#define SHOW_WORDS 64
/* Writes the word for a field's value. Returns false if there is none; the core may be NULL. */
bool show_words(struct core *c, const struct mg_event *e, const struct mg_field_desc *f,
	int64_t value, char out[SHOW_WORDS]);

#endif
