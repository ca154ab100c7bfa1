/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stacks/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "hash.h"
#include "log.h"
#include "plain_file.h"
#include "rings/kernel_symbols.h"
#include "stacks/elf_symbols.h"
#include "stacks/jit_map.h"

#define FILES_MAX 1024 /* files that are open at once */

/* A mapped file, once a stack has a place in it. */
struct program_file {
	int fd; /* -1: not open, or taken by `symbols` */
	bool is_read;
	struct elf_symbols *symbols; /* NULL: see `why` */
	const char *why;
};

/* Functions that a process compiled itself. */
struct compiled {
	uint32_t pid;
	int fd; /* -1: there was no list when it was looked for */
	bool is_read;
	struct jit_map *map;
	UT_hash_handle hh;
};

/*
 * Places named lately. To find one takes a time that grows with the number of functions in its
 * file, and stacks share most of theirs.
 */
#define NAMED 4096
struct named {
	const void *of; /* the file, or the process that compiled it; NULL: free */
	uint64_t at;    /* offset or address */
	struct place place;
};

/* `magnet record` waits no longer than a minute for the tracer: what is not named by then has no
 * name. */
#define NAMING_NS 30000000000ull

struct places {
	struct named named[NAMED];
	uint64_t naming_until; /* CLOCK_MONOTONIC; 0: not begun */
	struct mappings *mappings;
	struct kernel_symbols *kernel;
	struct compiled *compiled;
	unsigned int open;
	bool kernel_is_read;
};

struct places *places_new(void)
{
	struct places *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return NULL;
	p->kernel = kernel_symbols_open();
	err = mappings_open(&p->mappings);
	if (!p->kernel || !p->mappings) {
		places_free(p);
		return NULL;
	}
	if (err)
		mg_warn("--stacks: programs that end early cannot be named: their mappings are not "
			"reported: %s",
			strerror(-err));
	return p;
}

void places_pass(struct places *p)
{
	mappings_pass(p->mappings);
}

/* ---- opening, while processes live ---- */

static const char *reason(int err)
{
	switch (err) {
	case -ENOENT:
		return "the file is not there any more";
	case -EACCES:
	case -EPERM:
		return "the file may not be read";
	case -EMFILE:
	case -ENFILE:
		return "too many open files";
	default:
		return "the file cannot be opened";
	}
}

static void open_file(struct places *p, struct mapped_file *f, uint32_t pid)
{
	struct program_file *file = calloc(1, sizeof(*file));
	char path[4400];
	uint64_t size;

	f->user = file;
	if (!file)
		return;
	file->fd = -EMFILE;
	if (p->open < FILES_MAX) {
		/* in a container the same path may be another file outside */
		snprintf(path, sizeof(path), "/proc/%u/root%s", pid, f->path);
		file->fd = plain_file_open_named(path, &size);
		if (file->fd < 0)
			file->fd = plain_file_open_named(f->path, &size);
	}
	if (file->fd >= 0) {
		p->open++;
		return;
	}
	file->why = reason(file->fd);
	file->is_read = true;
}

/* Opens the list of functions of a process that has a place in none of its files. */
static struct compiled *look_for_compiled(struct places *p, uint32_t pid, uint32_t uid)
{
	struct compiled *c = NULL;

	HASH_FIND(hh, p->compiled, &pid, sizeof(pid), c);
	if (!c) {
		c = mg_calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->pid = pid;
		c->fd = -1;
		HASH_ADD(hh, p->compiled, pid, sizeof(c->pid), c);
		c = hash_kept(c);
	}
	if (c && c->fd < 0 && !c->is_read && p->open < FILES_MAX) {
		c->fd = jit_map_open(pid, uid);
		p->open += c->fd >= 0;
	}
	return c;
}

void places_see(struct places *p, const struct mg_stack *s)
{
	if (!s->user)
		return;
	mappings_need(p->mappings, s->pid);
	for (uint32_t i = 0; i < s->count; i++) {
		struct mapping map;

		if (!mappings_find(p->mappings, s->pid, s->frame[i], s->at, &map))
			continue;
		if (!map.file)
			look_for_compiled(p, s->pid, s->uid);
		else if (!map.file->user)
			open_file(p, map.file, s->pid);
	}
}

/* ---- reading, at the end ---- */

