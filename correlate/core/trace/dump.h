/* SPDX-License-Identifier: MIT */
/* Keeps which dumps a flight recorder made, and why. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_DUMP_H
#define MAGNET_CORRELATE_CORE_TRACE_DUMP_H

#include "core.h"

void dump_on_event(struct core *c, const struct mg_event *e);

#endif
