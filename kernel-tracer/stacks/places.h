/* SPDX-License-Identifier: MIT */
/*
 * Names of the places that stacks go through. Files are opened when a stack first has a place in
 * them, since they may be gone at the end; they are read at the end, when the tracer has given up
 * all privileges, as whoever made them may mean harm.
 */
#ifndef MAGNET_KERNEL_TRACER_STACKS_PLACES_H
#define MAGNET_KERNEL_TRACER_STACKS_PLACES_H

#include "stacks/chain.h"
#include "stacks/mappings.h"

struct places;
/* Call it before privileges are given up. Returns NULL without memory. */
struct places *places_new(void);
/* Reads what the kernel has reported of mappings. */
void places_pass(struct places *p);
/* Call it when a program's stack is new, after places_pass(): opens the files of its places. */
void places_see(struct places *p, const struct mg_stack *s);
/* Names a place, as chain_make() wants it; the texts are valid until places_free(). */
void places_name(void *places, const struct mg_stack *s, uint64_t address, struct place *out);
/* Returns why functions of the kernel could not be named, NULL if they could. */
const char *places_why_no_kernel(const struct places *p);
uint64_t places_mappings_lost(const struct places *p);
void places_free(struct places *p);

#endif
