/* SPDX-License-Identifier: MIT */
/*
 * A socket at which programs ask for a pool if they cannot reach the collector's descriptors:
 * programs of other users, and in namespaces of their own. Others can neither list nor guess its
 * name.
 */
#ifndef MAGNET_CLI_POOL_DOOR_H
#define MAGNET_CLI_POOL_DOOR_H

#include <stdbool.h>
#include <sys/types.h>

struct pool_door {
	char path[96]; /* "": there is no door */
	int directory; /* descriptor, locked while its maker lives */
	int listener;
};

/* Returns 0 or a negative errno. */
int pool_door_make(struct pool_door *d);
void pool_door_remove(struct pool_door *d);
/* Returns whether programs can still find it. */
bool pool_door_is_there(const struct pool_door *d);
/* Makes the door again if somebody has removed it. Returns 0 or a negative errno. */
int pool_door_mend(struct pool_door *d);
/* Returns a connection of a program that asks, and its process; negative if none does. */
int pool_door_answer(const struct pool_door *d, pid_t *pid);
/* Returns whether the program has been sent the descriptor. */
bool pool_door_give(int connection, int fd);
/* Removes this user's doors whose maker is gone. */
void pool_door_sweep(void);

#endif
