/* SPDX-License-Identifier: MIT */
/*
 * Closed sockets in packed form: some hundred bytes instead of ten thousand. A look-up by cookie
 * unpacks a socket; no other pointer to it may exist.
 */
#ifndef MAGNET_CORRELATE_CLOSED_H
#define MAGNET_CORRELATE_CLOSED_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "hash.h"
#include "bytes/packing.h"

/* The sockets closed last stay as they are: events may still concern them. */
#define CLOSED_WAIT 256
/*
 * As many of TCP's may stay as were open at a time and are not any more: that takes no memory that
 * was not taken before. No more than these wait all the same, of those that are not large.
 */
#define CLOSED_WAIT_MOST 12288
/*
 * Sockets with more bytes of distributions gain little by packing, and take longer: this many of
 * them stay as they are.
 */
#define CLOSED_LARGE      8192
#define CLOSED_WAIT_LARGE 8192
/* So many are checked at a time, as listeners are waited for each time. */
#define CLOSED_AT_ONCE 512
/* Limit of each queue, of those that could not be packed yet and of the others. */
#define CLOSED_MAX (CLOSED_WAIT_LARGE * 2)
/* Time between two looks for threads, processes and idle sockets that are to be forgotten. */
#define FORGET_EACH_NS 1000000000ull

struct closed_sock {
	uint64_t cookie;
	uint64_t peer;    /* cookie of the other end, which is packed too; 0: none */
	struct ends ends; /* key if it is in `alone` */
	bool is_alone;
	uint32_t holes; /* number of holes noted when it was packed */
	uint32_t size;  /* bytes of `data` */
	UT_hash_handle hh;
	UT_hash_handle hh_alone;
	uint8_t data[];
};

/* A ring of cookies. */
struct closed_queue {
	uint64_t v[CLOSED_MAX];
	uint32_t head, len;
};

struct core;
struct closed_socks {
	bool wanted;               /* otherwise none is packed */
	size_t keep;               /* no more are kept than these; 0: all */
	size_t large_from;         /* bytes from which on a socket counts as large */
	struct closed_sock *all;   /* by cookie */
	struct closed_sock *alone; /* those whose peer has not been seen, by `ends` */
	struct closed_queue waiting, large;
	/* TCP's sockets that are open, the most of them at a time, and the closed ones that stay */
	uint32_t open, open_most, stay;
	/* finishes a socket that is unpacked when no event will come any more; else NULL */
	void (*finish)(struct core *c, struct mg_sock *s);
	uint32_t due;             /* number of sockets for closed_pack() to check */
	struct mg_sock *shown[2]; /* results of core_sock(): the socket and its peer */
	struct packing_room room; /* to pack in */
};

/* Call them when a socket of TCP's is open, and when it has closed. */
void closed_on_open(struct core *c, struct mg_sock *s);
void closed_note(struct core *c, struct mg_sock *s);
/*
 * Packs what has been closed for long enough. Call it between events, from CLOSED_AT_ONCE due
 * sockets on.
 */
void closed_pack(struct core *c);
/* Unpacks a socket for good and returns it; NULL if there is none, or memory is short. */
struct mg_sock *closed_unpack(struct core *c, uint64_t cookie);
/* The same for the socket whose connection has these ends. */
struct mg_sock *closed_unpack_alone(struct core *c, const struct ends *ends);
void closed_free(struct core *c);

#endif
