/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stacks/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "hash.h"
#include "stacks/mapping_rings.h"

/* Changes and files that are kept; more are counted as lost. */
#define KEPT_MAX  400000
#define FILES_MAX 50000

enum change_kind { CHANGE_MAP, CHANGE_EXEC, CHANGE_FORK, CHANGE_READ };

/* A change of a process's address space. */
struct change {
	enum change_kind kind;
	uint64_t time; /* ns; 0: before the recording */
	struct change *before;
	struct mapping map; /* CHANGE_MAP */
	uint32_t parent;    /* CHANGE_FORK */
};

/* Passes after which a process that has ended is forgotten; its last stacks come in the first. */
#define PASSES_KEPT 2
#define FORGET_EACH 64 /* passes */

struct process {
	uint32_t pid;
	struct change *last;
	bool needed;       /* a stack leads through it, or through a child with its mappings */
	uint32_t children; /* those that have not called exec, and were not forgotten */
	uint64_t ended;    /* the pass in which its end was read; 0: it lives */
	uint64_t ended_at; /* ns */
	UT_hash_handle hh;
};

struct file_entry {
	struct mapped_file file;
	UT_hash_handle hh;
	char key[]; /* path and identity */
};

struct mappings {
	struct process *processes;
	struct file_entry *files;
	struct mapping_rings *rings;
	uint64_t kept, lost, passes;
};

/* Layouts of the kernel's records; each ends with thread and time, as sample_id_all asks. */
struct map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_size, pad[3];
			uint8_t build_id[BUILD_ID_SIZE];
		};
	};
	uint32_t protection, flags;
	char path[];
};
struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};
struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* values that <linux/perf_event.h> has since 5.12, as the build machine's may be older */
#define MISC_BUILD_ID (1 << 14)

static uint64_t time_of(const struct perf_event_header *h)
{
	uint64_t time;

	memcpy(&time, (const char *)h + h->size - sizeof(time), sizeof(time));
	return time;
}

/* ---- files ---- */

/* Returns the entry of a file, made if needed; NULL without memory. */
static struct mapped_file *file_of(struct mappings *m, const struct mapped_file *like)
{
	char key[4400];
	struct file_entry *e = NULL;
	int len = snprintf(key, sizeof(key), "%" PRIx64 ":%" PRIx64 ":", like->device, like->inode);

	for (int i = 0; i < like->build_id_size; i++)
		len += snprintf(key + len, sizeof(key) - (size_t)len, "%02x", like->build_id[i]);
	len += snprintf(key + len, sizeof(key) - (size_t)len, " ");
	if (strlen(like->path) >= sizeof(key) - (size_t)len)
		return NULL;
	strcpy(key + len, like->path);
	HASH_FIND_STR(m->files, key, e);
	if (e)
		return &e->file;
	if (HASH_COUNT(m->files) >= FILES_MAX)
		return NULL;
	e = mg_calloc(1, sizeof(*e) + strlen(key) + 1);
	if (!e)
		return NULL;
	strcpy(e->key, key);
	e->file = *like;
	e->file.path = e->key + len;
	HASH_ADD_STR(m->files, key, e);
	e = hash_kept(e);
	return e ? &e->file : NULL;
}

/* ---- changes ---- */

static struct process *process_find(const struct mappings *m, uint32_t pid)
{
	struct process *p = NULL;

	HASH_FIND(hh, m->processes, &pid, sizeof(pid), p);
	return p;
}

static struct process *process_of(struct mappings *m, uint32_t pid)
{
	struct process *p = process_find(m, pid);

	if (p)
		return p;
	p = mg_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD(hh, m->processes, pid, sizeof(p->pid), p);
	return hash_kept(p);
}

