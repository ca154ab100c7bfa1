/* SPDX-License-Identifier: MIT */
/* Calls as facts. */
#ifndef MAGNET_CORRELATE_CORE_CALL_CALL_FACT_H
#define MAGNET_CORRELATE_CORE_CALL_CALL_FACT_H

#include "core.h"

/*
 * Emits an application call that moved `bytes`. `k` is its system call with the states of the whole
 * call, NULL if it has none. Without a listener the function does nothing.
 */
void call_tell_app(struct core *c, const struct thread *t, const struct mg_event *e,
	const struct kernel_call *k, uint64_t bytes, enum fact_no_call no_call);
/* Emits a system call that no application event belongs to. */
void call_tell_kernel(
	struct core *c, const struct thread *t, const struct kernel_call *k, uint64_t bytes);

#endif
