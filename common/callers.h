/* SPDX-License-Identifier: MIT */
/*
 * How many calls each process made, as one side of a recording saw them: those of each program that
 * it ran apart, where that side knows of programs. Times are CLOCK_MONOTONIC, ns.
 */
#ifndef MAGNET_COMMON_CALLERS_H
#define MAGNET_COMMON_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hash.h"

/* A process as one program, or who made calls of unknown programs. */
struct caller {
	uint32_t pid;
	uint32_t parent; /* runs what this one ran at `since_ns`; 0 = the name is its own */
	char comm[16];   /* "" if not known */
	uint64_t calls;
	uint64_t moved;             /* of these, that move bytes */
	uint64_t since_ns;          /* it runs this program since then, 0 = since the begin */
	uint64_t first_ns, last_ns; /* its first call, and its last */
	struct caller *before;      /* the same process before that, NULL = not known */
	UT_hash_handle hh;
};

struct callers {
	struct caller *all; /* uthash by pid */
	struct caller *last;
	uint32_t programs_before;
	bool more; /* others called, too, that there was no room for */
	struct call_told
		*told; /* calls that are to be counted, the first `told_last` in this turn */
	uint32_t told_n, told_last;
};

/* Count a call made at `t`, that moves bytes or not; without room only `more` is set. */
void callers_count(struct callers *c, uint32_t pid, uint64_t t, bool moves);
/*
 * The same of calls that may be told before what their process has executed by then, as CPUs'
 * events are read one CPU after another: they are counted at the second turn from now.
 */
void callers_tell(struct callers *c, uint32_t pid, uint64_t t, bool moves);
void callers_turn(struct callers *c);
/* Note that the process runs the program of this name from `t` on. */
void callers_executed(struct callers *c, uint32_t pid, uint64_t t, const char comm[16]);
/*
 * Note that a process is forked at `t`, or is there already (then it is its own parent): it runs
 * what its parent runs; if that is not known, it is called so.
 */
void callers_forked(
	struct callers *c, uint32_t parent, uint32_t pid, uint64_t t, const char comm[16]);
/* Returns the name of the program, "" if it is not known. To be called when all has been told. */
const char *callers_program(const struct callers *c, const struct caller *p);
/* Returns whether `pid` made calls in [from, until). */
bool callers_called(const struct callers *c, uint32_t pid, uint64_t from, uint64_t until);
void callers_free(struct callers *c);

#endif
