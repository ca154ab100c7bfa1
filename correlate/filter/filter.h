/* SPDX-License-Identifier: MIT */
/*
 * Chooses a part of a recording: by process, thread, port, peer, protocol, direction, event, layer
 * and time.
 * What is given of one kind is joined by OR, kinds are joined by AND. The same questions are asked
 * of events (magnet show) and of facts (tables of facts, figures), so that they agree.
 *
 * Which sockets a process used, and which ports and peers a socket had, is known only when all of
 * the recording is read. Where a filter asks for that, the recording is read twice: filter_learn()
 * before the first time, filter_learned() after it.
 */
#ifndef MAGNET_CORRELATE_FILTER_FILTER_H
#define MAGNET_CORRELATE_FILTER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/contract.h"
#include "ring.h"

#define FILTER_ITEMS 64 /* of one kind */

struct filter_processes {
	uint32_t n;
	struct {
		uint32_t pid;  /* 0: by name */
		char name[16]; /* of the program; cut as the kernel does */
	} of[FILTER_ITEMS];
};

struct filter_threads {
	uint32_t n;
	uint32_t tid[FILTER_ITEMS];
};

struct filter_ports {
	uint32_t n;
	uint16_t port[FILTER_ITEMS];
};

struct filter_peers {
	uint32_t n;
	struct {
		struct mg_prefix prefix;
		uint16_t port; /* 0: any */
	} of[FILTER_ITEMS];
};

/* Events of the table by number, those chosen with --event by name. */
struct filter_events {
	uint32_t n;
	uint64_t id[4];
	uint32_t names;
	char name[FILTER_ITEMS][64];
};

struct filter {
	struct filter_processes process;
	struct filter_threads thread;
	struct filter_ports port;
	struct filter_peers peer;
	struct filter_events event;
	uint32_t kinds;             /* bits 1 << MG_KIND_*; 0: all */
	uint32_t directions;        /* bits 1 << rx; 0: both */
	uint32_t layers;            /* bits 1 << enum mg_layer; 0: all */
	uint64_t from_ns, to_ns;    /* since the first event, `to_ns` excluded; 0: not given */
	struct filter_found *found; /* NULL: nothing is learned yet */
};

/* Returns whether it chooses sockets, by port, peer, protocol or direction; threads, by process or
 * number. */
bool filter_chooses_sockets(const struct filter *f);
bool filter_chooses_threads(const struct filter *f);
bool filter_has_window(const struct filter *f);
/* Returns whether it chooses anything by which figures differ, which events and layers do not. */
bool filter_is_set(const struct filter *f);

/* Makes room, for filters that need not learn. Returns false without memory. */
bool filter_begin(struct filter *f);
/* Listens to a core, which all of the recording is read into then. Returns false without memory. */
bool filter_learn(struct filter *f, struct core *c);
/* Call it when all is read. Returns whether the recording has any of what was chosen. */
bool filter_learned(struct filter *f, struct core *c);
/*
 * For a recording that is read while it is made, instead of both: learns from now on. Have each
 * event seen by filter_see() before filter_takes_event(), from core_listen(). What came before a
 * socket or thread was known to be chosen is not taken. Returns false without memory.
 */
bool filter_follow(struct filter *f, struct core *c);
void filter_see(struct filter *f, const struct mg_event *e, const struct annotation *a);
void filter_free(struct filter *f);

/* Return whether this was chosen; `now` is in cycles. */
bool filter_takes_time(const struct filter *f, struct core *c, uint64_t now);
bool filter_takes_thread(const struct filter *f, uint32_t pid, uint32_t tid);
/* By port, peer, protocol and direction, and by the threads that used it. */
bool filter_takes_flow(const struct filter *f, struct fact_flow_id flow);
bool filter_takes_event(const struct filter *f, struct core *c, const struct mg_event *e,
	const struct annotation *a);
/*
 * A fact, by each of its columns that tells. A call belongs to the thread that made it, bytes and
 * packets to their socket; a fact has the time at which it began.
 */
bool filter_takes_fact(const struct filter *f, struct core *c, enum fact kind, const void *fact);
/* The same by its time alone. */
bool filter_takes_fact_time(
	const struct filter *f, struct core *c, enum fact kind, const void *fact);
/*
 * Returns NULL if facts of this kind tell what the filter asks for, else a word for what they do
 * not have: "sockets" or "threads".
 */
const char *filter_lacks(const struct filter *f, enum fact kind);

#endif
