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

/*
 * Returns what a session.json holds; NULL if it is not there (then `why` is ""), or `why` gets what
 * is wrong with it. `named`: the user gave its path, and then it may be a link.
 */
json_t *session_load(const char *path, bool named, char *why, size_t why_size);

#endif
