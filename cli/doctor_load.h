/* SPDX-License-Identifier: MIT */
/* A program under load that `magnet doctor --tune` records. */
#ifndef MAGNET_CLI_DOCTOR_LOAD_H
#define MAGNET_CLI_DOCTOR_LOAD_H

#include <sys/types.h>

struct load {
	pid_t pid;
	int gate; /* the child begins when a byte is written here */
};

/*
 * Starts a child that waits. It then writes and reads over TCP on loopback, one connection for
 * each two CPUs, as fast as it can. Returns 0 or a negative errno.
 */
int load_start(struct load *l);
/*
 * Lets it run for so long, and waits until it is gone. Returns 0, or -EIO if it could not make its
 * connections.
 */
int load_run(struct load *l, unsigned int ms);
/* Ends a child that has not begun. */
void load_cancel(struct load *l);
/* Returns how many connections it uses. */
int load_connections(void);

#endif
