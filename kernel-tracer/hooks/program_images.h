/* SPDX-License-Identifier: MIT */
/*
 * BPF programs as the kernel takes them: libbpf has already put in the offsets of the kernel's
 * types. They are loaded on all CPUs at once, and can be kept in a file (start_cache.h). Functions
 * return 0 or a negative errno.
 */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_PROGRAM_IMAGES_H
#define MAGNET_KERNEL_TRACER_HOOKS_PROGRAM_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hooks/hook_targets.h"
#include "hooks/hooks.h"

#define IMAGE_NAME 64

struct bpf_insn;
struct bpf_object;

/* Properties of a program that the kernel is told beside its instructions. */
struct program_facts {
	char name[IMAGE_NAME];
	uint32_t type, attach_type, flags;
	uint32_t attach_id; /* type of the kernel to which it is attached, 0: none */
	uint32_t cost;      /* instructions that the kernel followed when it checked it */
	uint32_t insns;
	uint32_t funcs, func_size; /* how many functions it has; bytes of what is said of each */
};

struct program_image {
	struct program_facts facts;
	const struct bpf_insn *insn; /* maps are named by their place in the object */
	const void *func;            /* where each function begins, and its type */
	int fd;                      /* descriptor once it is loaded, -1: it is not */
};

struct map_name {
	char text[IMAGE_NAME];
};

struct program_images {
	struct hook_targets targets;
	int refused[HOOKS_MAX]; /* as in struct hooks */
	const struct map_name *map;
	uint32_t maps;
	const void *types; /* types of the programs themselves */
	uint32_t types_size;
	struct program_image *one;
	uint32_t count;
	void *memory; /* to which the above point, freed with them */
};

void program_images_free(struct program_images *images);
/* Returns the image of this name, NULL: there is none. */
struct program_image *program_images_find(const struct program_images *images, const char *name);
/* Writes them. Returns whether that could be done. */
bool program_images_write(const struct program_images *images, FILE *f);
/*
 * Reads what was written. Takes over `memory`, which `data` is in, also in case of failure; checks
 * that nothing in it leads out of it.
 */
int program_images_read(
	struct program_images *images, void *memory, const uint8_t *data, size_t size);
/*
 * Loads all, with the maps of an object, by as many threads. Those whose `one[].facts.name` is not
 * to be loaded have been taken out before. A failure leaves none loaded.
 */
int program_images_load(struct program_images *images, struct bpf_object *maps, int threads);

#endif
