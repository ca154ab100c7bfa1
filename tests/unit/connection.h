/* SPDX-License-Identifier: MIT */
/* A recording to report on: both ends of a connection on one machine. */
#ifndef MAGNET_TESTS_CONNECTION_H
#define MAGNET_TESTS_CONNECTION_H

#include "feed.h"

#define SENDER   10
#define RECEIVER 20
#define A        1 /* the sender's socket */
#define B        2 /* the receiver's */

#define TRANSFERS      20
#define TRANSFER_BYTES 500

static inline void address(struct core *c, uint64_t sock, uint8_t local, uint8_t remote)
{
	struct mg_event e = feed_event(MG_EVENT_sock_addr, 30, 0);

	e.sock_addr.sock = sock;
	e.sock_addr.laddr[10] = e.sock_addr.laddr[11] = 0xff;
	e.sock_addr.raddr[10] = e.sock_addr.raddr[11] = 0xff;
	e.sock_addr.laddr[12] = e.sock_addr.raddr[12] = 10;
	e.sock_addr.laddr[15] = local;
	e.sock_addr.raddr[15] = remote;
	feed(c, &e);
}

/* Transfers 500 bytes: U0 at `at`, X at + 6; the peer's R at + 20, U1 at read + 4. */
static inline void transfer(struct core *c, uint32_t i, uint64_t at, uint64_t read)
{
	feed_send(c, SENDER, A, 1000 + i * TRANSFER_BYTES, TRANSFER_BYTES, at, 1);
	feed_segment(c, B, 1000 + i * TRANSFER_BYTES, TRANSFER_BYTES, at + 20, 1);
	feed_recv(c, RECEIVER, B, 1000 + i * TRANSFER_BYTES, TRANSFER_BYTES, read, 1);
}

static inline void connection_begin(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_fork(c, 5, 1, SENDER, "sender");
	ev_opened(c, 10, A, 999, 4999);
	ev_opened(c, 20, B, 4999, 999);
	address(c, A, 1, 2);
	address(c, B, 2, 1);
}

/* Records a call every 1,000 cycles; the delays are 104, 114, 124, ... cycles. */
static inline void connection_record(struct core *c)
{
	connection_begin(c);
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(c, i, 10000 + i * 1000, 10100 + i * 1010);
	core_finish(c);
}

#endif
