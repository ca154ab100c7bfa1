/* SPDX-License-Identifier: MIT */
/*
 * A file in memory that programs of any user may map, if they are told its name: names cannot be
 * listed or guessed by others. It is locked while its maker lives.
 */
#ifndef MAGNET_CLI_POOL_FILE_H
#define MAGNET_CLI_POOL_FILE_H

#include <stddef.h>
#include <stdint.h>

struct pool_file {
	char path[96];
	int fd;
	void *memory;
	uint64_t size;
};

/* `size` bytes, of which the first `present` have their memory at once. */
int pool_file_make(
	struct pool_file *f, uint64_t size, uint64_t present, char *why, size_t why_size);
void pool_file_remove(struct pool_file *f);
/* Remove those of this user whose maker is gone. */
void pool_file_sweep(void);

#endif
