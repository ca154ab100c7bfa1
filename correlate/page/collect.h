/* SPDX-License-Identifier: MIT */
/* Collects what a page shows over time from facts, while the recording is read. */
#ifndef MAGNET_CORRELATE_PAGE_COLLECT_H
#define MAGNET_CORRELATE_PAGE_COLLECT_H

#include <stdio.h>

#include "core/contract.h"
#include "filter/filter.h"
#include "page/texts.h"
#include "page/track.h"
#include "render/report.h"

/* Rows of all charts that a page has at most. */
#define PAGE_ROWS 2000000
/* The largest flows, of which a page has charts. */
#define PAGE_FLOWS 32
/* The slowest exchanges, or byte ranges, of which a page has waterfalls. */
#define PAGE_SLOWEST 10

struct page {
	struct core *core;
	const struct filter *filter; /* NULL: all of the recording is shown */
	struct tracks tracks;
	struct texts texts;
};

/*
 * Collects facts from now on: call it after figures_attach() and before the first event, without
 * core_pack_closed(). The page must stay where it is until the core is gone.
 */
void page_listen(struct page *p, struct core *c, const struct filter *filter);
void page_free(struct page *p);

#endif
