/* SPDX-License-Identifier: MIT */
/* Requests and replies in the text report. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_EXCHANGES_H
#define MAGNET_CORRELATE_RENDER_TEXT_EXCHANGES_H

#include <stdbool.h>
#include <stdio.h>

#include "report.h"

/* Prints exchanges by port and peer; nothing if there are none. */
void text_exchanges(const struct report *r, FILE *to, bool colour);
/* Prints how many exchanges took how long, by port and peer (--histogram). */
void text_histograms(const struct report *r, FILE *to, bool colour);
/* Prints the slowest ones with the parts of their time (--slowest). */
void text_slowest(const struct report *r, FILE *to, bool colour);
/*
 * Prints the one exchange that was kept with figures_keep_exchange(), or why it has no times.
 * Nothing that `f` points to is used.
 */
void text_one_exchange(
	const struct report *r, const struct fact_exchange *f, FILE *to, bool colour);

/* text_slow_ranges.c: nothing where there are no such streams */
void text_slow_ranges(const struct report *r, FILE *to, bool colour);

#endif
