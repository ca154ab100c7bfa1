/* SPDX-License-Identifier: MIT */
/* Directories by the host, and its boot, on which they were recorded: each has a clock of its own.
 */
#ifndef MAGNET_CLI_BY_HOST_H
#define MAGNET_CLI_BY_HOST_H

#include <stdbool.h>

/* A directory whose session.json does not tell the host belongs with the one before. */
struct by_host {
	char **dir[2]; /* the first host's, the other's */
	int count[2];
	bool more; /* there are more than two hosts */
};

/* Returns 0 or -ENOMEM. The caller frees in any case. */
int by_host_sort(struct by_host *b, char **dirs, int count);
void by_host_free(struct by_host *b);

/* Returns whether all are of one machine, which may have booted between them; else says why not. */
bool is_one_machine(char **dirs, int count);

/* Returns whether all are of one host and boot, after a message if not. */
bool is_one_host(char **dirs, int count);

#endif
