/* SPDX-License-Identifier: MIT */
/* The kernel's words for why and where it drops packets. */
#ifndef MAGNET_KERNEL_TRACER_DROP_NAMES_H
#define MAGNET_KERNEL_TRACER_DROP_NAMES_H

#include "events.h"

struct drop_names;
/* NULL without memory. What the kernel does not tell stays a number, in hexadecimal. */
struct drop_names *drop_names_new(void);
void drop_names_of(struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out);
void drop_names_free(struct drop_names *n);

#endif
