/* SPDX-License-Identifier: MIT */
/* Loading the BPF programs that this kernel accepts. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_LOAD_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_LOAD_H

#include "hooks/hook_choice.h"
#include "hooks/hooks.h"

/* Returns the slots of a ring, a power of two, from --buffer or else from the number of CPUs. */
uint64_t hooks_ring_slots(const struct hook_options *o);
/* Sets the sizes of rings, and what programs are told of them. Returns 0 or a negative errno. */
int hooks_configure(struct hooks *h, const struct hook_options *o);
int hooks_load(struct hooks *h, const struct hook_options *o);

#endif
