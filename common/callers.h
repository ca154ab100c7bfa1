/* SPDX-License-Identifier: MIT */
/* How many calls each process made, as one side of a recording saw them. */
#ifndef MAGNET_COMMON_CALLERS_H
#define MAGNET_COMMON_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hash.h"

struct caller {
	uint32_t pid;
	char comm[16]; /* "" if not known */
	uint64_t calls;
	uint64_t moved; /* of these, that move bytes */
	UT_hash_handle hh;
};

struct callers {
	struct caller *all; /* uthash by pid */
	struct caller *last;
	bool more; /* others called, too, that there was no room for */
};

/* One more call, that moves bytes or not; without room only `more` is set. */
void callers_count(struct callers *c, uint32_t pid, bool moves);
/* The process is called so now. */
void callers_name(struct callers *c, uint32_t pid, const char comm[16]);
/* A process is forked, or was there already: it runs what its parent runs, or else is called so. */
void callers_forked(struct callers *c, uint32_t parent, uint32_t pid, const char comm[16]);
/* Calls of `pid`, 0 if it made none. */
uint64_t callers_calls(const struct callers *c, uint32_t pid);
void callers_free(struct callers *c);

#endif
