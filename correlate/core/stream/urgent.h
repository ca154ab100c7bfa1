/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_URGENT_H
#define MAGNET_CORRELATE_CORE_STREAM_URGENT_H

#include "core.h"

/* Returns whether a system call of a TCP socket has read an urgent byte out of band. */
bool urgent_is_read(const struct kernel_call *k);
/* Call it when recv(MSG_OOB) has returned a byte. */
void urgent_read(struct core *c, struct flow *f, const struct kernel_call *k, uint64_t user);
/*
 * Call it when the reader has skipped these bytes. Returns false if that must have another cause.
 */
bool urgent_hole(struct core *c, struct flow *f, uint64_t a, uint64_t b);

#endif
