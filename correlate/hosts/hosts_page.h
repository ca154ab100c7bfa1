/* SPDX-License-Identifier: MIT */
/* The report of two hosts as one HTML file: what they have in common, and the page of each. */
#ifndef MAGNET_CORRELATE_HOSTS_PAGE_H
#define MAGNET_CORRELATE_HOSTS_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "between.h"

struct page;
/*
 * Writes the page; first and other belong to the reports of `w`. The frames are those of this page
 * and of one host's, made by the build of page/two-hosts.html and page/page.html. Returns false if
 * a frame has a name that is not known. Errors of writing are those of the stream.
 */
bool hosts_page_write(const struct between *w, struct page *first, struct page *other,
	const char *frame, const char *one_frame, FILE *to);

#endif
