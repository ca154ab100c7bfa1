/* SPDX-License-Identifier: MIT */
/*
 * The control socket: one JSON object a line in, one out. Whoever may speak is root, or who runs
 * the tracer. Nothing here waits: a client that does not read is given up.
 */
#ifndef MAGNET_KERNEL_TRACER_CONTROL_H
#define MAGNET_KERNEL_TRACER_CONTROL_H

#include <jansson.h>
#include <poll.h>
#include <stddef.h>

#define CONTROL_DIR  "/run/magnet"
#define CONTROL_MAX  8 /* clients at once */
#define CONTROL_FDS  (1 + CONTROL_MAX)
#define CONTROL_LINE 4096

struct control;
/* An answer to a request, which is NULL if the line was no JSON object. */
typedef json_t *(*control_answer_fn)(void *arg, const json_t *request);

/* `path` NULL: the default one. Returns 0, or a negative errno and `why`. */
int control_open(struct control **out, const char *path, char *why, size_t size);
const char *control_path(const struct control *c);
/* What to wait for, CONTROL_FDS of them; and what to do then. NULL waits for nothing. */
void control_wait(const struct control *c, struct pollfd *fds);
void control_serve(
	struct control *c, const struct pollfd *fds, control_answer_fn answer, void *arg);
/* Also removes the socket. NULL is ignored. */
void control_close(struct control *c);

#endif
