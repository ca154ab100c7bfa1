/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the sockets in LTTng's events, which identify one by its kernel address, by the
 * addresses in a packet, or only by the device.
 */
#ifndef MAGNET_CORRELATE_BT_LTTNG_SOCKS_H
#define MAGNET_CORRELATE_BT_LTTNG_SOCKS_H

#include "core/contract.h"
#include "hash.h"

/* Socket numbers from here on are made here (see flow_name()). */
#define LTTNG_SOCK (1ull << 61)

struct sock_key {
	uint64_t pointer; /* 0 if the socket is known by its addresses or its device's name */
	mg_addr laddr, raddr;
	uint16_t lport, rport;
	uint8_t proto, pad[3];
	char device[16];
};

/* A segment that waits for the next one of its direction, which gives its length. */
struct held {
	struct mg_event event;
	bool is;
};

struct lttng_sock {
	struct sock_key key;
	uint64_t id;
	struct held held[2]; /* sent, received */
	/* whether a segment without SYN has been seen since the last one with it */
	bool data[2];
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

/*
 * Returns the socket with this key, announcing a new one to the core as `known`; NULL if memory is
 * short.
 */
struct lttng_sock *socks_get(
	struct lttng_socks *s, const struct sock_key *key, const struct sock_known *known);
/* Replaces a socket by a new connection with the same key. */
void socks_renew(struct lttng_socks *s, struct lttng_sock *sock, const struct sock_known *known);
void socks_queued(struct lttng_socks *s, uint64_t address, const struct mg_packet *p);
/* Removes and returns the packet queued under this address; false if there is none. */
bool socks_sent(struct lttng_socks *s, uint64_t address, struct mg_dev_done *out);
void socks_free(struct lttng_socks *s);

#endif
