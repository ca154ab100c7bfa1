/* SPDX-License-Identifier: MIT */
/* The pages of magnet top with all connections, and with its help. */
#ifndef MAGNET_CLI_TOP_LIST_H
#define MAGNET_CLI_TOP_LIST_H

#include "top_screen.h"

/* Lines at the begin of each page, and the one of the keys at its end. */
#define TOP_HEAD 6
#define TOP_FOOT 1
/* No page fits in less. */
#define TOP_LINES_MIN   16
#define TOP_COLUMNS_MIN 60

/* Draws what is said of the recording as a whole, above every page. */
void top_draw_head(const struct top_screen *s, const struct top *t);
void top_draw_list(struct top_screen *s, const struct top *t);
void top_draw_help(void);

#endif
