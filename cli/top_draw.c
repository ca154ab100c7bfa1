/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "top_draw.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static SCREEN *terminal;
static bool in_colour;

enum pair { PAIR_WARNING = 1, PAIR_SENT, PAIR_RECEIVED };

int draw_open(int colour)
{
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -1;
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	in_colour = colour && has_colors() && start_color() == OK;
	if (in_colour) {
		use_default_colors();
		init_pair(PAIR_WARNING, COLOR_RED, -1);
		init_pair(PAIR_SENT, COLOR_GREEN, -1);
		init_pair(PAIR_RECEIVED, COLOR_CYAN, -1);
	}
	return 0;
}

void draw_close(void)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

void draw_begin(void)
{
	erase();
}

void draw_end(void)
{
	refresh();
}

int draw_lines(void)
{
	return LINES;
}

int draw_columns(void)
{
	return COLS;
}

static attr_t attributes(enum draw_style style)
{
	switch (style) {
	case DRAW_BOLD:
		return A_BOLD;
	case DRAW_REVERSE:
		return A_REVERSE;
	case DRAW_WARNING:
		return A_BOLD | (in_colour ? COLOR_PAIR(PAIR_WARNING) : 0);
	case DRAW_SENT:
		return in_colour ? COLOR_PAIR(PAIR_SENT) : A_NORMAL;
	case DRAW_RECEIVED:
		return in_colour ? COLOR_PAIR(PAIR_RECEIVED) : A_NORMAL;
	default:
		return A_NORMAL;
	}
}

/* Returns how many bytes of a text fit into the columns. */
static int fitting(const char *text, int columns)
{
	int at = 0;

	for (; text[at]; at++)
		if ((text[at] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return at;
}

int draw_text(int line, int column, enum draw_style style, const char *text)
{
	if (line < 0 || line >= LINES || column >= COLS)
		return column;
	attrset(attributes(style));
	mvaddnstr(line, column, text, fitting(text, COLS - column));
	attrset(A_NORMAL);
	/* a text as long as the line goes on in the next one */
	return getcury(stdscr) == line ? getcurx(stdscr) : COLS;
}

int draw_printf(int line, int column, enum draw_style style, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return draw_text(line, column, style, text);
}

void draw_bar(int line, enum draw_style style, const char *left, const char *right)
{
	int at = COLS - (int)strlen(right);

	if (line < 0 || line >= LINES)
		return;
	attrset(attributes(style));
	mvhline(line, 0, ' ', COLS);
	attrset(A_NORMAL);
	draw_text(line, 0, style, left);
	if (at > 0)
		draw_text(line, at, style, right);
}

int draw_key(void)
{
	int key = terminal ? getch() : ERR;

	switch (key) {
	case ERR:
		return -1;
	case KEY_UP:
		return DRAW_UP;
	case KEY_DOWN:
		return DRAW_DOWN;
	case KEY_PPAGE:
		return DRAW_PAGE_UP;
	case KEY_NPAGE:
		return DRAW_PAGE_DOWN;
	case KEY_HOME:
		return DRAW_HOME;
	case KEY_END:
		return DRAW_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return DRAW_ENTER;
	case 27:
		return DRAW_ESCAPE;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		return DRAW_BACKSPACE;
	case KEY_RESIZE:
		clearok(curscr, TRUE); /* terminals differ in what they keep of the old size */
		return DRAW_RESIZED;
	default:
		return key;
	}
}
