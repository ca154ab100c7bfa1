/* SPDX-License-Identifier: MIT */
/* The pages of magnet top with all connections, and with its help. */
#ifndef MAGNET_CLI_TOP_LIST_H
#define MAGNET_CLI_TOP_LIST_H

#include "top_draw.h"
#include "top_screen.h"

/* No page fits in less. */
#define TOP_LINES_MIN   20
#define TOP_COLUMNS_MIN 60

/* Draws what is said of the recording as a whole, above every page. Returns the line behind it. */
int top_draw_head(const struct top_screen *s, const struct top *t);
/* Draws the list from a line on: a notice, the names of the columns, the rows. */
void top_draw_list(struct top_screen *s, const struct top *t, int line);
void top_draw_help(void);
/* Formats a count; "n/a" of FACT_NONE. */
const char *top_count(uint64_t n);
/*
 * Draws a text, and moves on to where the next may begin; one that does not fit begins a new line
 * at column `left`.
 */
void top_put(int *line, int *column, int left, enum draw_style style, const char *text);
/* Draws the keys in the last line: all of them, or where they do not fit those that matter most. */
void top_draw_keys(const char *all, const char *few);

#endif
