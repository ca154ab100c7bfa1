/* SPDX-License-Identifier: MIT */
/*
 * A line of text that is put together in memory and written at once: numbers and words without
 * the cost of stdio's formats, for output of millions of lines. What does not fit is written
 * early; other output to the same stream belongs between line_end() and the next text.
 */
#ifndef MAGNET_COMMON_LINE_H
#define MAGNET_COMMON_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES  4096
#define LINE_NUMBER 24 /* bytes, the longest number */

struct line {
	FILE *to;
	size_t used;
	char at[LINE_BYTES];
};

/* Writes what there is. */
void line_flush(struct line *l);
void line_bytes(struct line *l, const char *s, size_t length);
/* Adds text without spaces and unprintable characters: '_' stands for them. */
void line_words(struct line *l, const char *s, size_t length);
void line_unsigned(struct line *l, uint64_t value);
void line_signed(struct line *l, int64_t value);
/* Adds 0x and hexadecimal digits without leading zeros. */
void line_hex(struct line *l, uint64_t value);
/* Adds a number with one decimal, rounded as printf() does. */
void line_tenths(struct line *l, double value);
/* Adds a number with twelve digits. */
void line_number(struct line *l, double value);

/* Adds text; most is short, for which a loop is faster than strlen() and memcpy(). */
static inline void line_text(struct line *l, const char *s)
{
	char *at = l->at + l->used, *end = l->at + sizeof(l->at);

	while (*s && at < end)
		*at++ = *s++;
	l->used = (size_t)(at - l->at);
	if (*s)
		line_bytes(l, s, strlen(s));
}

static inline void line_char(struct line *l, char c)
{
	if (l->used == sizeof(l->at))
		line_flush(l);
	l->at[l->used++] = c;
}

/* Ends the line and writes it. */
static inline void line_end(struct line *l)
{
	line_char(l, '\n');
	line_flush(l);
}

#endif
