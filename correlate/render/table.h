/* SPDX-License-Identifier: MIT */
/* Aligned columns of text, and numbers in readable form. */
#ifndef MAGNET_CORRELATE_RENDER_TABLE_H
#define MAGNET_CORRELATE_RENDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 12
#define CELL_SIZE     80

#define REPORT_WIDTH     100 /* columns of a line where no terminal is narrower or wider */
#define REPORT_WIDTH_MIN 60

struct table {
	char (*cell)[TABLE_COLUMNS][CELL_SIZE];
	int rows, rows_cap, columns;
	bool left[TABLE_COLUMNS]; /* left-aligned columns; numbers are right-aligned */
	const char *drops;        /* see table_drops() */
};

/* Starts a table; `align` has one letter per column, l or r. */
void table_begin(struct table *t, const char *align);
/*
 * Adds a row; the printf-like text has the cells, separated by tabs. One with a left-aligned
 * first cell alone is a heading of the rows below it, and takes the whole line.
 */
void table_row(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes words from the end of the last column's cells, two at a time, where a row is too wide. */
void table_fit(struct table *t, int columns);
/*
 * Sets which columns are left out where the table is wider than the terminal: a digit for each,
 * columns count from 0, and the first of these goes first. The text must outlive the table.
 */
void table_drops(struct table *t, const char *columns);
/*
 * Prints the table with `indent` spaces before each row and the first row emphasised; frees it. No
 * row is wider than the terminal, if its width is known: columns are left out as table_drops()
 * says, then the widest left-aligned cells are shortened.
 */
void table_print(struct table *t, FILE *to, int indent, bool colour);

/* Sets whether the output takes more than ASCII, which decides how µ and arrows are written. */
void text_set_unicode(bool on);
/* How many columns a line may have: REPORT_WIDTH by default, which 0 stands for. */
void text_set_columns(int columns);
int text_columns(void);
const char *text_arrow(void);
const char *text_at_least(void);
const char *text_plus_minus(void);

/* Each function returns one of a few static buffers, so that one printf() can use several. */
const char *text_ns(double ns); /* 610 ns, 0.61 µs, 2.31 ms, 3.02 s */
/*
 * Returns the quantile q of times, which stands for their 99th percentile: "max 3.1 ms" if q is 1,
 * "p87 3.1 ms" if it is below 0.99, "-" if it is so low that it says no more than the median.
 */
const char *text_high(double q, double ns);
/* Returns the same, in a sentence: "p99 3.1 us" too. */
const char *text_named_high(double q, double ns);
const char *text_bytes(double bytes);    /* 50.0 MiB */
const char *text_count(uint64_t n);      /* 311,870 */
const char *text_percent(double share);  /* 0.09 -> 9.0 % */
const char *text_coverage(double share); /* "100 %" only if nothing is missing */
const char *text_bar(double share, int width);

/*
 * Returns a name or command on one line without terminal control characters, cut to `max` bytes
 * (120 at most).
 */
const char *text_plain(const char *s, size_t max);
/* Returns how many columns of a terminal a text takes. */
int text_width(const char *s);

#endif
