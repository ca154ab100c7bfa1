/* SPDX-License-Identifier: MIT */
/* Tells a socket's exchanges of the calls on it. */
#ifndef MAGNET_CORRELATE_CORE_CALL_CALL_EXCHANGE_H
#define MAGNET_CORRELATE_CORE_CALL_CALL_EXCHANGE_H

#include "core.h"

/* Call it when a system call has returned, and its bytes are known. */
void call_tell_exchange(struct core *c, const struct thread *t, const struct kernel_call *k);
/*
 * Call it when the system call is settled: `function` is as in facts, `enter` and `leave` are U0
 * and U1, or 0.
 */
void call_settle_exchange(struct core *c, const struct thread *t, const struct kernel_call *k,
	uint16_t function, uint64_t enter, uint64_t leave);

#endif
