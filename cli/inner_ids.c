/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inner_ids.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_ring.h"
#include "clock.h"

#define GENERATIONS 64   /* how far back ancestors are looked for */
#define KNOWN       1024 /* threads at once; others are looked for again */

/* Looking for numbers may take this part of the time, 1 / n, since programs may make numbers up. */
#define SHARE   10
#define HEAD_NS 200000000ull

struct inner_ids {
	uint32_t outer, inner; /* numbers of the first process; outer 0: not visible */
	uint32_t init;         /* the first process of its namespace, outside; 0: not known */
	int depth;             /* depth of its namespace, 1 = ours; 0: not known */
	struct found {
		uint32_t ring, tid, pid;
		uint32_t outer_tid, outer_pid; /* 0: not found */
	} known[KNOWN];
};

/* A process or thread, from /proc. */
struct task {
	uint32_t tid, pid; /* numbers in its own namespace */
	uint32_t parent;   /* number here */
	int depth;         /* count of namespaces in which it has numbers, from ours on */
};

/* Returns the last number of a line of status, and the count of numbers. */
static uint32_t last_number(const char *status, const char *name, int *count)
{
	const char *at = strstr(status, name);
	uint32_t value = 0;

	*count = 0;
	if (!at)
		return 0;
	for (at += strlen(name); *at && *at != '\n'; ++*count)
		value = (uint32_t)strtoul(at, (char **)&at, 10);
	return value;
}

/* Reads the status of a process, or with `task` of a thread. Returns whether it exists. */
static bool read_task(struct task *t, const char *process, const char *task)
{
	char path[600], status[2048];
	ssize_t len;
	int fd, n;

	snprintf(path, sizeof(path), "/proc/%.200s%s%.200s/status", process,
		task[0] ? "/task/" : "", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	status[len] = 0;
	t->parent = last_number(status, "\nPPid:", &n);
	t->pid = last_number(status, "\nNStgid:", &n);
	t->tid = last_number(status, "\nNSpid:", &t->depth);
	return true;
}

static bool read_process(struct task *t, uint32_t number)
{
	char process[16];

	snprintf(process, sizeof(process), "%u", number);
	return number && read_task(t, process, "");
}

/*
 * The first process of a namespace is an ancestor of all processes there but those that entered it.
 */
static uint32_t find_init(uint32_t number, struct task t)
{
	int depth = t.depth;

	for (int i = 0; i < GENERATIONS && t.depth == depth; i++) {
		if (t.pid == 1)
			return number;
		number = t.parent;
		if (!read_process(&t, number))
			break;
	}
	return 0;
}

struct inner_ids *inner_ids_new(uint32_t outer, uint32_t inner)
{
	struct inner_ids *ids = calloc(1, sizeof(*ids));
	struct task t;

	if (!ids)
		return NULL;
	ids->outer = outer;
	ids->inner = inner;
	if (read_process(&t, outer) && t.pid == inner) {
		ids->depth = t.depth;
		ids->init = t.depth > 1 ? find_init(outer, t) : 0;
	}
	return ids;
}

void inner_ids_free(struct inner_ids *ids)
{
	free(ids);
}

/*
 * Returns whether one of the ancestors is the program's first process, or the first of its
 * namespace.
 */
static bool descends(const struct inner_ids *ids, struct task t, bool nested)
{
	for (int i = 0; i < GENERATIONS && t.parent; i++) {
		if (t.parent == ids->outer || (!nested && t.parent == ids->init))
			return true;
		if (!read_process(&t, t.parent))
			return false;
	}
	return false;
}

/* The target of a search: numbers in a namespace below, or equal to, that of the first process. */
struct wanted {
	uint32_t tid, pid;
	bool nested;
};

/* A number alone is not enough, since other namespaces use it too. */
static bool is_process(const struct inner_ids *ids, const char *number, const struct wanted *w)
{
	struct task t;

	return read_task(&t, number, "") && t.pid == w->pid && t.tid == w->pid && t.depth > 1 &&
	       (w->nested ? t.depth > ids->depth : t.depth == ids->depth) &&
	       ((!w->nested && strtoul(number, NULL, 10) == ids->init) ||
		       descends(ids, t, w->nested));
}

static bool is_thread(const char *process, const char *number, const struct wanted *w)
{
	struct task t;

	return read_task(&t, process, number) && t.pid == w->pid && t.tid == w->tid;
}

/*
 * Returns the only matching number that names a directory of `path`; 0 if there is none, or
 * several.
 */
static uint32_t only_one(
	const struct inner_ids *ids, const char *path, const char *process, const struct wanted *w)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint32_t found = 0;
	bool several = false;

	while (d && (e = readdir(d))) {
		uint32_t number = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (!number || !(process[0] ? is_thread(process, e->d_name, w)
					    : is_process(ids, e->d_name, w)))
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
	struct wanted w = {*tid & ~MG_NESTED, *pid & ~MG_NESTED, *pid & MG_NESTED};
	uint32_t outer = ids->outer, thread;
	char process[16], path[32];

	/* the first thread can be found even if the first process is gone */
	if (w.nested || w.pid != ids->inner)
		outer = only_one(ids, "/proc", "", &w);
	if (w.tid == w.pid || !outer) {
		*tid = *pid = outer;
		return;
	}
	snprintf(process, sizeof(process), "%u", outer);
	snprintf(path, sizeof(path), "/proc/%u/task", outer);
	thread = only_one(ids, path, process, &w);
	*pid = thread ? outer : 0;
	*tid = thread;
}

static struct found *place_of(struct inner_ids *ids, uint32_t ring, uint32_t tid)
{
	return &ids->known[(ring ? ring : tid) % KNOWN];
}

void inner_ids_forget(struct inner_ids *ids, uint32_t ring, uint32_t tid)
{
	place_of(ids, ring, tid)->tid = 0;
}

/* Returns whether the search was made: it takes no more than its share of the time. */
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

/*
 * Returns whether what was found for these numbers holds. A program may have children in several
 * namespaces with equal numbers there: a ring is one thread's, but in the ring of all those are not
 * told apart.
 */
static bool still_holds(const struct found *f, uint32_t ring, uint32_t tid, uint32_t pid)
{
	return f->ring == ring && f->tid == tid && f->pid == pid && (ring || !(pid & MG_NESTED));
}

bool inner_ids_translate(struct inner_ids *ids, uint32_t ring, uint32_t *tid, uint32_t *pid)
{
	struct found *f = place_of(ids, ring, *tid);
	uint32_t outer_tid = *tid, outer_pid = *pid;

	if (!still_holds(f, ring, *tid, *pid)) {
		if (!find_in_time(ids, &outer_tid, &outer_pid))
			return false;
		*f = (struct found){ring, *tid, *pid, outer_tid, outer_pid};
	}
	if (!f->outer_pid)
		return false;
	*tid = f->outer_tid;
	*pid = f->outer_pid;
	return true;
}
