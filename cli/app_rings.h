/* SPDX-License-Identifier: MIT */
/*
 * The collector's end of the rings that recorded programs write their calls to (app_ring.h): giving
 * each program its own, and reading all in the order of time. Nothing that a program wrote is
 * trusted.
 */
#ifndef MAGNET_CLI_APP_RINGS_H
#define MAGNET_CLI_APP_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct app_rings;

/* Why calls are missing from a trace; stored in `lost` events. */
enum app_loss {
	APP_LOST_FULL = 3,        /* the thread's ring was full */
	APP_LOST_NO_ROOM = 4,     /* the program's limit on address space left no room for a ring */
	APP_LOST_UNFINISHED = 5,  /* the thread ended while it logged the call */
	APP_LOST_NOT_COUNTED = 6, /* the program has written over its count of them: 1 or more */
	APP_LOST_UNSERVED = 7,    /* of so many programs that got no ring, 1 or more of each */
	APP_LOST_UNTIMED = 8      /* the program has forbidden itself the cycle counter */
};

struct app_reader {
	void *arg;
	/* A call; in the order of their `exit`, as far as they had been written when asked. */
	void (*call)(void *arg, unsigned int fn, const struct mg_call *c);
	void (*mark)(void *arg, const struct mg_mark *m);
	/*
	 * Missing between two calls of the thread that were read: their `exit` on the cycle
	 * counter, 0 = there is no such call, or not yet.
	 */
	void (*lost)(void *arg, enum app_loss why, uint64_t count, uint32_t tid, uint64_t after,
		uint64_t before);
};

/*
 * `ring_bytes` a thread, 0 = default. On failure a negative errno, and `why` says at what.
 */
int app_rings_create(struct app_rings **out, uint64_t ring_bytes, char *why, size_t why_size);
/* Where they are, for MAGNET_RINGS in the environment of what is to be recorded. */
const char *app_rings_env(const struct app_rings *r);
/* Returns a descriptor at which programs may be waiting to be answered; -1 if there is none. */
int app_rings_door(const struct app_rings *r);
/* Answer some of those that wait. */
void app_rings_answer(struct app_rings *r);
/* To be called now and then: see that programs that start find what they need. */
void app_rings_see_to_door(struct app_rings *r, uint64_t now_ns);
/* Returns why the last program that got no ring got none; "" if all did. */
const char *app_rings_why_unserved(const struct app_rings *r);
/* Returns how many calls have the numbers that their processes have in a namespace of their own. */
uint64_t app_rings_not_outer(const struct app_rings *r);
/* Whether programs log their calls. */
void app_rings_want(struct app_rings *r, bool wanted);
/*
 * Read the calls that ended before `until` on the cycle counter, then see to the rings: free those
 * of threads that have ended, make enough of them ready. Returns how full the fullest was, percent.
 */
int app_rings_read(struct app_rings *r, uint64_t until, const struct app_reader *reader);
/* The last time: also tells what was lost after the last call of a thread. */
void app_rings_finish(struct app_rings *r, const struct app_reader *reader);
/* Programs that still have rings notice nothing. */
void app_rings_free(struct app_rings *r);

#endif
