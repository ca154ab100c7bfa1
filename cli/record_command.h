/* SPDX-License-Identifier: MIT */
/* The program that magnet record runs. */
#ifndef MAGNET_CLI_RECORD_COMMAND_H
#define MAGNET_CLI_RECORD_COMMAND_H

#include "recording.h"

/* Warns if libmagnet.so cannot be preloaded into COMMAND, and notes why. */
void record_look_at_command(struct recording *r);
/*
 * Makes COMMAND's process, which waits before its first instruction until MAGNET_RINGS is written
 * to r->gate. Returns 0 or a negative errno.
 */
int record_start_command(struct recording *r);
/* Returns false if COMMAND's process ended because its program could not be executed. */
bool record_command_has_run(const struct recording *r);

#endif
