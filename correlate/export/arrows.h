/* SPDX-License-Identifier: MIT */
/* Which call received what which call had sent, found when all calls are known. */
#ifndef MAGNET_CORRELATE_EXPORT_ARROWS_H
#define MAGNET_CORRELATE_EXPORT_ARROWS_H

#include <stddef.h>
#include <stdint.h>

#include "facts/facts.h"

/* A call that moved bytes. */
struct arrow_call {
	uint64_t sock, at; /* `at`: begin of a sending call, end of a receiving one; cycles */
	uint32_t pid, tid;
	uint8_t rx;
};

struct arrow_list {
	struct arrow_call *of;
	size_t n, room;
};

/* Calls, and pairs of a sender's begin and a receiver's end, of which the calls are looked for. */
struct arrows {
	struct arrow_list calls, ends; /* of `ends` two belong together */
};

void arrows_call(struct arrows *a, const struct fact_call *f);
void arrows_crossing(struct arrows *a, const struct fact_crossing *f);
/* Calls `fn` for each pair of calls that are both known. */
void arrows_each(struct arrows *a,
	void (*fn)(void *arg, const struct arrow_call *from, const struct arrow_call *to),
	void *arg);
void arrows_free(struct arrows *a);

#endif
