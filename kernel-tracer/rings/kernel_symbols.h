/* SPDX-License-Identifier: MIT */
/* The kernel's functions by address, as /proc/kallsyms lists them. */
#ifndef MAGNET_KERNEL_TRACER_RINGS_KERNEL_SYMBOLS_H
#define MAGNET_KERNEL_TRACER_RINGS_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;
/* Opens the list; call it before privileges are given up. Returns NULL if memory is short. */
struct kernel_symbols *kernel_symbols_open(void);
/* Reads the list, once: it takes a tenth of a second. Without memory it stays empty. */
void kernel_symbols_read(struct kernel_symbols *k);
/*
 * Returns the name of the function at an address, and its module, NULL for the kernel itself; NULL
 * if it is not known: the kernel hides addresses from whoever lacks the privilege.
 */
const char *kernel_symbol(const struct kernel_symbols *k, uint64_t address, const char **module);
/* Returns the number of functions with an address; 0: the kernel hides them, or memory is short. */
size_t kernel_symbols_count(const struct kernel_symbols *k);
void kernel_symbols_free(struct kernel_symbols *k);

#endif
