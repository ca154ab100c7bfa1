/* SPDX-License-Identifier: MIT */
/*
 * Functions that a program compiled itself, as it lists them in /tmp/perf-PID.map: lines of
 * address, size (both hexadecimal) and name.
 */
#ifndef MAGNET_KERNEL_TRACER_STACKS_JIT_MAP_H
#define MAGNET_KERNEL_TRACER_STACKS_JIT_MAP_H

#include <stdint.h>

struct jit_map;
/*
 * Opens the list of a process. It must be a regular file of this user's or of root's. Returns a
 * descriptor, or a negative errno.
 */
int jit_map_open(uint32_t pid, uint32_t uid);
/* Reads an opened list, and closes it. Returns NULL without memory. */
struct jit_map *jit_map_read(int fd);
/* Returns the function at an address, NULL if none is listed; the last one listed counts. */
const char *jit_map_find(const struct jit_map *j, uint64_t address);
void jit_map_free(struct jit_map *j);

#endif
