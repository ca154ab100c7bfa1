/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cgroup_root.h"
#include "hooks/hook_table.h"
#include "hooks/hooks.h"

int cgroup_link_sockets(int program, bool *whole)
{
	int root = mg_cgroup_root(NULL), link;

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

static int open_cgroup(const char *path, char *why, size_t size)
{
	int fd = mg_cgroup_open(AT_FDCWD, path), root;

	if (fd >= 0)
		return fd;
	root = mg_cgroup_root(NULL);
	if (root < 0) {
		snprintf(
			why, size, "no cgroup v2 hierarchy is mounted (mount -t cgroup2 none DIR)");
		return -ENODEV;
	}
	fd = mg_cgroup_open(root, path + strspn(path, "/"));
	close(root);
	if (fd < 0) {
		snprintf(why, size, "there is no cgroup %s below the root of cgroup v2: %s", path,
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
	char where[32];
	int fd = open_cgroup(path, why, size), err = 0;
	uint32_t zero = 0;

	if (fd < 0)
		return fd;
	snprintf(where, sizeof(where), "/proc/self/fd/%d", fd);
	if (bpf_map_update_elem(hooks_map_fd(h, "cgroups"), &zero, &fd, BPF_ANY)) {
		err = -errno;
		snprintf(why, size, "cgroup %s: %s", path, strerror(errno));
	}
	if (!err)
		mark_processes(h, where);
	close(fd);
	return err;
}