/* Adds a change in order of time: those of two CPUs may come out of it. */
static void add(struct mappings *m, uint32_t pid, const struct change *c)
{
	struct process *p = m->kept < KEPT_MAX ? process_of(m, pid) : NULL;
	struct change *one, **at;

	if (!p || !(one = mg_malloc(sizeof(*one)))) {
		m->lost++;
		return;
	}
	m->kept++;
	*one = *c;
	for (at = &p->last; *at && (*at)->time > c->time; at = &(*at)->before)
		;
	one->before = *at;
	*at = one;
}

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

static void take_map(struct mappings *m, const struct map_record *r)
{
	struct change c = {.kind = CHANGE_MAP,
		.time = time_of(&r->header),
		.map = {.start = r->start, .end = r->start + r->length, .offset = r->offset}};
	struct mapped_file like = {.path = r->path};

	if (m->kept >= KEPT_MAX) {
		m->lost++;
		return;
	}
	if (r->header.misc & MISC_BUILD_ID) {
		like.build_id_size =
			r->build_id_size <= BUILD_ID_SIZE ? r->build_id_size : BUILD_ID_SIZE;
		memcpy(like.build_id, r->build_id, like.build_id_size);
	} else {
		like.has_inode = true;
		like.device = makedev(r->major, r->minor);
		like.inode = r->inode;
	}
	if (is_file(r->path) && !(c.map.file = file_of(m, &like))) {
		m->lost++;
		return;
	}
	add(m, r->pid, &c);
}

/* ---- processes that have ended ---- */

static void forget_changes(struct mappings *m, struct process *p)
{
	while (p->last) {
		struct change *c = p->last;

		p->last = c->before;
		free(c);
		m->kept--;
	}
}

/* Returns the process whose mappings this one has inherited and not replaced, NULL if none. */
static struct process *inherits_from(const struct mappings *m, const struct process *p)
{
	const struct change *c = p->last;

	while (c && c->kind == CHANGE_MAP)
		c = c->before;
	return c && c->kind == CHANGE_FORK ? process_find(m, c->parent) : NULL;
}

/* Calls exec: what it has inherited is not its own any more. Call it before the change is added. */
static void take_exec(struct mappings *m, uint32_t pid)
{
	struct process *p = process_find(m, pid), *parent = p ? inherits_from(m, p) : NULL;

	if (parent && parent->children)
		parent->children--;
}

static void take_fork(struct mappings *m, const struct task_record *r)
{
	struct change c = {.kind = CHANGE_FORK, .time = time_of(&r->header), .parent = r->parent};
	struct process *child = process_find(m, r->pid), *parent = process_of(m, r->parent);

	if (child && c.time > child->ended_at)
		child->ended = 0; /* its number is used again */
	if (parent)
		parent->children++;
	add(m, r->pid, &c);
}

/* Forgets processes that no stack leads through, and whose mappings no child has inherited. */
static void forget_ended(struct mappings *m)
{
	struct process *p, *next;

	HASH_ITER (hh, m->processes, p, next) {
		struct process *parent;

		if (!p->ended || p->needed || p->children || p->ended + PASSES_KEPT > m->passes)
			continue;
		parent = inherits_from(m, p);
		if (parent && parent->children)
			parent->children--;
		forget_changes(m, p);
		HASH_DEL(m->processes, p);
		free(p);
	}
}

void mappings_take(struct mappings *m, const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_MMAP2 && h->size > sizeof(struct map_record)) {
		take_map(m, (const void *)h);
	} else if (h->type == PERF_RECORD_FORK && h->size >= sizeof(struct task_record)) {
		const struct task_record *r = (const void *)h;

		if (r->pid != r->parent) /* else it is a thread */
			take_fork(m, r);
	} else if (h->type == PERF_RECORD_EXIT && h->size >= sizeof(struct task_record)) {
		const struct task_record *r = (const void *)h;
		/* the record of its begin may be read after that of its end */
		struct process *p = r->pid == r->tid ? process_of(m, r->pid) : NULL;

		if (p) {
			p->ended = m->passes + 1;
			p->ended_at = time_of(h);
		}
	} else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC) {
		take_exec(m, ((const struct comm_record *)h)->pid);
		add(m, ((const struct comm_record *)h)->pid,
			&(struct change){.kind = CHANGE_EXEC, .time = time_of(h)});
	} else if (h->type == PERF_RECORD_LOST) {
		m->lost += ((const struct lost_record *)h)->lost;
	}
}

