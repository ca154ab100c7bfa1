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

/* Begins the fact of a range of bytes of which no time is known yet: it is incomplete. */
static inline void range_begin(
	struct fact_range *r, const struct flow *f, uint64_t offset, uint64_t length)
{
	memset(r, 0xff, sizeof(*r)); /* FACT_NONE, FACT_NO_WORD */
	r->flow = flow_fact(f);
	r->offset = offset;
	r->length = length;
	r->outcome = OUTCOME_INCOMPLETE;
	r->begin = r->transmitted = r->calls_end = 0;
}

#endif
