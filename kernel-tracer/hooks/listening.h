/* SPDX-License-Identifier: MIT */
/* Ports that traced processes listen on when the recording begins. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_LISTENING_H
#define MAGNET_KERNEL_TRACER_HOOKS_LISTENING_H

#include "hooks/hooks.h"

/* Follows connections to those ports. Call it after hooks_follow(). */
void listening_follow(const struct hooks *h);

#endif
