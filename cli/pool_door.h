/* SPDX-License-Identifier: MIT */
/*
 * A socket by which programs that cannot reach the collector's descriptors ask for a pool: those of
 * other users, and in namespaces of their own. Its name cannot be listed or guessed by others.
 */
#ifndef MAGNET_CLI_POOL_DOOR_H
#define MAGNET_CLI_POOL_DOOR_H

#include <stdbool.h>
#include <sys/types.h>

struct pool_door {
	char path[96]; /* "" = there is none */
	int directory; /* locked while its maker lives */
	int listener;
};

/* Returns 0 or a negative errno. */
int pool_door_make(struct pool_door *d);
void pool_door_remove(struct pool_door *d);
/* Returns whether programs can still find it. */
bool pool_door_is_there(const struct pool_door *d);
/* Make the same one again, where somebody has removed it. Returns 0 or a negative errno. */
int pool_door_mend(struct pool_door *d);
/* Returns a connection of a program that asks, and its process; negative if nobody does. */
int pool_door_answer(const struct pool_door *d, pid_t *pid);
/* Returns whether the program has been sent the descriptor. */
bool pool_door_give(int connection, int fd);
/* Remove those of this user whose maker is gone. */
void pool_door_sweep(void);

#endif
