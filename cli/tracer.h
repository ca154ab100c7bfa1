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
	char ended[64]; /* why it ended before it was told to; else "" */
	json_t *ready;  /* the tracer's first line */
	json_t *done;   /* the tracer's last line: hooks, events, losses, costs */
};

/*
 * Starts the tracer with the options in `args`, which end with NULL; NULL: with none. It follows
 * the process `target` and its children, with 0 all processes, with -1 those that `args` name.
 */
int tracer_start(struct tracer *t, const char *output, pid_t target, const char *const *args);
/*
 * Waits until the tracer records; how long the kernel checks its programs cannot be known. A
 * warning says so after some time, unless `quiet`. Returns 0; -EINVAL if the tracer has refused its
 * options, after its message; -EINTR if there is something to read at `stop`, which may be -1; or
 * another negative errno. After a failure there is no tracer left.
 */
int tracer_wait_ready(struct tracer *t, int stop, bool quiet);
/*
 * Tells the tracer to stop; tracer_stop() also waits for the complete trace. A second call does
 * nothing.
 */
void tracer_ask_stop(struct tracer *t);
int tracer_stop(struct tracer *t, int timeout_ms);
void tracer_free(struct tracer *t);

#endif
