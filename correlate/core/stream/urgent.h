/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_URGENT_H
#define MAGNET_CORRELATE_CORE_STREAM_URGENT_H

#include "core.h"

/* recv(MSG_OOB) has given the program a byte. */
void urgent_read(struct core *c, struct flow *f, const struct kernel_call *k, uint64_t user);
/* The reader has stepped over these bytes; false if it must have been for another reason. */
bool urgent_hole(struct core *c, struct flow *f, uint64_t a, uint64_t b);

#endif
