/* SPDX-License-Identifier: MIT */
/* The connections of magnet top as rows: chosen, figured and sorted. */
#ifndef MAGNET_CLI_TOP_ROWS_H
#define MAGNET_CLI_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/window.h"

/* Figures over the window; NAN, or -1 for the stage: not known. */
struct top_row {
	const struct live_connection *of;
	uint64_t sock, pid;
	const char *protocol;
	char program[24], local[64], remote[64];
	double rate[2];                                 /* sent, received: bytes a second */
	double exchanges;                               /* a second */
	double reply_p50_ns, reply_high, reply_high_ns; /* reply_high: the percentile */
	double ack_p50_ns, ack_high, ack_high_ns;       /* of sends by the kernel's timestamps */
	double modulation;
	uint64_t retransmits; /* FACT_NONE: not recorded */
	int stage;
	double stage_share;
	bool is_idle; /* nothing happened in the window */
};

struct top_rows {
	struct top_row *row;
	size_t n;
	size_t hidden; /* left out by the filter */
	size_t idle;   /* left out as nothing happened */
};

struct top_view {
	uint8_t sort; /* number of a column */
	bool reverse;
	bool with_idle;
	char filter[64]; /* text in program, address or protocol; "" takes all */
};

/* Makes the rows over the last `slots` intervals. Returns false without memory. */
bool top_rows_make(
	struct top_rows *r, const struct live *l, const struct top_view *v, uint32_t slots);
void top_rows_free(struct top_rows *r);
/* Fills in the figures of r->of over the last `slots` intervals. */
void top_row_figures(struct top_row *r, const struct live *l, uint32_t slots);
/* Fills in who a connection is: program, process, protocol and addresses. */
void top_row_identify(struct top_row *r, struct core *c, uint64_t sock);

#endif
