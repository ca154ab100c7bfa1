/* SPDX-License-Identifier: MIT */
/* From the begin of COMMAND to the end of both recorders. */
#ifndef MAGNET_CLI_RECORD_WAIT_H
#define MAGNET_CLI_RECORD_WAIT_H

#include "recording.h"

/* Waits until COMMAND, a signal, --duration or the recorders end the recording. */
void record_wait(struct recording *r);
/* Ends both recorders. Returns whether one of them failed, after a message. */
bool record_stop(struct recording *r);

#endif
