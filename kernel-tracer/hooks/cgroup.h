/* SPDX-License-Identifier: MIT */
/* Recording the tasks of a cgroup, and attaching to the sockets of all. */
#ifndef MAGNET_KERNEL_TRACER_CGROUP_H
#define MAGNET_KERNEL_TRACER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct hooks;
/*
 * Traces the tasks of the cgroup at `path`, and of those below it, from now on. `path` is a
 * directory, or begins at the root of the cgroup v2 hierarchy. Returns 0, or a negative errno with
 * the reason in `why`.
 */
int cgroup_follow(struct hooks *h, const char *path, char *why, size_t size);

/*
 * Attaches a program for sockets (sockops) at the root of the cgroup v2 hierarchy, as far as this
 * process sees it; sets `*whole` to whether that is the root of all, which in a cgroup namespace it
 * need not be. Returns a descriptor or a negative errno; -ENODEV: no hierarchy is mounted.
 */
int cgroup_link_sockets(int program, bool *whole);

#endif
