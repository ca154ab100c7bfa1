/* SPDX-License-Identifier: MIT */
/* The messages at the begin and the end of magnet record. */
#ifndef MAGNET_CLI_RECORD_TELL_H
#define MAGNET_CLI_RECORD_TELL_H

#include "recording.h"

/* Writes the name of a process as it is now; empty if it is not known. */
void record_process_name(int pid, char name[32]);
/* Prints what is recorded from now on, if no COMMAND is run. */
void record_tell_begin(const struct recording *r);
/* Prints what was lost, and what was recorded where; `failed`: a side failed. */
void record_tell(const struct recording *r, bool failed);

#endif
