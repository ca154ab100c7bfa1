/* SPDX-License-Identifier: MIT */
/* Getters of one flow, from its fact alone. */
#ifndef MAGNET_CORRELATE_FIGURES_FLOWS_H
#define MAGNET_CORRELATE_FIGURES_FLOWS_H

#include "facts/facts.h"

/* Returns the bytes that passed during the recording; of sums of flows, those of all. */
static inline uint64_t flow_bytes(const struct fact_flow *f)
{
	return f->end - f->offset;
}

/* Returns whether it is known with whom an unconnected socket exchanged datagrams. */
static inline bool flow_has_far_ends(const struct fact_flow *f)
{
	return f->several_remotes != FACT_MAYBE;
}

/* Returns the port that the socket is connected to; 0: it is not. */
static inline uint16_t flow_remote_port(const struct fact_flow *f)
{
	return flow_has_far_ends(f) ? 0 : f->remote.port;
}

#endif
