/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "hooks/hooks.h"

#define ROUNDS 100 /* of processes that make children faster than they are found */

struct process {
	uint32_t pid, parent;
};

/* All processes of the machine but the tracer's own. */
struct processes {
	struct process *at;
	size_t count;
};

/* Reads the parent of a process. Returns 0 if it has ended. */
static uint32_t parent_of(const char *pid)
{
	char path[64], text[512], *at = NULL;
	unsigned int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f))
		at = strrchr(text, ')'); /* a program's name may hold anything */
	if (at && sscanf(at, ") %*c %u", &parent) != 1)
		parent = 0;
	if (f)
		fclose(f);
	return parent;
}

static int read_all(struct processes *all)
{
	DIR *proc = opendir("/proc");
	struct process *more;
	struct dirent *e;
	int err = proc ? 0 : -errno;

	while (!err && (e = readdir(proc))) {
		struct process p = {.pid = (uint32_t)strtoul(e->d_name, NULL, 10)};

		/* magnet record, of which this may be a child, is not recorded by itself */
		if (!isdigit((unsigned char)e->d_name[0]) || (pid_t)p.pid == getpid() ||
			(pid_t)p.pid == getppid())
			continue;
		p.parent = parent_of(e->d_name);
		more = all->count % 256 ? all->at
					: realloc(all->at, (all->count + 256) * sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		all->at = more;
		all->at[all->count++] = p;
	}
	if (proc)
		closedir(proc);
	return err;
}

static bool is_followed(int map, uint32_t pid)
{
	uint8_t value;

	return pid && bpf_map_lookup_elem(map, &pid, &value) == 0;
}

static int follow(int map, uint32_t pid, uint32_t *count)
{
	uint8_t value = 1;

	if (is_followed(map, pid))
		return 0;
	if (bpf_map_update_elem(map, &pid, &value, BPF_ANY))
		return -errno;
	++*count;
	return 0;
}

/* Adds the children of those that are followed, and theirs. */
static int follow_children(int map, const struct processes *all, uint32_t *count)
{
	uint32_t before;
	int err = 0;

	do {
		before = *count;
		for (size_t i = 0; i < all->count && !err; i++)
			if (is_followed(map, all->at[i].parent))
				err = follow(map, all->at[i].pid, count);
	} while (!err && *count != before);
	return err;
}

int processes_follow(struct hooks *h, const struct hook_options *o, uint32_t *count)
{
	int map = hooks_map_fd(h, "followed"), err = 0;
	uint32_t before = 0;

	*count = 0;
	for (uint32_t i = 0; i < o->pid.count && !err; i++)
		err = follow(map, (uint32_t)o->pid.pid[i], count);
	/* what a process has made before it was marked is found by the next look at all */
	for (int i = 0; i < ROUNDS && !err && !o->fresh && *count != before; i++) {
		struct processes all = {0};

		before = *count;
		err = hooks_follow_tasks(h);
		if (!err)
			err = read_all(&all);
		if (!err)
			err = follow_children(map, &all, count);
		free(all.at);
	}
	return err;
}
