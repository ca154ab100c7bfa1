/* SPDX-License-Identifier: MIT */
/* Loading the programs of layers that are chosen while recording. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_LOAD_MORE_H
#define MAGNET_KERNEL_TRACER_HOOKS_LOAD_MORE_H

#include <stdint.h>

#include "hooks/hooks.h"

/*
 * Loads the programs that `layers` take beyond those loaded so far, for hooks_set_layers(). Calls
 * `meanwhile` again and again, as this takes a while. Returns 0 or a negative errno.
 */
int hooks_load_more(struct hooks *h, uint32_t layers, void (*meanwhile)(void *arg), void *arg);

#endif
