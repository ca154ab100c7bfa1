/* SPDX-License-Identifier: MIT */
/* What report and show have in common: directories in, a fed core out. */
#ifndef MAGNET_CLI_OPEN_TRACE_H
#define MAGNET_CLI_OPEN_TRACE_H

#include <jansson.h>

#include "core.h"

/*
 * Read all traces below the directories into the core, which the caller has initialised and may
 * listen to. `session` gets session.json of the first directory that has one, else NULL. Says what
 * is wrong; returns 0, -1, or TRACE_CUT_OFF if only the begin of it could be read, which the core
 * was given.
 */
#define TRACE_CUT_OFF 1
int open_trace(char *const dirs[], int count, struct core *core, json_t **session);

#endif
