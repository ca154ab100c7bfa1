/* SPDX-License-Identifier: MIT */
/*
 * Finds the ports on which traced processes listen when the recording begins: connections to them
 * are followed from their opening on, like those to ports opened later.
 */
#define _GNU_SOURCE
#include "hooks/listening.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "hooks/hooks.h"

#define LISTENS 0x0a /* TCP_LISTEN in /proc's notation */

struct inodes {
	unsigned long *v;
	size_t count;
};

static bool has(const struct inodes *all, unsigned long inode)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->v[i] == inode)
			return true;
	return false;
}

static bool add(struct inodes *all, unsigned long inode)
{
	unsigned long *more = realloc(all->v, (all->count + 1) * sizeof(*more));

	if (!more)
		return false;
	all->v = more;
	more[all->count++] = inode;
	return true;
}

/* Returns whether the process's first thread is traced. */
static bool is_traced(const struct hooks *h, int pid)
{
	unsigned char state[MG_TASK_MARK];
	int key = h->old ? pid : (int)syscall(SYS_pidfd_open, pid, 0);
	bool traced;

	if (key < 0)
		return false;
	traced = bpf_map_lookup_elem(hooks_map_fd(h, "tasks"), &key, state) == 0;
	if (!h->old)
		close(key);
	return traced;
}

/* Counts one more socket that listens on this port. */
static void follow_port(const struct hooks *h, uint64_t netns, unsigned int port)
{
	int map = hooks_map_fd(h, "listeners");
	uint64_t key = netns << 16 | port, n = 0;

	bpf_map_lookup_elem(map, &key, &n);
	n++;
	bpf_map_update_elem(map, &key, &n, BPF_ANY);
}

/*
 * Reads one of the kernel's lists of TCP sockets up to the first socket that does not listen; those
 * that do come first.
 */
static void follow_listed(const struct hooks *h, const char *list, uint64_t netns,
	const struct inodes *own, struct inodes *seen)
{
	unsigned int port, state;
	unsigned long inode;
	char line[256];
	FILE *f = fopen(list, "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*s %*s %lu",
			    &port, &state, &inode) != 3)
			continue; /* the first line has titles */
		if (state != LISTENS)
			break;
		if (has(own, inode) && !has(seen, inode) && add(seen, inode))
			follow_port(h, netns, port);
	}
	if (f)
		fclose(f);
}

/* Returns the inodes of a process's sockets. */
static struct inodes sockets_of(const char *pid)
{
	struct inodes all = {NULL, 0};
	char path[300], to[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		unsigned long inode;
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

		to[n > 0 ? n : 0] = 0;
		if (sscanf(to, "socket:[%lu]", &inode) == 1 && !add(&all, inode))
			break;
	}
	if (d)
		closedir(d);
	return all;
}

static void follow_process(const struct hooks *h, const char *pid, struct inodes *seen)
{
	struct inodes own = sockets_of(pid);
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	if (own.count && stat(path, &st) == 0) {
		snprintf(path, sizeof(path), "/proc/%s/net/tcp", pid);
		follow_listed(h, path, st.st_ino, &own, seen);
		snprintf(path, sizeof(path), "/proc/%s/net/tcp6", pid);
		follow_listed(h, path, st.st_ino, &own, seen);
	}
	free(own.v);
}

void listening_follow(const struct hooks *h)
{
	struct inodes seen = {NULL, 0}; /* several processes may share a socket */
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]) && is_traced(h, atoi(e->d_name)))
			follow_process(h, e->d_name, &seen);
	if (proc)
		closedir(proc);
	free(seen.v);
}
