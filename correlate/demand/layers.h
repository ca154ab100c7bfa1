/* SPDX-License-Identifier: MIT */
/* The layers of a flow as arrays of packets on one time axis, the input of statistics on demand. */
#ifndef MAGNET_CORRELATE_LAYERS_H
#define MAGNET_CORRELATE_LAYERS_H

#include "demand.h"
#include "render/report.h"
#include "stats.h"

#define LAYERS_MAX  (TX_LAYERS + 1)
#define COVERS_MOST 0.99 /* share of bytes below which figures are flagged with a star */
#define COVERS_MUCH 0.90 /* share below which they are not shown */

struct layer {
	const char *name;
	const struct fact_flow *flow; /* the flow itself, or its peer's */
	int at;                       /* layer of that flow: enum tx_layer or rx_layer */
	const struct unit_stats *units;
	double coverage; /* NAN where it is not known */
	struct stat_gap *gap;
	size_t gaps;
	double time_coverage;
};

struct layers {
	const struct report *r;
	const struct fact_flow *flow;
	struct fact_flow peer; /* of a received flow, if there is one */
	struct layer v[LAYERS_MAX];
	int n;
	uint64_t origin; /* cycles */
	double end_ns;   /* ns after the origin */
};

/* Collects the layers that saw any packet. Returns 0 or -ENOMEM. */
int layers_init(struct layers *l, const struct report *r, const struct fact_flow *f);
void layers_free(struct layers *l);
/* Returns the layer of that name, NULL if it saw nothing. */
const struct layer *layers_find(const struct layers *l, const char *name);
struct stat_gaps layer_gaps(const struct layer *l);
/* Returns why no statistic can be computed for a layer; NULL if it can. */
const char *layer_refused(const struct layers *l, const struct layer *of);
/*
 * Returns its packets with their payload, in order of time; the caller frees them. -ENOMEM if
 * memory is short.
 */
int layer_units(const struct layers *l, const struct layer *of, struct stat_unit **u, size_t *n);
/*
 * The same including retransmitted data, and with headers where the layer sees them, less `link`
 * bytes each at a sending device.
 */
int layer_frames(const struct layers *l, const struct layer *of, double link, struct stat_unit **u,
	size_t *n);
/* Returns whether layer_frames() includes headers. */
bool layer_sees_frames(const struct layer *l);
/* Returns the number of bins on the whole axis, BINS_MAX at most. */
size_t layers_bins(const struct layers *l, double bin_ms);
/* Returns what falls into each bin; the caller frees it. */
int layer_bins(
	const struct layers *l, const struct layer *of, double bin_ms, bool count, double **bin);

/* Returns why there are too many bins for what the layer saw; NULL if there are not. */
const char *layer_too_fine(const struct layer *of, size_t bins);

#define BINS_MAX      ((size_t)1 << 24)
#define BINS_ANYWAY   65536 /* allowed however few packets there are */
#define BINS_PER_UNIT 1000  /* allowed per packet beyond that */

#endif
