/* SPDX-License-Identifier: MIT */
/* What lttng.c and its table share; nobody else includes this. */
#ifndef MAGNET_CORRELATE_BT_LTTNG_PARTS_H
#define MAGNET_CORRELATE_BT_LTTNG_PARTS_H

#include "lttng.h"
#include "lttng_net.h"

#define LTTNG_CPUS 1024

struct lttng;

/* What an event is to the core: a row each, then the fields, theirs and ours. */
struct row {
	const char *name;
	uint16_t id;
	const char *unless; /* where the trace has this one too, that says it better */
	struct {
		const char *theirs, *ours;
	} field[3];
	/* what names do not tell; false: it is no event of the core's, or not yet */
	bool (*more)(struct lttng *l, const bt_field *payload, struct mg_event *e);
};

struct known_class {
	const bt_event_class *key;
	const struct row *row; /* NULL: of no use */
	uint16_t call;         /* MG_SYS_* of a system call's own event */
	UT_hash_handle hh;
};

struct known_stream {
	const bt_stream *key;
	bool ours_to_read; /* of lttng-modules */
	int16_t cpu;       /* -1: not known yet */
	UT_hash_handle hh;
};

struct known_thread {
	uint32_t tid, pid;
	uint16_t call; /* it is in */
	UT_hash_handle hh;
};

struct lttng {
	struct core *core;
	bool off;   /* magnet's own kernel trace is there */
	bool begun; /* an event was used */
	struct known_class *classes;
	struct known_stream *streams;
	struct known_thread *threads;
	uint32_t running[LTTNG_CPUS]; /* thread on a CPU, 0 = none or not known */
	struct lttng_net net;
};

/* lttng_rows.c */
/* The row of the event class of this name in this stream class, NULL if it is of no use. */
const struct row *lttng_row(const bt_stream_class *stream, const char *name, uint16_t *call);
/* A thread's process, 0 = not known. */
uint32_t lttng_pid(const struct lttng *l, uint32_t tid);

#endif
