/* SPDX-License-Identifier: MIT */
/* Fills the frame of a page, in which `<!--magnet NAME-->` stands where something belongs. */
#ifndef MAGNET_CORRELATE_PAGE_FILL_H
#define MAGNET_CORRELATE_PAGE_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct page_part {
	const char *name;
	void (*write)(void *arg, FILE *to);
};

/*
 * Writes the frame with its parts. Returns false if it has a name that is not known. Errors of
 * writing are those of the stream.
 */
bool page_fill(const char *frame, const struct page_part *parts, size_t n, void *arg, FILE *to);
/* Writes a text for an element or an attribute of HTML. */
void page_escape(const char *text, FILE *to);
/* Writes what `print` prints, in lines of at most so many columns. */
void page_text(void (*print)(void *arg, FILE *to), void *arg, int columns, FILE *to);

/* Columns of the first screen: of a terminal, and of a telephone. */
#define PAGE_WIDE   88
#define PAGE_NARROW 60

#endif
