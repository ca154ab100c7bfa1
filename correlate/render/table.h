/* SPDX-License-Identifier: MIT */
/* Aligned columns of text, and numbers as people read them. */
#ifndef MAGNET_CORRELATE_RENDER_TABLE_H
#define MAGNET_CORRELATE_RENDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 12
#define CELL_SIZE     80

struct table {
	char (*cell)[TABLE_COLUMNS][CELL_SIZE];
	int rows, rows_cap, columns;
	bool left[TABLE_COLUMNS]; /* aligned left; numbers are aligned right */
};

/* `align` has a letter a column, l or r. */
void table_begin(struct table *t, const char *align);
/* Cells are taken from the printf-like text, separated by tabs. */
void table_row(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Take words off the end of the last column's cells, two at a time, where a row is too wide. */
void table_fit(struct table *t, int columns);
/* Print it with `indent` spaces before each row, the first row emphasised; and free it. */
void table_print(struct table *t, FILE *to, int indent, bool colour);

/* Whether the terminal or file takes more than ASCII; decides how µ and arrows are written. */
void text_set_unicode(bool on);
const char *text_arrow(void);
const char *text_at_least(void);

/* Each returns one of a few static buffers, so that several may stand in one printf(). */
const char *text_ns(double ns);          /* 610 ns, 0.61 µs, 2.31 ms, 3.02 s */
const char *text_bytes(double bytes);    /* 50.0 MiB */
const char *text_count(uint64_t n);      /* 311,870 */
const char *text_percent(double share);  /* 0.09 -> 9.0 % */
const char *text_coverage(double share); /* "100 %" only if nothing is missing */
const char *text_bar(double share, int width);

/*
 * Names and commands, which may hold anything, without what a terminal would obey and on one line;
 * not more than `max` bytes, which are at most 120.
 */
const char *text_plain(const char *s, size_t max);
/* How many columns of a terminal a text takes. */
int text_width(const char *s);

#endif
