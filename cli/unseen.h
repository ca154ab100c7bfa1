/* SPDX-License-Identifier: MIT */
/* At the end of a recording: programs whose calls the kernel side alone has seen. */
#ifndef MAGNET_CLI_UNSEEN_H
#define MAGNET_CLI_UNSEEN_H

#include <jansson.h>

#include "callers.h"

/* `kernel` is the tracer's list of callers; `app` who was seen by the application side. */
void tell_unseen(const json_t *kernel, const struct callers *app);

#endif
