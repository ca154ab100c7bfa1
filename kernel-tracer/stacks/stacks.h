/* SPDX-License-Identifier: MIT */
/* Stacks (--stacks): takes them from the BPF programs, and writes them with names at the end. */
#ifndef MAGNET_KERNEL_TRACER_STACKS_STACKS_H
#define MAGNET_KERNEL_TRACER_STACKS_STACKS_H

#include "ctf.h"
#include "hooks/hooks.h"

struct stacks;
/*
 * Call it once the hooks are loaded, and before privileges are given up. Stacks taken so far, from
 * calibration, are left out. Returns 0 or a negative errno.
 */
int stacks_new(struct stacks **out, const struct hooks *h, uint64_t block_ns);
/* Takes the new ones. `s` may be NULL, as of the others. Returns 0 or a negative errno. */
int stacks_pass(struct stacks *s);
/* Takes the last ones, and the counts. Call it when nothing is attached. */
int stacks_finish(struct stacks *s);
/* Names them all and writes them into the tracer's own stream; needs no privilege. */
int stacks_write(struct stacks *s, struct ctf_writer *w);
void stacks_free(struct stacks *s);

#endif
