/* SPDX-License-Identifier: MIT */
/*
 * Names of the reasons for drops and of the functions that drop. Reading them takes a tenth of a
 * second of CPU time, more on a busy machine, so a thread does it once there is a drop.
 */
#ifndef MAGNET_KERNEL_TRACER_DROP_NAMES_H
#define MAGNET_KERNEL_TRACER_DROP_NAMES_H

#include <stdbool.h>

#include "events.h"

struct drop_names;
/* Returns NULL if memory is short. */
struct drop_names *drop_names_new(void);
/* Returns whether the names are known. The first call starts to read them. */
bool drop_names_ready(struct drop_names *n);
/* Waits for the names if they are being read. */
void drop_names_wait(struct drop_names *n);
/* Fills in `out`. A reason or place without a known name stays a hexadecimal number. */
void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out);
void drop_names_free(struct drop_names *n);

#endif
