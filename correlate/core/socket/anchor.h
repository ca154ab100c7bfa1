/* SPDX-License-Identifier: MIT */
/* Mapping of sequence numbers to offsets in their byte streams (method, "Byte lineage"). */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_ANCHOR_H
#define MAGNET_CORRELATE_CORE_SOCKET_ANCHOR_H

#include "core.h"

/* End that opened a connection, as in `opener` of sock_state. */
enum { OPENER_SELF = 1, OPENER_PEER };
void sock_on_open(struct core *c, const struct mg_event *e);
void sock_on_late_state(struct mg_sock *s, const struct mg_sock_state *p);
void anchor_set(struct anchor *a, uint32_t seq, uint64_t off, bool relative);
uint32_t anchor_initial(const struct anchor *a);
/* Returns whether these can be the two ends of one stream. */
bool anchors_agree(const struct flow *tx, const struct flow *rx);
/* Anchors the sender by its peer, where its own counters are ambiguous. */
void anchor_by_peer(struct core *c, struct flow *tx, const struct flow *rx);
/*
 * Converts a sequence number to an offset. Returns false if it lies before the stream's start, or
 * nothing is known.
 */
bool flow_place(const struct flow *f, uint32_t seq, uint64_t *off);
/*
 * The same; if nothing is known yet, offsets count from here, and the known position moves along.
 */
bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off);
/* Removes what lies before the recording. Returns false if nothing remains. */
bool flow_clip(const struct flow *f, uint64_t *off, uint32_t *len);
/*
 * Returns the number of a segment's first byte: a SYN has a number of its own, and may carry data.
 */
uint32_t first_byte(const struct mg_packet *p);
uint32_t before_fin(const struct flow *f, uint32_t seq);

#endif
