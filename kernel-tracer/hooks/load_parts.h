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
/*
 * Loads the maps of `maps`, and shares its programs, as far as they are to be loaded, among the
 * `count` opened copies in `part`, which use its maps. Returns 0, or a negative errno of the maps
 * or of the first part that failed; `*failed` is that part, NULL if the maps failed.
 */
int load_parts(struct bpf_object *maps, struct load_part *part, int count,
	const struct load_part **failed);
/* Makes libbpf's messages those of the part that its thread loads. */
void load_parts_listen(void);
/* Returns what libbpf said last in this thread, and of which program, "" if of none. */
const char *load_parts_line(void);
const char *load_parts_program(void);
/* Forgets the program of libbpf's last message. */
void load_parts_forget(void);

#endif
