/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cgroup_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int mg_cgroup_open(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Returns a descriptor of the root of a mount of cgroup v2 that is at no place in the file system,
 * or a negative errno. `ip netns exec`, for one, hides all mounts below /sys from its program.
 */
static int mount_apart(void)
{
	int fs = (int)syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC), fd;

	if (fs < 0)
		return -errno;
	fd = syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0
		     ? (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0)
		     : -1;
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

int mg_cgroup_root(char where[PATH_MAX])
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int fd = -ENOENT;

	if (where)
		where[0] = '\0';
	while (f && fd < 0 && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0) {
			fd = mg_cgroup_open(AT_FDCWD, m->mnt_dir);
			if (where && fd >= 0)
				snprintf(where, PATH_MAX, "%s", m->mnt_dir);
		}
	if (f)
		endmntent(f);
	if (fd == -ENOENT)
		fd = mount_apart();
	return fd < 0 ? -ENODEV : fd;
}
