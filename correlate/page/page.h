/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML file that needs nothing else. Its figures are those of the report; what it
 * shows over time was collected from facts.
 */
#ifndef MAGNET_CORRELATE_PAGE_PAGE_H
#define MAGNET_CORRELATE_PAGE_PAGE_H

#include <stdio.h>

#include "page/collect.h"

/*
 * Writes the page. `frame` is the file that the build makes of the folder page/: a page without
 * content, in which `<!--magnet NAME-->` stands where something belongs. Returns false if it has a
 * name that is not known. Errors of writing are those of the stream.
 */
bool page_write(struct page *p, const struct report *r, const char *frame, FILE *to);
#endif
