/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "hooks/hook_table.h"
#include "hooks/hooks.h"

/* Finds where cgroup v2 is mounted, which is not always /sys/fs/cgroup. */
static bool find_mount(char out[PATH_MAX])
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0) {
			snprintf(out, PATH_MAX, "%s", m->mnt_dir);
			found = true;
		}
	if (f)
		endmntent(f);
	return found;
}

int cgroup_open_root(void)
{
	char mount[PATH_MAX];
	int fd;

	if (!find_mount(mount))
		return -ENODEV;
	fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_cgroup(const char *path, char where[2 * PATH_MAX], char *why, size_t size)
{
	char mount[PATH_MAX];
	struct statfs fs;
	int fd;

	snprintf(where, 2 * PATH_MAX, "%s", path);
	fd = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	if (fd >= 0)
		close(fd);
	if (!find_mount(mount)) {
		snprintf(
			why, size, "no cgroup v2 hierarchy is mounted (mount -t cgroup2 none DIR)");
		return -ENODEV;
	}
	snprintf(where, 2 * PATH_MAX, "%s/%s", mount, path);
	fd = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		snprintf(why, size, "there is no cgroup %s (below %s): %s", path, mount,
			strerror(errno));
		return -ENOENT;
	}
	return fd;
}

/* Marks the cgroup's processes; their other threads are marked when they first use a socket. */
static void mark_processes(struct hooks *h, const char *dir)
{
	char path[2 * PATH_MAX + 300];
	struct dirent *e;
	FILE *f;
	DIR *d;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 0 && pid != getpid())
			hooks_mark_task(h, pid, true, 0);
	if (f)
		fclose(f);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.*s/%s", (int)sizeof(path) - 300, dir, e->d_name);
		mark_processes(h, path);
	}
	if (d)
		closedir(d);
}

int cgroup_follow(struct hooks *h, const char *path, char *why, size_t size)
{
	char where[2 * PATH_MAX];
	int fd = open_cgroup(path, where, why, size), err = 0;
	uint32_t zero = 0;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(hooks_map_fd(h, "cgroups"), &zero, &fd, BPF_ANY)) {
		err = -errno;
		snprintf(why, size, "cgroup %s: %s", path, strerror(errno));
	}
	close(fd);
	if (!err)
		mark_processes(h, where);
	return err;
}
