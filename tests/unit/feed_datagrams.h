/* SPDX-License-Identifier: MIT */
/* Literal events of datagrams and of UNIX sockets: A sends, B receives. */
#ifndef MAGNET_TESTS_FEED_DATAGRAMS_H
#define MAGNET_TESTS_FEED_DATAGRAMS_H

#include "message/arrival.h"
#include "message/frames.h"
#include "message/parcel.h"
#include "feed.h"

#define A     ((1ull << 62) + 1)
#define B     ((1ull << 62) + 2)
#define SEND  10 /* threads */
#define READ  20
#define OTHER 30
#define UDP   17 /* the protocol */

struct piece_of {
	uint16_t id, segs, gso, frag;
	uint8_t part;
};

void dg_known(struct core *c, int kind);
void dg_begin(struct core *c);
void dg_enter(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, int call, int kind);
void dg_packet(struct core *c, uint16_t event, uint64_t t, uint32_t buffer, uint32_t len,
	const struct piece_of *p);
void dg_done(struct core *c, uint64_t t, uint32_t buffer, uint32_t len);
/* N P Q X Y are at t + 0 ... t + 4. */
void dg_leaves(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len);
void dg_moved(struct core *c, uint16_t event, uint64_t t, uint32_t tid, uint64_t sock, int32_t ret,
	uint32_t next, int kind);
void dg_ready(struct core *c, uint64_t t, uint32_t tid, uint64_t sock, uint32_t buffer,
	uint32_t len, int kind);
/* R L A are at t + 0 ... t + 2. */
void dg_arrives(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len);
/* U0 K0 ... K1 U1 at t + 0, 1 ... 10, 11: the datagram leaves at t + 3. */
void dg_sends(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint32_t len);
/* U0 K0 D K1 U1 at t + 0 ... t + 4. */
void dg_reads(struct core *c, uint64_t t, uint32_t len, uint32_t next);
/* Sum of the shifts from the sender's U0 to the reader's U1, times bytes. */
uint64_t dg_shifts(const struct core *c);
void dg_begin_unix(struct core *c, int kind);
/* `len` holds the buffers' lengths, 0 = not seen; U0 K0 A... K1 U1 with one step between them. */
void dg_puts_in(struct core *c, uint64_t t, uint32_t buffer, const uint32_t len[], int n,
	uint32_t sum, int kind);
/* The same where socket `told` is notified of what is in the receiver's queue. */
void dg_puts_told(struct core *c, uint64_t t, uint64_t told, uint32_t buffer, const uint32_t len[],
	int n, uint32_t sum, int kind);
void dg_takes(struct core *c, uint64_t t, uint32_t buffer, uint32_t len, int kind);

#endif
