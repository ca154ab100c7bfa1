/* SPDX-License-Identifier: MIT */
/* Losses: what the threads and sockets that lived through them no longer know. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_LOSS_H
#define MAGNET_CORRELATE_CORE_TRACE_LOSS_H

#include "core.h"

/* Notes a loss as soon as it is read, before earlier events are processed. */
void loss_foresee(struct core *c, const struct mg_lost *p);
void loss_on_event(struct core *c, const struct mg_lost *p);
/* Reports what was not kept before a part of the kernel side that begins. */
void loss_on_chunk(struct core *c, const struct mg_chunk *p);
/* Reports missing parts of the application side between `from_ns` and the part that begins. */
void loss_of_app_parts(
	struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count);

#endif
