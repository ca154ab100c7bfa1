/* SPDX-License-Identifier: MIT */
/* State of a TCP connection, and what happened to it. */
#ifndef MAGNET_CORRELATE_REPORTED_TCP_H
#define MAGNET_CORRELATE_REPORTED_TCP_H

#include "render/report.h"

struct tcp_figures {
	const struct report *r;
	const struct fact_flow *f;
	const struct tcp_record *t;
};

struct extent_figures {
	const struct extent *x;
};

/* Returns false if it is not TCP's or the kernel side was not recorded. `t` may be NULL. */
bool tcp_figures_of(const struct report *r, const struct fact_flow *f, const struct tcp_record *t,
	struct tcp_figures *to);

#endif
