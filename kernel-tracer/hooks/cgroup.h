/* SPDX-License-Identifier: MIT */
/* Recording the tasks of a cgroup. */
#ifndef MAGNET_KERNEL_TRACER_CGROUP_H
#define MAGNET_KERNEL_TRACER_CGROUP_H

#include <stddef.h>

struct hooks;
/*
 * The tasks of the cgroup at `path`, and below it, are traced from here on. The path is that of a
 * directory, or begins at the root of the cgroup v2 hierarchy. 0, or a negative errno and why.
 */
int cgroup_follow(struct hooks *h, const char *path, char *why, size_t size);

#endif
