/* SPDX-License-Identifier: MIT */
/*
 * A capture as one more layer of a recording's flows, "wire": after the driver for bytes that were
 * sent, before the device for those that were received (method, "Captures").
 */
#ifndef MAGNET_CORRELATE_CAPTURE_WIRE_H
#define MAGNET_CORRELATE_CAPTURE_WIRE_H

#include "capture/annotate.h"
#include "sums/units.h"

/* A time of bytes, ns, and the largest error of any of them. */
struct wire_time {
	struct dist dist;
	double half;
};

struct wire_flow {
	struct {
		uint64_t sock;
		uint64_t rx; /* 0 or 1 */
	} key;
	uint64_t packets, bytes, wire_bytes;
	struct unit_stats units;      /* packets with payload; times in ns */
	struct wire_time device;      /* between driver or device and wire */
	struct wire_time call, total; /* between call and driver or device; both together */
	UT_hash_handle hh;
};

struct wire {
	struct annotate annotate;
	const char *path;
	uint64_t packets, found;
	struct wire_flow *flows; /* in order of their first packets */
};

/*
 * Relates the clocks and takes the capture's packets. Returns 0, or -1 with the reason in the
 * capture's `why`. The caller frees `w` in any case.
 */
int wire_read(struct wire *w, const struct traffic *t, struct capture_reader *capture);
/* Returns a flow of the recording as the capture has it; NULL if it has no packet of it. */
const struct wire_flow *wire_flow(const struct wire *w, struct fact_flow_id flow);
void wire_free(struct wire *w);

#endif
