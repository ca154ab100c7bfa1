/* SPDX-License-Identifier: MIT */
/*
 * The control socket: one JSON object a line in each direction, for root and the user who runs the
 * tracer. Nothing here waits: a client that does not read is dropped.
 */
#ifndef MAGNET_KERNEL_TRACER_CONTROL_H
#define MAGNET_KERNEL_TRACER_CONTROL_H

#include <jansson.h>
#include <poll.h>
#include <stddef.h>

#define CONTROL_DIR  "/run/magnet"
#define CONTROL_MAX  8 /* most clients at once */
#define CONTROL_FDS  (1 + CONTROL_MAX)
#define CONTROL_LINE 4096

struct control;
/* Returns the answer to a request; `request` is NULL if the line was no JSON object. */
typedef json_t *(*control_answer_fn)(void *arg, const json_t *request);

/*
 * Opens the socket; `path` NULL means the default one. Returns 0, or a negative errno and the
 * reason in `why`.
 */
int control_open(struct control **out, const char *path, char *why, size_t size);
const char *control_path(const struct control *c);
/*
 * Fill in the CONTROL_FDS descriptors to poll, and handle them after the poll. With NULL there is
 * nothing to wait for.
 */
void control_wait(const struct control *c, struct pollfd *fds);
void control_serve(
	struct control *c, const struct pollfd *fds, control_answer_fn answer, void *arg);
/* Closes and removes the socket. Ignores NULL. */
void control_close(struct control *c);

#endif
