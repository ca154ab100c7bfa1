/* SPDX-License-Identifier: MIT */
/* The lists that a recording has: programs not seen, marks, chosen events, hooks. */
#ifndef MAGNET_CORRELATE_REPORTED_LISTED_H
#define MAGNET_CORRELATE_REPORTED_LISTED_H

#include "render/report.h"

struct unseen_figures {
	struct fact_bypass u;
};

struct marked_bytes_figures {
	uint64_t offset, length;
	char flow[32];
};

struct mark_figures {
	const struct report *r;
	struct fact_mark m;
};

struct other_event_figures {
	struct fact_chosen o;
};

struct dump_figures {
	struct fact_dump d;
	char flow[32]; /* "": none */
};

struct hook_figures {
	struct fact_hook h;
};

#endif
