/* SPDX-License-Identifier: MIT */
/* Options of a running tracer: changing them, and their values for the status. */
#ifndef MAGNET_KERNEL_TRACER_RUN_SETTINGS_H
#define MAGNET_KERNEL_TRACER_RUN_SETTINGS_H

#include <jansson.h>

#include "run/run.h"

/* Returns 0, or a negative errno and `why`. */
int setting_set(struct run *r, const char *name, const char *value, char *why, size_t size);
/* Returns an object with the value of each of the tracer's options. */
json_t *settings_all(const struct run *r);

#endif