static void take(void *arg, const struct perf_event_header *h)
{
	mappings_take(arg, h);
}

void mappings_pass(struct mappings *m)
{
	if (++m->passes % FORGET_EACH == 0)
		forget_ended(m);
	mapping_rings_pass(m->rings, take, m);
}

/* ---- mappings from before ---- */

static void read_maps(struct mappings *m, uint32_t pid)
{
	char name[32], *line = NULL;
	size_t size = 0;
	FILE *f;

	add(m, pid, &(struct change){.kind = CHANGE_READ});
	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	f = fopen(name, "re");
	while (f && getline(&line, &size, f) > 0) {
		struct change c = {.kind = CHANGE_MAP};
		struct mapped_file like = {0};
		char right[8];
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*u %n", &c.map.start,
			    &c.map.end, right, &c.map.offset, &at) < 4 ||
			!at || !strchr(right, 'x'))
			continue;
		like.path = line + at;
		if (is_file(like.path) && !strstr(like.path, " (deleted)"))
			c.map.file = file_of(m, &like);
		add(m, pid, &c);
	}
	free(line);
	if (f)
		fclose(f);
}

void mappings_need(struct mappings *m, uint32_t pid)
{
	for (int generations = 0; generations < 64; generations++) {
		struct process *p = NULL;
		const struct change *first = NULL;

		p = process_of(m, pid);
		if (p)
			p->needed = true;
		for (const struct change *c = p ? p->last : NULL; c; c = c->before) {
			if (c->kind == CHANGE_EXEC || c->kind == CHANGE_READ)
				return;
			first = c;
			if (c->kind == CHANGE_FORK)
				break;
		}
		if (!first || first->kind != CHANGE_FORK) {
			read_maps(m, pid);
			return;
		}
		pid = first->parent;
	}
}

/* ---- finding ---- */

bool mappings_find(const struct mappings *m, uint32_t pid, uint64_t address, uint64_t time,
	struct mapping *out)
{
	for (int generations = 0; generations < 64; generations++) {
		const struct process *p = process_find(m, pid);
		const struct change *c;

		for (c = p ? p->last : NULL; c; c = c->before) {
			if (c->time > time)
				continue;
			if (c->kind == CHANGE_EXEC)
				return false;
			if (c->kind == CHANGE_FORK)
				break;
			if (c->kind == CHANGE_MAP && address >= c->map.start &&
				address < c->map.end) {
				*out = c->map;
				return true;
			}
		}
		if (!c)
			return false;
		pid = c->parent;
		time = c->time;
	}
	return false;
}

uint64_t mappings_lost(const struct mappings *m)
{
	return m->lost;
}

void mappings_each_file(
	struct mappings *m, void (*see)(void *arg, struct mapped_file *f), void *arg)
{
	for (struct file_entry *e = m->files; e; e = e->hh.next)
		see(arg, &e->file);
}

/* ---- life ---- */

struct mappings *mappings_new(void)
{
	return mg_calloc(1, sizeof(struct mappings));
}

int mappings_open(struct mappings **out)
{
	*out = mappings_new();
	return *out ? mapping_rings_open(&(*out)->rings) : -ENOMEM;
}

void mappings_free(struct mappings *m)
{
	struct process *p, *next;
	struct file_entry *e, *next_file;

	if (!m)
		return;
	HASH_ITER (hh, m->processes, p, next) {
		forget_changes(m, p);
		HASH_DEL(m->processes, p);
		free(p);
	}
	HASH_ITER (hh, m->files, e, next_file) {
		HASH_DEL(m->files, e);
		free(e);
	}
	mapping_rings_free(m->rings);
	free(m);
}
