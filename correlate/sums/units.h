/* SPDX-License-Identifier: MIT */
/* Sizes and spacings of packets at a layer (method: Table III of the seeds). */
#ifndef MAGNET_CORRELATE_SUMS_UNITS_H
#define MAGNET_CORRELATE_SUMS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "sums/dist.h"
#include "sums/series.h"

/* Sizes and spacings of the packets (calls, super-segments, frames) at one layer. */
struct unit_stats {
	uint64_t n;
	uint64_t frames; /* segments, datagrams or fragments they stand for; 0 where not seen */
	uint64_t bytes;  /* payload */
	double size_sum2;
	uint64_t first_t, last_t;  /* cycles */
	double gap_sum2;           /* sum over spacings, cycles squared */
	struct dist gaps;          /* spacings, cycles, without those that touch a loss */
	uint64_t gap_from, gap_to; /* the latest loss, cycles */
	uint64_t again;            /* payload bytes that had passed before */
	uint64_t again_n,
		again_frames;  /* packets with no new bytes, and the frames they stand for */
	bool repeats;          /* the last packet had no new bytes */
	uint64_t wire_bytes;   /* frames with headers, where the layer sees them */
	struct series *series; /* each packet, NULL unless asked for */
};

void unit_add(struct unit_stats *u, uint64_t t, uint64_t size);
/* Notes a packet without new bytes. */
void unit_repeat(struct unit_stats *u, uint64_t t, uint64_t len);
/* Adds `len` bytes with sequence numbers, of which `fresh` were not seen before. */
static inline void unit_pass(struct unit_stats *u, uint64_t t, uint64_t len, uint64_t fresh)
{
	u->again += len - fresh;
	u->repeats = len && !fresh; /* an empty datagram is a new one */
	if (u->repeats)
		unit_repeat(u, t, len);
	else
		unit_add(u, t, len);
}
/* Enlarges the packet added last. */
void unit_more(struct unit_stats *u, uint64_t bytes);
/* Sets the size with headers of the packet added last, and the frames it stands for. */
static inline void unit_wire(struct unit_stats *u, uint64_t frame, uint64_t packets)
{
	u->wire_bytes += frame;
	u->frames += packets;
	if (u->repeats)
		u->again_frames += packets;
	if (u->series)
		series_set_frame(u->series, frame);
}
/* Marks an interval in which packets may be missing: spacings that touch it do not count. */
void unit_gap(struct unit_stats *u, uint64_t from, uint64_t to);
double unit_mean_size(const struct unit_stats *u);
double unit_cov_size(const struct unit_stats *u);
double unit_mean_gap(const struct unit_stats *u); /* cycles */
double unit_cov_gap(const struct unit_stats *u);
void unit_free(struct unit_stats *u);

#endif
