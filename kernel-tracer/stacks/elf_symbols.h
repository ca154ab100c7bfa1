/* SPDX-License-Identifier: MIT */
/* Functions of a program or library by their offset in the file, from its symbols or debuginfo. */
#ifndef MAGNET_KERNEL_TRACER_STACKS_ELF_SYMBOLS_H
#define MAGNET_KERNEL_TRACER_STACKS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks/mappings.h"

struct elf_symbols;

struct elf_function {
	const char *name;
	size_t length;    /* of the name; the version of a symbol, behind an @, is left out */
	uint64_t start;   /* offset in the file */
	bool keeps_frame; /* it has set up a frame pointer there: the next frame is its caller */
};

/*
 * Reads a file, which must be the one that was mapped. Takes the descriptor. Returns NULL with the
 * reason.
 */
struct elf_symbols *elf_symbols_open(int fd, const struct mapped_file *mapped, const char **why);
/* Finds the function at an offset in the file. Returns false if none is known. */
bool elf_symbols_find(struct elf_symbols *s, uint64_t offset, struct elf_function *out);
void elf_symbols_free(struct elf_symbols *s);

#endif
