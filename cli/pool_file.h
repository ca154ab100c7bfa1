/* SPDX-License-Identifier: MIT */
/*
 * Memory that a recorded program shares with the collector: a sealed memfd, which nobody can make
 * smaller or larger.
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

/* Make and map one. On failure a negative errno, and `why` says at what. */
int pool_file_make(
	struct pool_file *f, const char *name, uint64_t size, char *why, size_t why_size);
void pool_file_free(struct pool_file *f);
/* Returns whether it is now at descriptor `number`, and nothing else is; not where it was. */
bool pool_file_place(struct pool_file *f, int number);
/* Returns whether it is now at another descriptor. The one it was at stays open. */
bool pool_file_put_aside(struct pool_file *f);
/* Returns another descriptor of it that counts for pool_file_is_left(), negative on failure. */
int pool_file_open_again(const struct pool_file *f);
/* Returns whether no program has it, open or mapped. */
bool pool_file_is_left(const struct pool_file *f);

#endif
