/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_UNSENT_H
#define MAGNET_CORRELATE_CORE_STREAM_UNSENT_H

#include "core.h"

void tx_find_unsent(struct core *c, struct flow *f); /* call it once all events are in */

#endif
