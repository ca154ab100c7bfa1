/* SPDX-License-Identifier: MIT */
/* Events that are not in the table, chosen by the user. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_OTHER_H
#define MAGNET_CORRELATE_CORE_TRACE_OTHER_H

#include "core.h"

void other_on_event(struct core *c, const struct mg_event *e);
void other_free(struct core *c);

#endif
