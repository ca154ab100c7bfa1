/* SPDX-License-Identifier: MIT */
/* magnet report --html: the report as a page, in a file. */
#ifndef MAGNET_CLI_REPORT_PAGE_H
#define MAGNET_CLI_REPORT_PAGE_H

#include "render/report.h"

struct page;
struct between;

/*
 * Returns a frame that the build made, page.html or two-hosts.html, to be freed; NULL after a
 * message.
 */
char *page_frame(const char *name);
/* Writes the page of one host to a file. Returns an exit status. */
int page_to_file(struct page *p, const struct report *r, const char *frame, const char *path);
/* The same of two hosts, each of which has its page within. */
int hosts_page_to_file(struct page *first, struct page *other, const struct between *w,
	const char *frame, const char *one_frame, const char *path);

#endif
