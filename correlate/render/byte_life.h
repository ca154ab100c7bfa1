/* SPDX-License-Identifier: MIT */
/*
 * The life of some bytes of a connection: who wrote them, when and in which packet they passed each
 * layer at both ends, what was retransmitted or dropped, when they were acknowledged, and who read
 * them.
 */
#ifndef MAGNET_CORRELATE_RENDER_BYTE_LIFE_H
#define MAGNET_CORRELATE_RENDER_BYTE_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/contract.h"

/* Kinds of events in the life of a byte range. */
enum life_what {
	LIFE_CALLED,   /* begin of the program's call, U0 */
	LIFE_ENTERED,  /* begin of the system call, K0 */
	LIFE_EVENT,    /* a layer's event */
	LIFE_ACKED,    /* an acknowledgement reached the sender */
	LIFE_WOKEN,    /* the reader was woken by bytes of this socket */
	LIFE_RUNS,     /* the reader got the CPU */
	LIFE_LEFT,     /* end of the system call, K1 */
	LIFE_RETURNED, /* end of the program's call, U1 */
};
struct life_row {
	uint64_t off, len;           /* bytes of the flow asked for */
	uint64_t cookie;             /* socket at which it happened */
	uint64_t unit_off, unit_len; /* packet, such as a super-segment, in which the bytes were */
	uint64_t t;                  /* cycles */
	uint64_t time_ns;            /* CLOCK_MONOTONIC */
	uint64_t called;             /* for the end of a call: when it began, cycles */
	uint8_t what;                /* enum life_what */
	uint16_t event; /* MG_EVENT_* or MG_APP_BASE + MG_FN_*; for K0 and K1 MG_SYS_* */
	bool at_receiver, away;
	int16_t cpu;
	uint32_t tid;      /* 0: no thread */
	uint32_t segments; /* segments in the packet; 0 not known */
	int32_t code;      /* errno of a retransmission that was not sent; a driver's return code */
	uint8_t waited_for, released_by; /* for bytes that TCP hands to IP: WHY_*, RELEASE_* */
	uint64_t waited;                 /* cycles of that wait; 0 not known */
	char note[33];                   /* for drops: the reason */
};

/* An event of a call that precedes the knowledge of its byte range. */
struct life_mark {
	uint32_t tid;
	int16_t cpu;
	uint64_t t, time_ns;
};

/*
 * Translation of a message's offsets, as both ends count differently: those of the flow asked for,
 * and those of the other one.
 */
struct life_map {
	uint64_t cookie, off, other_off, len;
};

struct life {
	struct core *core;
	uint64_t cookie; /* flow asked for */
	bool rx;
	uint64_t from, to; /* bytes asked for: [from, to) */

	uint64_t sender, receiver; /* sockets, 0 not known */
	struct life_map *map;      /* used instead where the offsets of both ends differ */
	size_t maps, maps_cap;
	struct life_row *row;
	size_t rows, cap;
	bool full;      /* more happened than is kept */
	bool late;      /* the other end became known late: the recording must be read again */
	bool is_again;  /* the recording is being read again */
	bool is_stream; /* offsets are the same at both ends */
	bool flow_seen; /* whether any event of the flow was seen */
	uint64_t acked; /* bytes before this offset are acknowledged */
	uint64_t first_ns;
	struct life_mark *mark;
	size_t marks;
};

/* Parses "4097/tx", as flow_name() writes it, into number and direction. Returns false if it names
 * no flow. */
bool flow_parse(const char *id, uint64_t *cookie, bool *rx);
/*
 * Parses "100-199" (both included) or "100+100" into [from, to). Returns false if it is no range.
 */
bool range_parse(const char *text, uint64_t *from, uint64_t *to);

void life_init(struct life *l, struct core *core, const char *flow, uint64_t from, uint64_t to);
/* Prepares a second reading, with both ends known from the start. */
void life_again(struct life *l, struct core *core);
/* Listener for core_listen(); `arg` is a struct life. */
void life_event(void *arg, const struct mg_event *e, const struct annotation *a);
void life_free(struct life *l);

/*
 * Calls `fn` for each byte range, cut where any event's range begins or ends, with its events in
 * order of time. Together the ranges are [from, to) exactly. Returns 0 or -ENOMEM.
 */
typedef void (*life_atom_fn)(
	void *arg, uint64_t from, uint64_t to, const struct life_row *const *row, size_t rows);
int life_atoms(struct life *l, life_atom_fn fn, void *arg);

/* Prints at most `max` ranges, and how many more there are. Returns 0 or -ENOMEM. */
int life_text(struct life *l, FILE *to, size_t max);
/* Prints all ranges as tab-separated values. */
int life_tsv(struct life *l, FILE *to);

#endif
