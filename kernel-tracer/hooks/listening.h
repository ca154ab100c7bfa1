/* SPDX-License-Identifier: MIT */
/* Ports that traced processes listen on as the recording begins. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_LISTENING_H
#define MAGNET_KERNEL_TRACER_HOOKS_LISTENING_H

#include "hooks/hooks.h"

/* After hooks_follow(): connections to ports that traced processes listen on are followed. */
void listening_follow(const struct hooks *h);

#endif
