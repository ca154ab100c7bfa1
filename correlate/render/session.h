/* SPDX-License-Identifier: MIT */
/* Reading of session.json. */
#ifndef MAGNET_CORRELATE_RENDER_SESSION_H
#define MAGNET_CORRELATE_RENDER_SESSION_H

#include <jansson.h>

#include "core/contract.h"

/*
 * Gives the core the recording's begin and end and its clock readings; call it before any event. A
 * kernel trace has readings of its own, which then replace these.
 */
void session_tell(struct core *core, const json_t *session);

/*
 * Returns the content of a session.json. Returns NULL if there is none (`why` is "" then) or if it
 * is damaged, with the reason in `why`. `named`: the user gave the path, so it may be a link.
 */
json_t *session_load(const char *path, bool named, char *why, size_t why_size);

#endif
