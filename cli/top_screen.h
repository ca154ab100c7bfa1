/* SPDX-License-Identifier: MIT */
/* The terminal of magnet top, by ncurses: what is shown on it, and its keys. */
#ifndef MAGNET_CLI_TOP_SCREEN_H
#define MAGNET_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "live/scope.h"
#include "top.h"

enum top_page { PAGE_LIST, PAGE_ONE, PAGE_HELP };

struct top_screen {
	enum top_page page;
	struct top_rows rows;      /* as last made */
	uint64_t selected;         /* socket; 0: the first row */
	size_t first;              /* first row that is shown */
	size_t page_rows;          /* rows that fit */
	bool is_paused, is_typing; /* typing: a filter */
	enum scope_kind scope;
	uint32_t scope_seconds;
};

/* Takes the terminal over. Returns -1 after a message. */
int top_screen_open(struct top_screen *s, bool colour);
/* Gives it back as it was. May be called at any time, and again. */
void top_screen_close(struct top_screen *s);
/* Takes new figures, unless paused. */
void top_screen_refresh(struct top_screen *s, struct top *t);
/* Draws everything. */
void top_screen_draw(struct top_screen *s, const struct top *t);
/* Takes all keys that were pressed. Returns whether there were any. */
bool top_screen_keys(struct top_screen *s, struct top *t);
/* Returns the selected row; NULL if there is none. */
const struct top_row *top_selected(const struct top_screen *s);

#endif
