/* SPDX-License-Identifier: MIT */
/* Every event as a line, for people or as tab-separated values. */
#ifndef MAGNET_CORRELATE_RENDER_SHOW_H
#define MAGNET_CORRELATE_RENDER_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core.h"

struct show {
	FILE *to;
	bool tsv;
	const char *flow;    /* only this flow's events, NULL = all */
	double from_s, to_s; /* seconds since the first event; to_s < 0 = until the end */
	uint64_t first_ns;
	bool has_header;
	bool flow_seen; /* an event of that flow came by */
	bool failed;    /* the output took no more */
};

/* The row of column names, once: for who wants it also where there is no event. */
void show_header(struct show *s);
/* A listener for core_listen(); `arg` is a struct show. */
void show_event(void *arg, const struct mg_event *e, const struct annotation *a);

#endif
