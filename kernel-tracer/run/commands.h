/* SPDX-License-Identifier: MIT */
/* Answers to the commands of the control socket. Each change is an event in the trace. */
#ifndef MAGNET_KERNEL_TRACER_COMMANDS_H
#define MAGNET_KERNEL_TRACER_COMMANDS_H

#include <jansson.h>

#include "run/run.h"

/*
 * Returns the answer to a request; `arg` is the run, `request` NULL a line that could not be
 * parsed.
 */
json_t *command_answer(void *arg, const json_t *request);
/* Stops recording, and starts it again. Return 0 or a negative errno. */
int run_pause(struct run *r);
int run_resume(struct run *r);
/* Writes an event about a change. */
void run_note_change(struct run *r, const char *what, const char *value);

#endif
