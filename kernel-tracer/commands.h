/* SPDX-License-Identifier: MIT */
/* What the control socket is asked. */
#ifndef MAGNET_KERNEL_TRACER_COMMANDS_H
#define MAGNET_KERNEL_TRACER_COMMANDS_H

#include <jansson.h>

#include "run.h"

/* `arg` is the run; `request` NULL is not understood. */
json_t *command_answer(void *arg, const json_t *request);
/* Nothing is recorded until it is resumed. */
int run_pause(struct run *r);
int run_resume(struct run *r);
/* An event that tells of a change. */
void run_note_change(struct run *r, const char *what, const char *value);

/* status.c: all there is to know */
json_t *run_status(const struct run *r);

/* settings.c: what can be set while it records; `why` on failure */
int setting_set(struct run *r, const char *name, const char *value, char *why, size_t size);
/* Of each its name and value. */
json_t *settings_all(const struct run *r);

#endif
