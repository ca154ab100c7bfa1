/* SPDX-License-Identifier: MIT */
/* magnet report --html: the report as a page, in a file. */
#ifndef MAGNET_CLI_REPORT_PAGE_H
#define MAGNET_CLI_REPORT_PAGE_H

#include "render/report.h"

struct page;
/* Returns the frame of a page that the build made, to be freed; NULL after a message. */
char *page_frame(void);
/* Writes the page to a file. Returns an exit status. */
int page_to_file(struct page *p, const struct report *r, const char *frame, const char *path);

#endif
