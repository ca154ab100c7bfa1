/* SPDX-License-Identifier: MIT */
/* Prints every event as a line, as text or as tab-separated values. */
#ifndef MAGNET_CORRELATE_RENDER_SHOW_H
#define MAGNET_CORRELATE_RENDER_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/contract.h"

struct show {
	FILE *to;
	bool tsv;
	const char *flow;    /* only this flow's events, NULL = all */
	double from_s, to_s; /* seconds since the first event; to_s < 0 = until the end */
	uint64_t first_ns;
	bool has_header;
	bool flow_seen; /* whether an event of the flow was seen */
	bool failed;    /* whether writing failed */
};

/* Prints the column names, once; call it directly to have them even if no event follows. */
void show_header(struct show *s);
/* Listener for core_listen(); `arg` is a struct show. */
void show_event(void *arg, const struct mg_event *e, const struct annotation *a);

#endif
