/* SPDX-License-Identifier: MIT */
/* What session.json tells the correlator. */
#ifndef MAGNET_CORRELATE_RENDER_SESSION_H
#define MAGNET_CORRELATE_RENDER_SESSION_H

#include <jansson.h>

#include "core.h"

/*
 * When the recording began and ended, and the recorder's readings of the clock; before any event.
 * A kernel trace has readings of its own, and then only they count.
 */
void session_tell(struct core *core, const json_t *session);

#endif
