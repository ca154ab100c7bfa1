/* SPDX-License-Identifier: MIT */
/* Finding cgroups, and recording the tasks of one. */
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
 * Opens the root of the cgroup v2 hierarchy, as far as this process sees it. Returns a descriptor
 * or a negative errno; -ENODEV: none is mounted.
 */
int cgroup_open_root(void);
/* Returns whether that is the root of all cgroups: in a cgroup namespace it may be another one. */
bool cgroup_is_whole(int root);

#endif
