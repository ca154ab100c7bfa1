/* SPDX-License-Identifier: MIT */
/* Loading the BPF programs that this kernel accepts. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_LOAD_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_LOAD_H

#include "hooks/hook_choice.h"
#include "hooks/hooks.h"

/* Returns the slots of a ring, a power of two, from --buffer or else from the number of CPUs. */
uint64_t hooks_ring_slots(const struct hook_options *o);
int hooks_load(struct hooks *h, const struct hook_options *o);
/*
 * Loads the programs that `layers` take beyond those loaded so far, for hooks_set_layers(). Calls
 * `meanwhile` again and again, as this takes a while. Returns 0 or a negative errno.
 */
int hooks_load_more(struct hooks *h, uint32_t layers, void (*meanwhile)(void *arg), void *arg);

#endif
