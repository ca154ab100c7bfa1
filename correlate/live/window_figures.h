/* SPDX-License-Identifier: MIT */
/* Figures of the sums over a window; NAN: not known. */
#ifndef MAGNET_CORRELATE_LIVE_WINDOW_FIGURES_H
#define MAGNET_CORRELATE_LIVE_WINDOW_FIGURES_H

#include "live/window.h"

/* Returns a percentile of times in cycles, ns; it needs ten beyond it. */
double live_quantile_ns(const struct live *l, const struct dist *d, double quantile);
/*
 * Returns the largest percentile that holds, as dist_highest() does, and fills in the time there,
 * ns; NAN of no times.
 */
double live_highest(const struct live *l, const struct dist *d, double *ns);
/* Returns the modulation M of the sent bytes. */
double live_modulation(const struct live_sums *s);
/*
 * Fills in the time in each stage, of bytes that were followed; if there are none, of sends by the
 * kernel's timestamps. Returns their sum.
 */
double live_stages(const struct live_sums *s, double time[LIVE_STAGES]);
/* Returns the stage in which bytes spent most time, and its share; -1: not known. */
int live_stage(const struct live_sums *s, double *share);
/* Returns whether it is one of sent bytes. */
bool live_stage_is_sent(int stage);
/* Return the name of a stage, and the words for it. */
const char *live_stage_name(int stage);
const char *live_stage_label(int stage);

#endif
