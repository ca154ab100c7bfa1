/* SPDX-License-Identifier: MIT */
/* Breaks lines at spaces where they are wider than the terminal. */
#include "wrap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "table.h"

#define HANG 2 /* columns by which the rest of a line is indented */

/* Returns the length of the sequence that sets a colour, 0 if there is none. */
static size_t colour_at(const char *s)
{
	return s[0] == '\033' && s[1] == '[' ? strcspn(s, "m") + (strchr(s, 'm') != NULL) : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns whether the space is in "433 ms" or "M = 0.98", which stay together. */
static bool is_in_figure(const char *space)
{
	return space[-1] == '=' || space[1] == '=' ||
	       (is_digit(space[-1]) && space[1] != ' ' && !is_digit(space[1]));
}

/* Returns how many bytes of a line fit into the columns: up to a space, or the whole first word. */
static size_t fitting(const char *line, size_t length, int columns)
{
	size_t at = strspn(line, " "), space = 0;
	int column = (int)at;

	while (at < length) {
		size_t colour = colour_at(line + at);

		if (line[at] == ' ' && at && line[at - 1] != ' ' && !is_in_figure(line + at))
			space = at;
		if (!colour && (line[at] & 0xc0) != 0x80 && ++column > columns && space)
			return space;
		at += colour ? colour : 1;
	}
	return length;
}

static void wrap_line(const char *line, size_t length, FILE *to)
{
	int indent = (int)strspn(line, " ") + HANG, columns = text_columns();
	size_t n = fitting(line, length, columns);

	fwrite(line, 1, n, to);
	while (n < length) {
		line += n;
		length -= n;
		while (length && *line == ' ') {
			line++;
			length--;
		}
		if (!length)
			return;
		n = fitting(line, length, columns - indent);
		fprintf(to, "\n%*s", indent, "");
		fwrite(line, 1, n, to);
	}
}

void text_wrap(const char *text, FILE *to)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		wrap_line(text, length, to);
		text += length;
		if (*text) {
			fputc('\n', to);
			text++;
		}
	}
}

int text_lines(const char *text)
{
	char *wrapped;
	size_t size;
	FILE *to = mg_text_open(&wrapped, &size);
	int n = 0;

	if (!to)
		return 0;
	text_wrap(text, to);
	if (!mg_text_close(to, &wrapped))
		return 0;
	for (const char *at = wrapped; (at = strchr(at, '\n')); at++)
		n++;
	free(wrapped);
	return n;
}
