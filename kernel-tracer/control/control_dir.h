/* SPDX-License-Identifier: MIT */
/* The directory of control sockets. */
#ifndef MAGNET_KERNEL_TRACER_CONTROL_CONTROL_DIR_H
#define MAGNET_KERNEL_TRACER_CONTROL_CONTROL_DIR_H

/* Returns whether a tracer answers at a path: 1, 0 (none listens any more), or a negative errno. */
int control_is_alive(const char *path);
typedef void (*control_tracer_fn)(void *arg, const char *path, int pid);
/*
 * Calls `found` for every tracer that answers in CONTROL_DIR; removes the sockets of killed ones.
 */
void control_each(control_tracer_fn found, void *arg);

#endif
