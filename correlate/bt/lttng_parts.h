/* SPDX-License-Identifier: MIT */
/* Declarations that lttng.c shares with its table; no other file includes this. */
#ifndef MAGNET_CORRELATE_BT_LTTNG_PARTS_H
#define MAGNET_CORRELATE_BT_LTTNG_PARTS_H

#include "lttng.h"
#include "lttng_net.h"

#define LTTNG_CPUS 1024

struct lttng;

/* The conversion of one LTTng event: event ids and pairs of field names, theirs and ours. */
struct row {
	const char *name;
	uint16_t id;
	/* the row is not used if the trace also has this event, which says more */
	const char *unless;
	struct {
		const char *theirs, *ours;
	} field[3];
	/* fills in the rest; returns false if the core is not to get the event, or not yet */
	bool (*more)(struct lttng *l, const bt_field *payload, struct mg_event *e);
};

struct known_class {
	const bt_event_class *key;
	const struct row *row; /* NULL: not used */
	uint16_t call;         /* MG_SYS_* if the class is one system call's own */
	UT_hash_handle hh;
};

struct known_stream {
	const bt_stream *key;
	bool ours_to_read; /* trace of lttng-modules */
	int16_t cpu;       /* -1: not known yet */
	UT_hash_handle hh;
};

struct known_thread {
	uint32_t tid, pid;
	uint16_t call; /* call that the thread is in */
	UT_hash_handle hh;
};

struct lttng {
	struct core *core;
	bool off;   /* magnet's own kernel trace exists */
	bool begun; /* an event has been used */
	struct known_class *classes;
	struct known_stream *streams;
	struct known_thread *threads;
	uint32_t running[LTTNG_CPUS]; /* thread on each CPU, 0 = none or not known */
	struct lttng_net net;
};

/* lttng_rows.c */
/* Returns the row for an event class name of this stream class; NULL if it is not used. */
const struct row *lttng_row(const bt_stream_class *stream, const char *name, uint16_t *call);
/* Returns a thread's process, 0 = not known. */
uint32_t lttng_pid(const struct lttng *l, uint32_t tid);

#endif
