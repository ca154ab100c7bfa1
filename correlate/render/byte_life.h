/* SPDX-License-Identifier: MIT */
/*
 * The whole life of some bytes of a connection: who wrote them, when they passed each layer at both
 * ends and in which unit, what was sent again or thrown away, when they were acknowledged, and who
 * read them.
 */
#ifndef MAGNET_CORRELATE_RENDER_BYTE_LIFE_H
#define MAGNET_CORRELATE_RENDER_BYTE_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core.h"

/* One thing that happened to a range of bytes. */
enum life_what {
	LIFE_CALLED,   /* the program's call, U0 */
	LIFE_ENTERED,  /* the system call, K0 */
	LIFE_EVENT,    /* a layer's event */
	LIFE_ACKED,    /* an acknowledgement reached the sender */
	LIFE_WOKEN,    /* the reader was woken by bytes of this socket */
	LIFE_RUNS,     /* and got the CPU */
	LIFE_LEFT,     /* K1 */
	LIFE_RETURNED, /* U1 */
};
struct life_row {
	uint64_t off, len;           /* bytes of the flow asked for */
	uint64_t cookie;             /* the socket it happened at, and there */
	uint64_t unit_off, unit_len; /* the unit, such as a super-segment, that they were in */
	uint64_t t;                  /* cycles */
	uint64_t time_ns;            /* CLOCK_MONOTONIC */
	uint64_t called;             /* of what a call ends: when it began, cycles */
	uint8_t what;                /* enum life_what */
	uint16_t event; /* MG_EVENT_* or MG_APP_BASE + MG_FN_*; of K0 and K1 MG_SYS_* */
	bool at_receiver, away;
	int16_t cpu;
	uint32_t tid;      /* 0: of nobody in particular */
	uint32_t segments; /* the unit stands for; 0 not known */
	int32_t code;      /* why a retransmission was not sent, what a driver returned */
	uint8_t waited_for, released_by; /* WHY_*, RELEASE_* of what TCP hands to IP */
	uint64_t waited;                 /* so long for that, cycles; 0 not known */
	char note[33];                   /* of drops: the reason */
};

/* Announced by an event of its own, before its range is known. */
struct life_mark {
	uint32_t tid;
	int16_t cpu;
	uint64_t t, time_ns;
};

/* Bytes of messages are others at the other end: these of the flow asked for, and those there. */
struct life_map {
	uint64_t cookie, off, other_off, len;
};

struct life {
	struct core *core;
	uint64_t cookie; /* of the flow asked for, */
	bool rx;
	uint64_t from, to; /* and its bytes [from, to) */

	uint64_t sender, receiver; /* sockets, 0 not known */
	struct life_map *map;      /* where they are others: then these count instead */
	size_t maps, maps_cap;
	struct life_row *row;
	size_t rows, cap;
	bool full;      /* more happened than is kept */
	bool late;      /* the other end became known when it had a past: read again */
	bool is_again;  /* done */
	bool is_stream; /* offsets are the same at both ends */
	bool flow_seen; /* some event of that flow came by */
	uint64_t acked; /* before this offset */
	uint64_t first_ns;
	struct life_mark *mark;
	size_t marks;
};

/* "4097/tx" to cookie and direction; false if it is no name of a flow. */
bool flow_parse(const char *id, uint64_t *cookie, bool *rx);
/* "100-199" (both included) or "100+100" to [from, to); false if it is no range. */
bool range_parse(const char *text, uint64_t *from, uint64_t *to);

void life_init(struct life *l, struct core *core, const char *flow, uint64_t from, uint64_t to);
/* The same again, with both ends known from the start. */
void life_again(struct life *l, struct core *core);
/* A listener for core_listen(); `arg` is a struct life. */
void life_event(void *arg, const struct mg_event *e, const struct annotation *a);
void life_free(struct life *l);

/*
 * Hand over each atom, cut at the boundaries of all that happened, with what happened to it in
 * order of time. Together they are [from, to) exactly. Returns 0 or -ENOMEM.
 */
typedef void (*life_atom_fn)(
	void *arg, uint64_t from, uint64_t to, const struct life_row *const *row, size_t rows);
int life_atoms(struct life *l, life_atom_fn fn, void *arg);

/* Not more than `max` atoms, and how many there are beside. 0 or -ENOMEM. */
int life_text(struct life *l, FILE *to, size_t max);
/* All of them. */
int life_tsv(struct life *l, FILE *to);

#endif
