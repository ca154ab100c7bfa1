/* SPDX-License-Identifier: MIT */
/* Starting both recorders. */
#ifndef MAGNET_CLI_RECORD_START_H
#define MAGNET_CLI_RECORD_START_H

#include "recording.h"

/*
 * Starts COMMAND, which waits, the tracer and the collector. A side that cannot be recorded is left
 * out with a warning if the other one can. Returns 0; -EINVAL if the tracer refused its options,
 * -EINTR after a signal, or another negative errno, each after a message.
 */
int record_start(struct recording *r);

#endif
