/* SPDX-License-Identifier: MIT */
/*
 * Memory that a recorded program shares with the collector: a sealed memfd, whose size nobody can
 * change.
 */
#ifndef MAGNET_CLI_POOL_FILE_H
#define MAGNET_CLI_POOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_file {
	int fd;
	void *memory;
	uint64_t size;
};

/* Makes and maps the memory. Returns 0, or a negative errno and `why`. */
int pool_file_make(
	struct pool_file *f, const char *name, uint64_t size, char *why, size_t why_size);
void pool_file_free(struct pool_file *f);
/* Moves it to descriptor `number`, where nothing else may be. Returns whether it did. */
bool pool_file_place(struct pool_file *f, int number);
/* Moves it to another descriptor; the old one stays open. Returns whether it did. */
bool pool_file_put_aside(struct pool_file *f);
/* Returns another descriptor of it, which pool_file_is_left() knows of; negative on failure. */
int pool_file_open_again(const struct pool_file *f);
/* Returns whether no program has it open or mapped. */
bool pool_file_is_left(const struct pool_file *f);

#endif
