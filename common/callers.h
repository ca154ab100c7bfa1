/* SPDX-License-Identifier: MIT */
/*
 * Counts of calls for each process, and for each program that it ran if the side knows programs, as
 * one side of a recording saw them. Times are CLOCK_MONOTONIC, ns.
 */
#ifndef MAGNET_COMMON_CALLERS_H
#define MAGNET_COMMON_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hash.h"

/* A process while it ran one program, or with calls of unknown programs. */
struct caller {
	uint32_t pid;
	uint32_t parent; /* process whose program at `since_ns` it runs; 0 = the name is its own */
	char comm[16];   /* "" if not known */
	uint64_t calls;
	uint64_t moved;             /* calls that move bytes */
	uint64_t since_ns;          /* since when it runs this program, 0 = since the begin */
	uint64_t first_ns, last_ns; /* times of its first and last call */
	struct caller *before;      /* the same process with its program before, NULL = not known */
	UT_hash_handle hh;
};

struct callers {
	struct caller *all; /* uthash by pid */
	struct caller *last;
	uint32_t programs_before;
	bool more; /* there was no room for some callers */
	struct call_seen
		*seen; /* calls still to be counted, the first `seen_last` of them in this turn */
	uint32_t seen_n, seen_last;
};

/* Counts a call made at `t`, that moves bytes or not; without room only `more` is set. */
void callers_count(struct callers *c, uint32_t pid, uint64_t t, bool moves);
/*
 * Counts a call at the second turn from now. A call may be reported before the program that its
 * process has executed by then, since the CPUs' events are read one CPU after another.
 */
void callers_tell(struct callers *c, uint32_t pid, uint64_t t, bool moves);
void callers_turn(struct callers *c);
/* Notes that the process runs the program of this name from `t` on. */
void callers_executed(struct callers *c, uint32_t pid, uint64_t t, const char comm[16]);
/*
 * Notes that a process is forked at `t`, or exists already (then it is its own parent). It runs its
 * parent's program; if that is not known, it has this name.
 */
void callers_forked(
	struct callers *c, uint32_t parent, uint32_t pid, uint64_t t, const char comm[16]);
/* Returns the name of the program, "" if it is not known. Call it after all events are read. */
const char *callers_program(const struct callers *c, const struct caller *p);
/* Returns whether `pid` made calls in [from, until). */
bool callers_called(const struct callers *c, uint32_t pid, uint64_t from, uint64_t until);
void callers_free(struct callers *c);

#endif
