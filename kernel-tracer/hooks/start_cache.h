/* SPDX-License-Identifier: MIT */
/*
 * Keeps the programs as images in a file for the next start, which then needs neither libbpf's
 * work nor the kernel's types. Only root has it, in a directory that only root can enter; whatever
 * is wrong with it, it is not used. docs/security.md says why it can be trusted.
 */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_START_CACHE_H
#define MAGNET_KERNEL_TRACER_HOOKS_START_CACHE_H

#include "hooks/program_images.h"

struct hook_options;

#define START_CACHE_DIR "/var/cache/magnet" /* MAGNET_CACHE names another one, "" none */

struct start_cache {
	int dir; /* descriptor, -1: there is none */
	char name[40];
	uint64_t key[2];
};

struct types_hash {
	uint64_t half[2];
};

/* Computes the hash of the kernel's types. Returns 0 or a negative errno. */
int types_hash(struct types_hash *hash);
/*
 * Finds the place for a start with these options on this kernel, by this program. A later start
 * has it in common if both would load the same programs.
 */
void start_cache_open(struct start_cache *cache, const struct hook_options *o, bool sees_modules);
/*
 * Reads the images, and the hash of the kernel's types they were made for: who uses them compares.
 * Returns 0 or a negative errno.
 */
int start_cache_read(
	const struct start_cache *cache, struct program_images *images, struct types_hash *types);
void start_cache_write(const struct start_cache *cache, const uint8_t *images, size_t size,
	const struct types_hash *types);
void start_cache_remove(const struct start_cache *cache);
void start_cache_close(struct start_cache *cache);

#endif
