/* SPDX-License-Identifier: MIT */
/*
 * The kernel's words for why and where it drops packets. To read them takes a tenth of a second of
 * CPU time, longer on a busy machine: so a thread does, once there is a drop.
 */
#ifndef MAGNET_KERNEL_TRACER_DROP_NAMES_H
#define MAGNET_KERNEL_TRACER_DROP_NAMES_H

#include <stdbool.h>

#include "events.h"

struct drop_names;
/* Returns NULL without memory. */
struct drop_names *drop_names_new(void);
/* Returns whether the names are known. The first call begins to read them. */
bool drop_names_ready(struct drop_names *n);
/* Waits for the names, if they are being read. */
void drop_names_wait(struct drop_names *n);
/* Fill in `out`. What is not known, or not told by the kernel, stays a number, in hexadecimal. */
void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out);
void drop_names_free(struct drop_names *n);

#endif
