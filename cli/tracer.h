/* SPDX-License-Identifier: MIT */
/* The kernel tracer as a child process of `magnet record`. */
#ifndef MAGNET_CLI_TRACER_H
#define MAGNET_CLI_TRACER_H

#include <jansson.h>
#include <sys/types.h>

struct tracer {
	pid_t pid;
	int control;
	char why[512];
	char ended[64]; /* by what, if it did before it was told to; else "" */
	json_t *ready;  /* what it said when it began, and */
	json_t *done;   /* at the end: hooks, events, losses, costs */
};

/* `args` are options to pass on, NULL-terminated; `target` is followed with its children, 0 = all,
 * -1 = as `args` say
 */
int tracer_start(struct tracer *t, const char *output, pid_t target, char *const args[]);
#define TRACER_READY_MS 60000 /* the kernel takes its time for hundreds of chosen events */
/* -EINVAL after a line of the tracer's own: its options were wrong */
int tracer_wait_ready(struct tracer *t, int timeout_ms);
/* Tell it to stop; tracer_stop() then waits for the finished trace. The second call does nothing.
 */
void tracer_ask_stop(struct tracer *t);
int tracer_stop(struct tracer *t, int timeout_ms);
void tracer_free(struct tracer *t);

#endif
