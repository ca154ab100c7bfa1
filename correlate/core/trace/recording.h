/* SPDX-License-Identifier: MIT */
/* The recording as a whole, as facts. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_RECORDING_H
#define MAGNET_CORRELATE_CORE_TRACE_RECORDING_H

#include "core.h"

/* Emits the facts about the recording, its sides, hooks and programs, once all is settled. */
void recording_tell(struct core *c);

#endif
