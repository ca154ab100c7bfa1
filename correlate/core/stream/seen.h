/* SPDX-License-Identifier: MIT */
/* Shared by both directions of a stream: a packet as it was seen, a range before its times. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_SEEN_H
#define MAGNET_CORRELATE_CORE_STREAM_SEEN_H

#include <string.h>

#include "core.h"

/* A packet as an event tells of it. */
struct seen {
	uint32_t seq, len; /* of its payload */
	uint32_t wire;     /* as struct passing has them: */
	uint32_t packets;
	uint64_t t;
};

/* Returns the fact of a range of bytes of which no time is known. */
static inline struct fact_range range_without_times(
	const struct flow *f, uint64_t offset, uint64_t length, enum fact_outcome outcome)
{
	struct fact_range r = {.flow = flow_fact(f),
		.offset = offset,
		.length = length,
		.outcome = (uint8_t)outcome,
		.total = FACT_NONE,
		.why = FACT_NO_WORD,
		.released_by = FACT_NO_WORD};

	memset(r.stage, 0xff, sizeof(r.stage)); /* FACT_NONE */
	memset(r.held, 0xff, sizeof(r.held));
	return r;
}

#endif
