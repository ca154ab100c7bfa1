/* SPDX-License-Identifier: MIT */
/* The recording, and all of its flows. */
#ifndef MAGNET_CORRELATE_REPORTED_REPORT_H
#define MAGNET_CORRELATE_REPORTED_REPORT_H

#include "render/report.h"
#include "reported/value.h"

struct report_figures {
	const struct report *r;
	const char *only; /* as in report_json() */
	size_t one;       /* number of the only flow */
	struct together *groups;
	size_t groups_n;
};

/* The caller frees them. */
struct report_figures report_figures_of(const struct report *r, const char *only);
void report_figures_free(struct report_figures *f);

#endif
