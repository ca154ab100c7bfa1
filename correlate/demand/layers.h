/* SPDX-License-Identifier: MIT */
/* A flow's layers as figures on demand take them: arrays of units on one axis of time. */
#ifndef MAGNET_CORRELATE_LAYERS_H
#define MAGNET_CORRELATE_LAYERS_H

#include "demand.h"
#include "render/report.h"
#include "stats.h"

#define LAYERS_MAX  (TX_LAYERS + 1)
#define COVERS_MOST 0.99 /* else figures have a star, */
#define COVERS_MUCH 0.90 /* or are withheld */

struct layer {
	const char *name;
	const struct flow *flow; /* its own, or the peer's */
	int at;                  /* of that: enum tx_layer or rx_layer */
	const struct unit_stats *units;
	double coverage; /* NAN where nobody knows */
	struct stat_gap *gap;
	size_t gaps;
	double time_coverage;
};

struct layers {
	const struct report *r;
	const struct flow *flow;
	struct layer v[LAYERS_MAX];
	int n;
	uint64_t origin; /* cycles */
	double end_ns;   /* after the origin */
};

/* Those that saw anything. Returns 0 or -ENOMEM. */
int layers_init(struct layers *l, const struct report *r, const struct flow *f);
void layers_free(struct layers *l);
/* NULL if that layer saw nothing. */
const struct layer *layers_find(const struct layers *l, const char *name);
struct stat_gaps layer_gaps(const struct layer *l);
/* Why nothing can be said of it, NULL if something can. */
const char *layer_refused(const struct layers *l, const struct layer *of);
/* Its units with their payload, in order of time; free() them. -ENOMEM without memory. */
int layer_units(const struct layers *l, const struct layer *of, struct stat_unit **u, size_t *n);
/*
 * The same with all that is sent again, and with headers where the layer sees them, less `link`
 * bytes of each at a device that sends.
 */
int layer_frames(const struct layers *l, const struct layer *of, double link, struct stat_unit **u,
	size_t *n);
/* Whether layer_frames() has headers. */
bool layer_sees_frames(const struct layer *l);
/* Bins of the whole axis; BINS_MAX also if there were more. */
size_t layers_bins(const struct layers *l, double bin_ms);
/* What falls into them; free() it. */
int layer_bins(
	const struct layers *l, const struct layer *of, double bin_ms, bool count, double **bin);

/* Why so many bins are too many for what it saw, NULL if they are not. */
const char *layer_too_fine(const struct layer *of, size_t bins);

#define BINS_MAX      ((size_t)1 << 24)
#define BINS_ANYWAY   65536 /* however little there is in them, */
#define BINS_PER_UNIT 1000  /* and then not more than so many for each unit */

#endif
