/* SPDX-License-Identifier: MIT */
/*
 * Where the states are noted that a listener keeps of flows (core_attach()): side by side, apart
 * from the flows. The thread that looks them up for each fact finds them in its cache then, and
 * seldom waits for a line to which the core's thread has written: that only writes there when a
 * socket comes or goes.
 */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_STATE_SLOTS_H
#define MAGNET_CORRELATE_CORE_SOCKET_STATE_SLOTS_H

#include <stdbool.h>

struct core;
struct mg_sock;
struct state_pair;
struct state_block;

struct state_slots {
	struct state_pair *spare;
	struct state_block *blocks;
};

/* Gives a new socket's flows their places. Returns false without memory. */
bool state_slots_take(struct core *c, struct mg_sock *s);
/* Takes them back, once the states are freed. */
void state_slots_give(struct core *c, struct mg_sock *s);
void state_slots_free(struct core *c);

#endif
