/* SPDX-License-Identifier: MIT */
/*
 * Numbers for what LTTng's kernel tracer knows of sockets: an address in the kernel, the addresses
 * in a packet, or only the device.
 */
#ifndef MAGNET_CORRELATE_BT_LTTNG_SOCKS_H
#define MAGNET_CORRELATE_BT_LTTNG_SOCKS_H

#include "core.h"
#include "hash.h"

/* Numbers of sockets from here on are of this file's making (see flow_name()). */
#define LTTNG_SOCK (1ull << 61)

struct sock_key {
	uint64_t pointer; /* 0 if it is known by its addresses or its device's name */
	mg_addr laddr, raddr;
	uint16_t lport, rport;
	uint8_t proto, pad[3];
	char device[16];
};

/* A segment whose length the next one of its direction will tell. */
struct held {
	struct mg_event event;
	bool is;
};

struct lttng_sock {
	struct sock_key key;
	uint64_t id;
	struct held held[2]; /* out, in */
	bool data[2];        /* a segment without SYN has been seen since the last with one */
	UT_hash_handle hh;
};

/* A packet handed to a driver, by its buffer's address, until the driver is done. */
struct lttng_buffer {
	uint64_t address;
	struct mg_dev_done done;
	UT_hash_handle hh;
};

struct lttng_socks {
	struct lttng_sock *socks;
	struct lttng_buffer *buffers;
	uint64_t last;
	struct core *core;
};

/* The socket of this key, announced to the core as `known` when it is new; NULL without memory. */
struct lttng_sock *socks_get(
	struct lttng_socks *s, const struct sock_key *key, const struct sock_known *known);
/* It is another connection from now on, which has the same key. */
void socks_renew(struct lttng_socks *s, struct lttng_sock *sock, const struct sock_known *known);
void socks_queued(struct lttng_socks *s, uint64_t address, const struct mg_packet *p);
/* What was queued under this address, and no longer is; false if nothing. */
bool socks_sent(struct lttng_socks *s, uint64_t address, struct mg_dev_done *out);
void socks_free(struct lttng_socks *s);

#endif
