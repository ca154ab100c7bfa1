/* SPDX-License-Identifier: MIT */
/* Finds in a recording what a filter asks for, and knows which columns of facts tell it. */
#ifndef MAGNET_CORRELATE_FILTER_FOUND_H
#define MAGNET_CORRELATE_FILTER_FOUND_H

#include "filter/filter.h"
#include "hash.h"

/* Sets of numbers. */
enum found_set {
	FOUND_SOCKET, /* sockets with a port, a peer and a protocol that was asked for */
	FOUND_USED,   /* sockets on which a chosen thread made a call, or whose process used them */
	FOUND_PROCESS, /* chosen processes */
	FOUND_THREAD,  /* their threads */
	FOUND_SEEN,    /* threads chosen by number that the recording has */
	/* while it is read: sockets that exchanged datagrams with such a port or peer */
	FOUND_PORT,
	FOUND_PEER,
	FOUND_SETS
};

struct found_number {
	uint64_t number;
	UT_hash_handle hh;
};

/* Offsets of a fact's columns that tell whose it is and when it was. */
#define TELLING 4
struct telling {
	uint32_t flows, pids, tids, times;
	uint16_t flow[TELLING], pid[TELLING], tid[TELLING], time[TELLING];
	bool is_ns; /* its times are CLOCK_MONOTONIC, not cycles */
};

/* A connection that a listening socket accepted. */
struct found_accepted {
	uint64_t number; /* process and descriptor; once a call on it was seen, the socket */
	uint64_t listener;
	UT_hash_handle hh;
};

struct filter_found {
	struct filter *f;
	struct core *core;
	struct found_number *set[FOUND_SETS];
	struct found_accepted *returned, *accepted; /* no call on it was seen; one was */
	uint64_t first_ns;                          /* of the first event; 0: not known yet */
	struct telling telling[FACTS];
};

/* Returns it, made if needed; NULL without memory. */
struct filter_found *found_of(struct filter *f);
bool found_has(const struct filter_found *f, enum found_set set, uint64_t number);

#endif
