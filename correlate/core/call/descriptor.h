/* SPDX-License-Identifier: MIT */
/* Bytes moved by calls whose system calls were lost. */
#ifndef MAGNET_CORRELATE_CORE_CALL_DESCRIPTOR_H
#define MAGNET_CORRELATE_CORE_CALL_DESCRIPTOR_H

#include "core.h"

void descriptor_is(struct process *p, int32_t fd, struct mg_sock *s);
void descriptor_lost(struct core *c, struct process *p, const struct mg_call *call,
	enum mg_direction dir, uint64_t bytes);
void descriptor_closed(struct process *p, int32_t fd);

#endif
