/* SPDX-License-Identifier: MIT */
/* The kernel tracer as a child process of `magnet record`. */
#ifndef MAGNET_CLI_TRACER_H
#define MAGNET_CLI_TRACER_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct tracer {
	pid_t pid;
	int control;
	char why[512];
	char ended[64]; /* by what, if it did before it was told to; else "" */
	json_t *ready;  /* what it said when it began, and */
	json_t *done;   /* at the end: hooks, events, losses, costs */
};

/*
 * Starts the tracer with the options in `args`, which end with NULL; NULL: with none. It follows
 * the process `target` and its children, with 0 all processes, with -1 those that `args` name.
 */
int tracer_start(struct tracer *t, const char *output, pid_t target, const char *const *args);
/*
 * Waits while the tracer lives: how long a kernel checks its programs cannot be known before. A
 * line says so when it takes long, unless `quiet`. Returns -EINVAL after a line of the tracer's
 * own, its options being wrong; -EINTR, with no tracer left, when there is something to read at
 * `stop`; with -1 nothing stops it.
 */
int tracer_wait_ready(struct tracer *t, int stop, bool quiet);
/* Tell it to stop; tracer_stop() then waits for the finished trace. The second call does nothing.
 */
void tracer_ask_stop(struct tracer *t);
int tracer_stop(struct tracer *t, int timeout_ms);
void tracer_free(struct tracer *t);

#endif
