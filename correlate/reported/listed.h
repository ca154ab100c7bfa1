/* SPDX-License-Identifier: MIT */
/* The lists that a recording has: programs not seen, marks, chosen events, hooks. */
#ifndef MAGNET_CORRELATE_REPORTED_LISTED_H
#define MAGNET_CORRELATE_REPORTED_LISTED_H

#include "render/report.h"

struct unseen_figures {
	const struct unseen *u;
};

struct marked_bytes_figures {
	const struct span *s;
	char flow[32];
};

struct mark_figures {
	const struct report *r;
	const struct mark *m;
};

struct other_event_figures {
	const struct other_stats *o;
};

struct hook_figures {
	const struct hook_info *h;
};

#endif