static void name_of_kernel(struct places *p, uint64_t address, struct place *out)
{
	const char *module = NULL, *name;

	if (!p->kernel_is_read)
		kernel_symbols_read(p->kernel);
	p->kernel_is_read = true;
	name = kernel_symbol(p->kernel, address, &module);
	out->file = module ? module : "kernel";
	out->keeps_frame = true;
	if (name)
		place_function(out, name, strlen(name));
	else
		out->why = places_why_no_kernel(p);
}

static void name_of_compiled(
	struct places *p, const struct mg_stack *s, uint64_t address, struct place *out)
{
	struct compiled *c = look_for_compiled(p, s->pid, s->uid);
	const char *name;

	out->file = "memory without a file";
	if (c && !c->is_read && c->fd >= 0)
		c->map = jit_map_read(c->fd);
	if (c)
		c->is_read = true;
	name = c && c->map ? jit_map_find(c->map, address) : NULL;
	out->keeps_frame = name != NULL; /* programs that write such lists are made for it */
	if (name)
		place_function(out, name, strlen(name));
	else
		out->why = "the program lists no functions in /tmp/perf-PID.map";
}

static void name_of_file(const struct mapping *map, uint64_t address, struct place *out)
{
	struct program_file *file = map->file->user;
	struct elf_function f;

	out->file = map->file->path;
	out->offset = address - map->start + map->offset;
	if (!file) {
		out->why = "its file was not opened";
		return;
	}
	if (!file->is_read) {
		file->symbols = elf_symbols_open(file->fd, map->file, &file->why);
		file->fd = -1;
		file->is_read = true;
	}
	if (!file->symbols) {
		out->why = file->why;
		return;
	}
	if (!elf_symbols_find(file->symbols, out->offset, &f)) {
		out->why = "the file has no symbol for it";
		return;
	}
	place_function(out, f.name, f.length);
	out->offset = f.start;
	out->keeps_frame = f.keeps_frame;
}

/* Returns whether there is time left to look for names. */
static bool has_time(struct places *p)
{
	uint64_t now = mg_monotonic_ns();

	if (!p->naming_until)
		p->naming_until = now + NAMING_NS;
	return now < p->naming_until;
}

static void name_of_user(struct places *p, const struct mg_stack *s, uint64_t address,
	const struct mapping *map, struct place *out)
{
	const void *of = map->file;
	uint64_t at = map->file ? address - map->start + map->offset : address;
	struct named *n;

	if (!of)
		of = look_for_compiled(p, s->pid, s->uid);
	n = &p->named[(at ^ at >> 12 ^ (uintptr_t)of >> 4) % NAMED];
	if (of && n->of == of && n->at == at) {
		*out = n->place;
		return;
	}
	if (!has_time(p)) {
		out->file = map->file ? map->file->path : "memory without a file";
		out->why = "there was no time left to name it";
		return;
	}
	if (map->file)
		name_of_file(map, address, out);
	else
		name_of_compiled(p, s, address, out);
	*n = (struct named){of, at, *out};
}

void places_name(void *places, const struct mg_stack *s, uint64_t address, struct place *out)
{
	struct places *p = places;
	struct mapping map;

	if (!s->user)
		name_of_kernel(p, address, out);
	else if (!mappings_find(p->mappings, s->pid, address, s->at, &map))
		out->why = "its mapping was not seen";
	else
		name_of_user(p, s, address, &map, out);
}

const char *places_why_no_kernel(const struct places *p)
{
	return !p->kernel_is_read || kernel_symbols_count(p->kernel)
		       ? NULL
		       : "kernel addresses are hidden";
}

uint64_t places_mappings_lost(const struct places *p)
{
	return mappings_lost(p->mappings);
}

static void free_file(void *arg, struct mapped_file *f)
{
	struct program_file *file = f->user;

	(void)arg;
	if (!file)
		return;
	elf_symbols_free(file->symbols);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

void places_free(struct places *p)
{
	struct compiled *c, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->compiled, c, next) {
		HASH_DEL(p->compiled, c);
		jit_map_free(c->map);
		if (c->fd >= 0 && !c->is_read)
			close(c->fd);
		free(c);
	}
	if (p->mappings)
		mappings_each_file(p->mappings, free_file, NULL);
	mappings_free(p->mappings);
	kernel_symbols_free(p->kernel);
	free(p);
}
