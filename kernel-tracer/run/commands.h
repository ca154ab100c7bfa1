/* SPDX-License-Identifier: MIT */
/* What the control socket is asked. */
#ifndef MAGNET_KERNEL_TRACER_COMMANDS_H
#define MAGNET_KERNEL_TRACER_COMMANDS_H

#include <jansson.h>

#include "run/run.h"

/* `arg` is the run; `request` NULL is not understood. */
json_t *command_answer(void *arg, const json_t *request);
/* Nothing is recorded until it is resumed. */
int run_pause(struct run *r);
int run_resume(struct run *r);
/* An event that tells of a change. */
void run_note_change(struct run *r, const char *what, const char *value);

#endif
