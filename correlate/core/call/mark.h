/* SPDX-License-Identifier: MIT */
/* Points that the program marks, tied to the bytes its thread moves around them. */
#ifndef MAGNET_CORRELATE_CORE_CALL_MARK_H
#define MAGNET_CORRELATE_CORE_CALL_MARK_H

#include "core.h"

void mark_on_event(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Call it when the thread's call has moved bytes. */
void mark_on_bytes(struct core *c, struct thread *t, const struct kernel_call *k);
/* Emits the marks after which their thread sent nothing: no more will come. */
void marks_finish(struct core *c);

#endif
