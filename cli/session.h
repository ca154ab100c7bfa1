/* SPDX-License-Identifier: MIT */
/*
 * A private LTTng session: a session daemon of magnet's own, run and spoken to by a helper process,
 * so that a user's daemon is left alone, the program keeps its view of the file system, and a call
 * that hangs can be ended from outside. Functions return 0 or a negative errno and log nothing;
 * `why` holds what failed, in words.
 */
#ifndef MAGNET_CLI_SESSION_H
#define MAGNET_CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session {
	pid_t helper;
	pid_t daemon;  /* leads a process group of its own */
	int control;   /* to the helper, both ways */
	char home[64]; /* LTTNG_HOME for the programs that are to be recorded */
	char why[256];
};

struct session_result {
	uint64_t discarded; /* events LTTng found no room for */
	uint64_t cpu_ns;    /* CPU time of LTTng's daemons */
	bool complete;      /* every buffer was written out in time */
};

/* Begin starting it; `buffer_bytes` a CPU, 0 = default. */
int session_start(struct session *s, const char *output, uint64_t buffer_bytes);
/* Wait until it records. */
int session_wait_ready(struct session *s, int timeout_ms);
/* Stop, write out and end everything; after the deadline by force. */
int session_stop(struct session *s, struct session_result *r, int timeout_ms);

#endif
