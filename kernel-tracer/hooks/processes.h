/* SPDX-License-Identifier: MIT */
/* The processes of --pid and their children. */
#ifndef MAGNET_KERNEL_TRACER_PROCESSES_H
#define MAGNET_KERNEL_TRACER_PROCESSES_H

#include <stdint.h>

#include "hooks/hook_choice.h"

struct hooks;
/*
 * Traces the processes of o->pid from now on, and, unless they are `fresh`, the children that they
 * have, with the children of these. Call it before hooks_follow(). Writes how many there are.
 * Returns 0 or a negative errno; -E2BIG if there are more than MG_FOLLOWED_MAX.
 */
int processes_follow(struct hooks *h, const struct hook_options *o, uint32_t *count);

#endif
