/* SPDX-License-Identifier: MIT */
/*
 * Loads the programs of one BPF object by several copies of it at one time. The kernel checks
 * programs one after the other within bpf_object__load(), which is most of the time that a start
 * takes; copies are checked on several CPUs.
 */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_LOAD_PARTS_H
#define MAGNET_KERNEL_TRACER_HOOKS_LOAD_PARTS_H

#include <stddef.h>

struct bpf_object;

#define LOAD_PARTS 4 /* more copies than that cost more than they save */

struct load_part {
	struct bpf_object *object;
	int err;
	char program[64]; /* if loading failed: the program of libbpf's last message */
	char line[256];   /* and that message */
};

/* Returns how many copies are worth it, one for each CPU that this process may use. */
int load_parts_count(void);
/* Loads a part's object; the part has the outcome. */
void load_part(struct load_part *part);
/* Makes an opened copy use the maps that are loaded. Returns 0 or a negative errno. */
int load_parts_use_maps(struct bpf_object *maps, struct bpf_object *copy);
/*
 * Shares the programs that the first of the `count` opened copies is to load among all of them, and
 * loads them with the maps of `maps`. Returns 0, or a negative errno; `*failed` is then the first
 * part that failed.
 */
int load_parts(
	struct bpf_object *maps, struct load_part *part, int count, struct load_part *failed);
/* Makes libbpf's messages those of the part that its thread loads. */
void load_parts_listen(void);
/* Returns what libbpf said last in this thread. */
const char *load_parts_line(void);

#endif
