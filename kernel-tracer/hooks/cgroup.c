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

/* Opens a directory if it is a cgroup of v2. Returns a descriptor or a negative errno. */
static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Finds where cgroup v2 is mounted, which is not always /sys/fs/cgroup; one place may be covered by
 * another mount. Returns a descriptor of its root or a negative errno; -ENODEV: nowhere.
 */
static int find_mount(char out[PATH_MAX])
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int fd = -ENODEV;

	while (f && fd < 0 && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0) {
			snprintf(out, PATH_MAX, "%s", m->mnt_dir);
			fd = open_dir(out);
		}
	if (f)
		endmntent(f);
	return fd == -ENOENT ? -ENODEV : fd;
}

int cgroup_link_sockets(int program, bool *whole)
{
	char mount[PATH_MAX];
	int root = find_mount(mount), link;

	if (root < 0)
		return root;
	link = bpf_link_create(program, root, BPF_CGROUP_SOCK_OPS, NULL);
	if (link < 0)
		link = -errno;
	/* the root of all is the only cgroup without a type */
	*whole = faccessat(root, "cgroup.type", F_OK, 0) != 0;
	close(root);
	return link;
}

static int open_cgroup(const char *path, char where[2 * PATH_MAX], char *why, size_t size)
{
	char mount[PATH_MAX];
	int fd, root;

	snprintf(where, 2 * PATH_MAX, "%s", path);
	fd = open_dir(where);
	if (fd >= 0)
		return fd;
	root = find_mount(mount);
	if (root < 0) {
		snprintf(
			why, size, "no cgroup v2 hierarchy is mounted (mount -t cgroup2 none DIR)");
		return -ENODEV;
	}
	close(root);
	snprintf(where, 2 * PATH_MAX, "%s/%s", mount, path);
	fd = open_dir(where);
	if (fd < 0) {
		snprintf(why, size, "there is no cgroup %s (below %s): %s", path, mount,
			strerror(-fd));
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
