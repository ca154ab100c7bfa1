/* SPDX-License-Identifier: MIT */
/* Prints every event as a line, as text or as tab-separated values. */
#ifndef MAGNET_CORRELATE_RENDER_SHOW_H
#define MAGNET_CORRELATE_RENDER_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/contract.h"
#include "filter/filter.h"
#include "line.h"

struct show {
	FILE *to;
	bool tsv;
	const char *flow;            /* only this flow's events, NULL = all */
	const struct filter *filter; /* NULL = all events */
	struct core *core;
	bool setup; /* text: also the recording's set-up, see below */
	uint64_t first_ns;
	bool begun; /* whether an event of a flow was seen */
	bool has_header;
	bool flow_seen; /* whether an event of the flow was seen */
	bool failed;    /* whether writing failed */
	struct line line;
};

/* Prints the column names, once; call it directly to have them even if no event follows. */
void show_header(struct show *s);
/* Listener for core_listen(); `arg` is a struct show. */
void show_event(void *arg, const struct mg_event *e, const struct annotation *a);

#endif
