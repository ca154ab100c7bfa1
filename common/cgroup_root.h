/* SPDX-License-Identifier: MIT */
/* Opens the root of the cgroup v2 hierarchy, also where it is not mounted. */
#ifndef MAGNET_COMMON_CGROUP_ROOT_H
#define MAGNET_COMMON_CGROUP_ROOT_H

#include <limits.h>

/* Opens a directory if it is a cgroup of v2. Returns a descriptor or a negative errno. */
int mg_cgroup_open(int at, const char *path);

/*
 * Opens the root as far as this process sees it: where it is mounted, which is not always
 * /sys/fs/cgroup, and one place may be covered by another mount; else by a mount that has no place
 * in the file system and ends with the descriptor, which takes CAP_SYS_ADMIN. `where`, if not NULL,
 * receives the place, empty for a mount without one. Returns a descriptor or -ENODEV.
 */
int mg_cgroup_root(char where[PATH_MAX]);

#endif
