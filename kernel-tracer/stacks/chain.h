/* SPDX-License-Identifier: MIT */
/*
 * From the addresses of a stack to its frames with names. The kernel follows frame pointers: where
 * a function keeps none, its callers cannot be known, and a frame says so in their place.
 */
#ifndef MAGNET_KERNEL_TRACER_STACKS_CHAIN_H
#define MAGNET_KERNEL_TRACER_STACKS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* A place in a program or the kernel. Texts are NULL if not known. */
struct place {
	const char *function, *file;
	uint32_t function_length; /* bytes of its name: what stands behind is not part of it */
	const char *why;          /* why there is no function */
	uint64_t offset;  /* in the file, of the function if it is known; without a file 0 */
	bool keeps_frame; /* the next frame is known to be its caller */
};

struct chain_frame {
	uint64_t address; /* 0: callers that are not known */
	struct place place;
};

static inline void place_function(struct place *p, const char *name, size_t length)
{
	p->function = name;
	p->function_length = (uint32_t)length;
}

/* At most every second frame is one of unknown callers. */
#define CHAIN_MAX (2 * MG_STACK_FRAMES + 1)

struct chain {
	uint32_t count;
	struct chain_frame frame[CHAIN_MAX]; /* the innermost first */
};

/* Names a place by an address in the function, which of callers is the one before the return. */
typedef void (*place_fn)(void *arg, const struct mg_stack *s, uint64_t address, struct place *out);

/* Makes the chain of a stack. */
void chain_make(struct chain *out, const struct mg_stack *s, place_fn name, void *arg);

#endif
