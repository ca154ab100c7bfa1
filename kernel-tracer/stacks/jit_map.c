/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stacks/jit_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "plain_file.h"

/* Larger lists, and longer lines, are no runtime's. */
#define SIZE_MAX_READ (64 << 20)
#define LINE_MAX_READ 4096

struct function {
	uint64_t start, size;
	char *name;
};

struct jit_map {
	struct function *function;
	size_t count, room;
};

/* Returns a process's number in its own namespace, by which it names its list; 0: not known. */
static uint32_t own_number(uint32_t pid)
{
	char path[32], line[256];
	uint32_t own = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "NSpid:", 6) == 0) {
			const char *last = strrchr(line, '\t');

			own = last ? (uint32_t)strtoul(last, NULL, 10) : 0;
			break;
		}
	if (f)
		fclose(f);
	return own;
}

int jit_map_open(uint32_t pid, uint32_t uid)
{
	uint32_t own = own_number(pid);
	int fd = -ENOENT;

	for (int i = 0; i < 2 && fd < 0; i++) {
		char path[64];
		struct stat st;
		uint64_t size;

		if (i == 0) /* its own /tmp, where it lives in a container */
			snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid,
				own ? own : pid);
		else
			snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
		fd = plain_file_open(path, &size);
		if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != uid || size > SIZE_MAX_READ)) {
			close(fd);
			fd = -EACCES;
		}
	}
	return fd;
}

static void add(struct jit_map *j, uint64_t start, uint64_t size, const char *name)
{
	if (j->count == j->room) {
		size_t room = j->room ? 2 * j->room : 1024;
		struct function *more = mg_realloc(j->function, room * sizeof(*more));

		if (!more)
			return;
		j->function = more;
		j->room = room;
	}
	j->function[j->count].start = start;
	j->function[j->count].size = size;
	j->function[j->count].name = mg_strdup(name);
	j->count += j->function[j->count].name != NULL;
}

struct jit_map *jit_map_read(int fd)
{
	struct jit_map *j = mg_calloc(1, sizeof(*j));
	FILE *f = fdopen(fd, "r");
	char line[LINE_MAX_READ];
	size_t left = SIZE_MAX_READ; /* it may grow meanwhile */

	if (!f)
		close(fd);
	while (j && f && left && fgets(line, sizeof(line), f)) {
		char *end, *name;
		uint64_t start = strtoull(line, &end, 16), size = strtoull(end, &name, 16);

		left -= strlen(line) < left ? strlen(line) : left;
		name += strspn(name, " ");
		name[strcspn(name, "\n")] = 0;
		if (size && *name)
			add(j, start, size, name);
	}
	if (f)
		fclose(f);
	return j;
}

const char *jit_map_find(const struct jit_map *j, uint64_t address)
{
	for (size_t i = j->count; i > 0; i--) {
		const struct function *f = &j->function[i - 1];

		if (address >= f->start && address - f->start < f->size)
			return f->name;
	}
	return NULL;
}

void jit_map_free(struct jit_map *j)
{
	for (size_t i = 0; j && i < j->count; i++)
		free(j->function[i].name);
	if (j)
		free(j->function);
	free(j);
}
