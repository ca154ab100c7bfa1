/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/load_parts.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- libbpf's messages ---- */

static _Thread_local char last_line[256], last_program[64];

static int libbpf_line(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[256];
	va_list again;

	if (level == LIBBPF_DEBUG)
		return 0;
	va_copy(again, ap);
	vsnprintf(line, sizeof(line), fmt, again);
	va_end(again);
	sscanf(line, "libbpf: prog '%63[^']'", last_program);
	if (getenv("MAGNET_DEBUG")) /* the verifier's log has many lines */
		return vfprintf(stderr, fmt, ap);
	line[strcspn(line, "\n")] = 0;
	if (line[0] && !strstr(line, "failed to load object"))
		memcpy(last_line, line, sizeof(line));
	return 0;
}

void load_parts_listen(void)
{
	libbpf_set_print(libbpf_line);
}

const char *load_parts_line(void)
{
	return last_line;
}

/* ---- parts ---- */

int load_parts_count(void)
{
	cpu_set_t may;
	int cpus = sched_getaffinity(0, sizeof(may), &may) ? 1 : CPU_COUNT(&may);

	return cpus < LOAD_PARTS ? cpus : LOAD_PARTS;
}

/*
 * Gives each program of the first part to the one with the fewest instructions so far: a measure of
 * the time that checking takes, if a rough one. The copies have their programs in the same order.
 */
static void divide(struct load_part *part, int count)
{
	struct bpf_program *p, *copy[LOAD_PARTS] = {NULL};
	size_t instructions[LOAD_PARTS] = {0};

	bpf_object__for_each_program (p, part[0].object) {
		bool wanted = bpf_program__autoload(p);
		int least = 0;

		for (int i = 0; i < count; i++) {
			copy[i] = bpf_object__next_program(part[i].object, copy[i]);
			bpf_program__set_autoload(copy[i], false);
			bpf_program__set_type(copy[i], bpf_program__type(p));
			bpf_program__set_expected_attach_type(
				copy[i], bpf_program__expected_attach_type(p));
			if (instructions[i] < instructions[least])
				least = i;
		}
		bpf_program__set_autoload(copy[least], wanted);
		if (wanted)
			instructions[least] += bpf_program__insn_cnt(p);
	}
}

int load_parts_use_maps(struct bpf_object *maps, struct bpf_object *copy)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, maps) {
		/* compiled another way, it may have them in another order */
		struct bpf_map *its = bpf_object__find_map_by_name(copy, bpf_map__name(map));

		if (!its || bpf_map__value_size(its) != bpf_map__value_size(map))
			return -EINVAL; /* not a copy */
		err = bpf_map__reuse_fd(its, bpf_map__fd(map));
		if (err)
			break;
	}
	return err;
}

void load_part(struct load_part *part)
{
	last_program[0] = 0;
	part->err = bpf_object__load(part->object);
	memcpy(part->program, last_program, sizeof(part->program));
	memcpy(part->line, last_line, sizeof(part->line));
}

static void *load(void *arg)
{
	load_part(arg);
	return NULL;
}

int load_parts(struct bpf_object *maps, struct load_part *part, int count, struct load_part *failed)
{
	pthread_t thread[LOAD_PARTS];
	bool runs[LOAD_PARTS] = {false};
	int err = 0;

	divide(part, count);
	for (int i = 0; i < count && !err; i++)
		err = load_parts_use_maps(maps, part[i].object);
	if (err)
		return err;
	for (int i = 1; i < count; i++)
		runs[i] = pthread_create(&thread[i], NULL, load, &part[i]) == 0;
	for (int i = 0; i < count; i++)
		if (!runs[i])
			load_part(&part[i]);
	for (int i = 0; i < count; i++) {
		if (runs[i])
			pthread_join(thread[i], NULL);
		if (part[i].err && !err) {
			err = part[i].err;
			*failed = part[i];
		}
	}
	return err;
}
