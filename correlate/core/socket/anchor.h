/* SPDX-License-Identifier: MIT */
/* Where sequence numbers lie in their byte streams (method, "Byte lineage"). */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_ANCHOR_H
#define MAGNET_CORRELATE_CORE_SOCKET_ANCHOR_H

#include "core.h"

enum {
	MG_TCP_ESTABLISHED = 1,
	MG_TCP_SYN_SENT,
	MG_TCP_SYN_RECV,
	MG_TCP_CLOSE = 7,
	MG_TCP_CLOSE_WAIT
};
/* Who opened a connection, as `opener` of sock_state. */
enum { OPENER_SELF = 1, OPENER_PEER };
void sock_on_open(struct core *c, const struct mg_event *e);
void sock_on_late_state(struct mg_sock *s, const struct mg_sock_state *p);
void anchor_set(struct anchor *a, uint32_t seq, uint64_t off, bool relative);
uint32_t anchor_initial(const struct anchor *a);
/* Whether these can be the two ends of one stream. */
bool anchors_agree(const struct flow *tx, const struct flow *rx);
/* Where the sender's own counters could not tell where its bytes lie. */
void anchor_by_peer(struct core *c, struct flow *tx, const struct flow *rx);
/* Sequence number to byte offset; false if it lies before the stream's begin, or nothing is known.
 */
bool flow_place(const struct flow *f, uint32_t seq, uint64_t *off);
/* The same; it counts from here if nothing is known yet, and the known place moves along. */
bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off);
/* Leave out what lies before the recording; false if nothing remains. */
bool flow_clip(const struct flow *f, uint64_t *off, uint32_t *len);
/* The number of a segment's first byte: a SYN has one of its own, and may carry data. */
uint32_t first_byte(const struct mg_packet *p);
uint32_t before_fin(const struct flow *f, uint32_t seq);

#endif
