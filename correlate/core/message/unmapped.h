/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_UNMAPPED_H
#define MAGNET_CORRELATE_CORE_MESSAGE_UNMAPPED_H

#include "core.h"

void unmapped_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes);

#endif
