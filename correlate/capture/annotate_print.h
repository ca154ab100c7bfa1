/* SPDX-License-Identifier: MIT */
/* The result of comparing a capture with a recording, as text and as JSON. */
#ifndef MAGNET_CORRELATE_CAPTURE_ANNOTATE_PRINT_H
#define MAGNET_CORRELATE_CAPTURE_ANNOTATE_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "capture/annotate.h"

/* The relation of the clocks in the middle of the capture. */
struct annotate_relation {
	bool known;
	double ahead_ns;       /* the capture's clock, of the recording's wall clock; see below */
	double half_ns;        /* largest bound of the error over the capture */
	double rate_ppm;       /* by which it runs faster; NAN: not known */
	double rate_error_ppm; /* NAN: not known */
	bool is_wall;          /* false: ahead of CLOCK_MONOTONIC, as no wall clock is recorded */
	size_t sent, received, windows;
};
void annotate_relation(const struct annotate *a, struct annotate_relation *to);

void annotate_text(const struct annotate *a, FILE *to);
/* Prints only how the clocks relate. */
void annotate_clock_text(const struct annotate *a, FILE *to);
/* Returns a new reference. */
json_t *annotate_json(const struct annotate *a);

#endif
