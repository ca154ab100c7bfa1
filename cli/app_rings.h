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

struct app_reader {
	void *arg;
	/*
	 * Gets the calls in the order of their `exit`, as far as they were written when the rings
	 * were read.
	 */
	void (*call)(void *arg, unsigned int fn, const struct mg_call *c);
	void (*mark)(void *arg, const struct mg_mark *m);
	/*
	 * Gets losses between two calls of a thread: their `exit` on the cycle counter, 0 = there
	 * is no such call, or not yet.
	 */
	void (*lost)(void *arg, enum mg_lost_reason why, uint64_t count, uint32_t tid,
		uint64_t after, uint64_t before);
};

/*
 * Makes the pools, with `ring_bytes` for each thread (0: default). Returns 0, or a negative errno
 * and `why`.
 */
int app_rings_create(struct app_rings **out, uint64_t ring_bytes, char *why, size_t why_size);
/* Returns the value of MAGNET_RINGS for the environment of recorded programs. */
const char *app_rings_env(const struct app_rings *r);
/* Returns a descriptor at which programs may be waiting to be answered; -1 if there is none. */
int app_rings_door(const struct app_rings *r);
/* Answers some of the programs that wait. */
void app_rings_answer(struct app_rings *r);
/* Makes the door again if it was removed. Call it regularly. */
void app_rings_see_to_door(struct app_rings *r, uint64_t now_ns);
/* Returns why the last program that got no ring got none; "" if all did. */
const char *app_rings_why_unserved(const struct app_rings *r);
/* Returns how many calls have the numbers that their processes have in a namespace of their own. */
uint64_t app_rings_not_outer(const struct app_rings *r);
/* Tells the programs whether to log their calls. */
void app_rings_want(struct app_rings *r, bool wanted);
/*
 * Reads the calls that ended before `until` on the cycle counter; then frees rings of threads that
 * have ended, and makes new ones ready. Returns how full the fullest ring was, percent.
 */
int app_rings_read(struct app_rings *r, uint64_t until, const struct app_reader *reader);
/* Reads all that is left, and reports what was lost after the last call of each thread. */
void app_rings_finish(struct app_rings *r, const struct app_reader *reader);
/* Frees the rings here; programs that still have them notice nothing. */
void app_rings_free(struct app_rings *r);

#endif
