/* SPDX-License-Identifier: MIT */
/* Writing on the terminal, line by line. Includes no header of ncurses, whose macros clash. */
#ifndef MAGNET_CLI_TOP_DRAW_H
#define MAGNET_CLI_TOP_DRAW_H

enum draw_style { DRAW_PLAIN, DRAW_BOLD, DRAW_REVERSE, DRAW_WARNING, DRAW_SENT, DRAW_RECEIVED };

/* Returns 0, or -1 if the terminal cannot be used. */
int draw_open(int colour);
void draw_close(void);
void draw_begin(void);
void draw_end(void);
int draw_lines(void);
int draw_columns(void);
/* Writes a text at a place; what does not fit in the line is left out. Returns the column behind.
 */
int draw_text(int line, int column, enum draw_style style, const char *text);
/* Writes a line over its full width. */
void draw_bar(int line, enum draw_style style, const char *left, const char *right);
int draw_printf(int line, int column, enum draw_style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Returns the next key; -1: none. */
int draw_key(void);

enum draw_key {
	DRAW_UP = 0x10000,
	DRAW_DOWN,
	DRAW_PAGE_UP,
	DRAW_PAGE_DOWN,
	DRAW_HOME,
	DRAW_END,
	DRAW_ENTER,
	DRAW_ESCAPE,
	DRAW_BACKSPACE,
	DRAW_RESIZED,
};

#endif
