/* SPDX-License-Identifier: MIT */
/*
 * Closed sockets, packed: one takes some hundred bytes instead of ten thousand. Whoever asks for
 * one by its cookie gets it unpacked; nothing else may point to it.
 */
#ifndef MAGNET_CORRELATE_CLOSED_H
#define MAGNET_CORRELATE_CLOSED_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "hash.h"

/* Sockets that closed last stay as they are: something may still come to them. */
#define CLOSED_WAIT 256
/*
 * Those that take more for their distributions (bytes) gain little, and take longer: so many of
 * them stay as they are.
 */
#define CLOSED_LARGE      8192
#define CLOSED_WAIT_LARGE 8192
/* Of those that could not be packed yet, and the others, no more are remembered. */
#define CLOSED_MAX (CLOSED_WAIT_LARGE * 2)

struct closed_sock {
	uint64_t cookie;
	uint64_t peer;    /* the other end's cookie, which is packed, too; 0: none */
	struct ends ends; /* key of one that is in `alone` */
	bool is_alone;
	uint32_t holes; /* noted when it was packed */
	uint32_t size;  /* of `data`, bytes */
	UT_hash_handle hh;
	UT_hash_handle hh_alone;
	uint8_t data[];
};

/* Cookies, a ring. */
struct closed_queue {
	uint64_t v[CLOSED_MAX];
	uint32_t head, len;
};

struct closed_socks {
	bool wanted;               /* else none is packed */
	size_t large_from;         /* bytes that make one of the large ones */
	struct closed_sock *all;   /* by cookie */
	struct closed_sock *alone; /* those whose peer has not shown up, by `ends` */
	struct closed_queue waiting, large;
	bool finished;            /* no event will come: they are finished when unpacked */
	uint32_t due;             /* so many are to be looked at by closed_pack() */
	struct mg_sock *shown[2]; /* by core_sock(): it, and its peer */
	uint8_t *room;            /* to pack in */
	size_t room_cap;
};

struct core;
/* Call when a socket has closed. */
void closed_note(struct core *c, const struct mg_sock *s);
/* Packs what has been closed for long enough. Call between events, while closed.due is not 0. */
void closed_pack(struct core *c);
/* Returns a socket that was packed, and is no more; NULL if there is none, or without memory. */
struct mg_sock *closed_unpack(struct core *c, uint64_t cookie);
/* The same by the ends of a connection that its peer has. */
struct mg_sock *closed_unpack_alone(struct core *c, const struct ends *ends);
/*
 * Unpacks those of at least so many bytes one after the other, hands them over and packs them
 * again.
 */
void closed_each(struct core *c, size_t bytes, void (*fn)(struct core *c, struct mg_sock *s));
void closed_free(struct core *c);

#endif
