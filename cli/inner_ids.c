/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inner_ids.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define KNOWN 1024 /* threads at once; others are looked for again */

/* Looking for numbers, which programs may make up, may take one part of so many of the time. */
#define SHARE   10
#define HEAD_NS 50000000ull

struct inner_ids {
	uint32_t outer, inner; /* of the first process */
	struct {
		uint32_t tid, pid, outer_tid, outer_pid; /* outside 0: it was not found */
	} known[KNOWN];
};

struct inner_ids *inner_ids_new(uint32_t outer, uint32_t inner)
{
	struct inner_ids *ids = calloc(1, sizeof(*ids));

	if (ids) {
		ids->outer = outer;
		ids->inner = inner;
	}
	return ids;
}

void inner_ids_free(struct inner_ids *ids)
{
	free(ids);
}

/* Returns the innermost of the numbers of a line of status, 0 if there is but one. */
static uint32_t innermost(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	uint32_t value = 0;
	int n = 0;

	if (!at)
		return 0;
	for (at += strlen(name); *at && *at != '\n'; n++)
		value = (uint32_t)strtoul(at, (char **)&at, 10);
	return n > 1 ? value : 0;
}

/* Returns whether the task, a path below /proc, is the thread `tid` of the process `pid` inside. */
static bool is_task(const char *process, const char *task, uint32_t tid, uint32_t pid)
{
	char path[600], status[2048];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.200s%s%.200s/status", process,
		task[0] ? "/task/" : "", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	status[len] = 0;
	return innermost(status, "\nNStgid:") == pid && innermost(status, "\nNSpid:") == tid;
}

/* Returns the only number that names a directory of `path` that is meant; 0 if none or several. */
static uint32_t only_one(const char *path, const char *process, uint32_t tid, uint32_t pid)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint32_t found = 0;
	bool several = false;

	while (d && (e = readdir(d))) {
		uint32_t number = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (!number || !is_task(process[0] ? process : e->d_name,
				       process[0] ? e->d_name : "", tid, pid))
			continue;
		several |= found != 0;
		found = number;
	}
	if (d)
		closedir(d);
	return several ? 0 : found;
}

static void find(const struct inner_ids *ids, uint32_t *tid, uint32_t *pid)
{
	uint32_t outer = ids->outer, thread;
	char process[16], path[32];

	/* the first process may be gone, which makes no difference to its first thread */
	if (*pid != ids->inner)
		outer = only_one("/proc", "", *pid, *pid);
	if (*tid == *pid || !outer) {
		*tid = *pid = outer;
		return;
	}
	snprintf(process, sizeof(process), "%u", outer);
	snprintf(path, sizeof(path), "/proc/%u/task", outer);
	thread = only_one(path, process, *tid, *pid);
	*pid = thread ? outer : 0;
	*tid = thread;
}

void inner_ids_forget(struct inner_ids *ids, uint32_t tid)
{
	ids->known[tid % KNOWN].tid = 0;
}

/* Returns whether there was time for it. */
static bool find_in_time(const struct inner_ids *ids, uint32_t *tid, uint32_t *pid)
{
	static uint64_t since, spent; /* ns */
	uint64_t now = mg_monotonic_ns();

	if (!since)
		since = now;
	if (spent > HEAD_NS + (now - since) / SHARE)
		return false;
	find(ids, tid, pid);
	spent += mg_monotonic_ns() - now;
	return true;
}

bool inner_ids_translate(struct inner_ids *ids, uint32_t *tid, uint32_t *pid)
{
	uint32_t at = *tid % KNOWN, outer_tid = *tid, outer_pid = *pid;

	if (ids->known[at].tid != *tid || ids->known[at].pid != *pid) {
		if (!find_in_time(ids, &outer_tid, &outer_pid))
			return false;
		ids->known[at].tid = *tid;
		ids->known[at].pid = *pid;
		ids->known[at].outer_tid = outer_tid;
		ids->known[at].outer_pid = outer_pid;
	}
	if (!ids->known[at].outer_pid)
		return false;
	*tid = ids->known[at].outer_tid;
	*pid = ids->known[at].outer_pid;
	return true;
}
