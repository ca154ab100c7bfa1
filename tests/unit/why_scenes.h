/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a connection on their way out, for the tests of why they waited: socket SOCK, segments
 * of MSS bytes, its thread TID. Times are in cycles.
 */
#ifndef MAGNET_TESTS_UNIT_WHY_SCENES_H
#define MAGNET_TESTS_UNIT_WHY_SCENES_H

#include "feed.h"

#define TID   10
#define SOCK  1
#define OTHER 2
#define MSS   1000

#define HOOKS  "tcp_send,ip_out ipv4,softirq_entry"
#define THREAD 1
#define IN(n)  (2 + (n)) /* the softirq of this number */
enum { TIMER = 1, NET_RX = 3, TASKLET = 6, RCU = 9, HRTIMER = 8 };

#define MORE    0x8000
#define NODELAY 1
#define CORK    2

void open_core(struct core *c);
void enter(struct core *c, uint64_t t, int call, uint32_t seq, uint32_t flags, uint8_t nagle);
void leave(struct core *c, uint64_t t, int call, uint32_t seq, int64_t ret);
/* A call is about to copy; the peer's window and the congestion window are large. */
void copy(struct core *c, uint64_t t, uint32_t seq, uint32_t left, uint32_t una);
/* A send() that only copies. */
void write_only(struct core *c, uint64_t t, uint32_t seq, uint32_t len, uint32_t una,
	uint32_t flags, uint8_t nagle);
void out_on(struct core *c, uint64_t t, uint32_t tid, uint8_t context, uint32_t seq, uint32_t len,
	uint16_t segs);
void out(struct core *c, uint64_t t, uint8_t context, uint32_t seq, uint32_t len);
/* TCP is about to process a segment; the recorded state is the one before. */
void ack_on(struct core *c, uint64_t t, uint32_t tid, uint32_t una, uint32_t window, uint32_t cwnd);
void ack(struct core *c, uint64_t t, uint32_t una, uint32_t window, uint32_t cwnd);
/* The first send() copies, at 1100, and has itself sent some by 1200. */
void write_and_send(struct core *c, uint32_t len, uint32_t sent);
/* Checks the bytes of a label, and their total wait. */
void assert_row(struct core *c, int reason, int release, uint64_t bytes, uint64_t wait_per_byte);
/*
 * Checks a cause: how many bytes it held, the sum of their waits, and how long it held the queue.
 */
void assert_held(struct core *c, int reason, uint64_t bytes, uint64_t wait, uint64_t cycles);
/* TCP acknowledges everything after the program's thread has left the kernel. */
void acknowledged(struct core *c, uint32_t seq);

#endif
