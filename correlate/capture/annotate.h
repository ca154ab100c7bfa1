/* SPDX-License-Identifier: MIT */
/* Adds to the packets of a capture what a recording knows of them. */
#ifndef MAGNET_CORRELATE_CAPTURE_ANNOTATE_H
#define MAGNET_CORRELATE_CAPTURE_ANNOTATE_H

#include "capture/capture_clock.h"

struct annotate {
	const struct traffic *t;
	struct capture_reader *capture;
	struct matcher matcher;
	struct capture_clock clock;
	uint64_t packets, matched;
	uint64_t frame_problem[FRAME_PROBLEM_COUNT], match_problem[MATCH_PROBLEMS];
	uint64_t no_room; /* matched, but the block's kind takes no comment */
};

/* Relates the clocks. Returns 0, or -1 with the reason in the capture's `why`. */
int annotate_begin(struct annotate *a, const struct traffic *t, struct capture_reader *capture);
/* Writes the capture with comments. Returns 0; -1 as above; 1 if writing failed. */
int annotate_write(struct annotate *a, const char *program, FILE *to);
void annotate_free(struct annotate *a);

/*
 * Returns the offset in the flow of the first byte of a captured packet that is the recorded one,
 * or a part of it; FACT_NONE if it is not known.
 */
uint64_t annotate_offset(const struct traffic_packet *p, const struct frame *f);

#endif
