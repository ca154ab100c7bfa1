/* SPDX-License-Identifier: MIT */
/* Speaking with whoever started the tracer. */
#ifndef MAGNET_KERNEL_TRACER_RUN_PARENT_H
#define MAGNET_KERNEL_TRACER_RUN_PARENT_H

#include "run/run.h"

/* Reports a failure: to the parent if there is one, else as a message. Returns `err`. */
int run_fail(const struct run *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Writes the recording's state to the parent, as one JSON object under a name: magnet-kernel-
 * tracer(8), "Control protocol".
 */
void parent_say(const struct run *r, const char *what);
/* Whatever the parent says, or its end, means stop. */
void parent_read(struct run *r);

#endif
