/* SPDX-License-Identifier: MIT */
/*
 * Names of the reasons for drops and of the functions that drop. The kernel is asked for each once,
 * by a program; where it cannot be, all names are read, which takes a tenth of a second of CPU
 * time, more on a busy machine: a thread does it once there is a drop.
 */
#ifndef MAGNET_KERNEL_TRACER_DROP_NAMES_H
#define MAGNET_KERNEL_TRACER_DROP_NAMES_H

#include <stdbool.h>

#include "events.h"

struct drop_names;
/* Returns NULL if memory is short. */
struct drop_names *drop_names_new(void);
/* Has the program asked, which leaves its answer in the map: descriptors, negative without. */
void drop_names_ask(struct drop_names *n, int program, int map);
/* Returns whether a drop's names are known. The first call may start to read all. */
bool drop_names_ready(struct drop_names *n, const struct mg_drop_raw *raw);
/* Waits for the names if they are being read. */
void drop_names_wait(struct drop_names *n);
/* Fills in `out`. A reason or place without a known name stays a hexadecimal number. */
void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out);
void drop_names_free(struct drop_names *n);

#endif
