/* SPDX-License-Identifier: MIT */
/* What can be set while it records. */
#ifndef MAGNET_KERNEL_TRACER_RUN_SETTINGS_H
#define MAGNET_KERNEL_TRACER_RUN_SETTINGS_H

#include <jansson.h>

#include "run/run.h"

/* Returns 0 or a negative errno and `why`. */
int setting_set(struct run *r, const char *name, const char *value, char *why, size_t size);
/* Of each its name and value. */
json_t *settings_all(const struct run *r);

#endif
