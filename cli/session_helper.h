/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CLI_SESSION_HELPER_H
#define MAGNET_CLI_SESSION_HELPER_H

#include <stdint.h>
#include <stdlib.h>

/*
 * The helper process: starts a session daemon and an LTTng session that records `magnet:*` into
 * `output`, says "ready" on `control`, waits there for a word or its end, stops, and says
 * "stopped DISCARDED CPU_NS COMPLETE". Anything else it says is what went wrong. Returns its exit
 * status.
 */
int session_helper(int control, const char *home, const char *output, uint64_t buffer_bytes);
void session_remove_home(const char *home);

#endif
