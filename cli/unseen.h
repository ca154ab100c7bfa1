/* SPDX-License-Identifier: MIT */
/* Programs of which only the kernel side has seen calls, for the message at the end. */
#ifndef MAGNET_CLI_UNSEEN_H
#define MAGNET_CLI_UNSEEN_H

#include <jansson.h>

#include "callers.h"

/*
 * Prints which programs were not seen by the application side; `kernel` is the list of callers of
 * the tracer, `app` that of the application side.
 */
void tell_unseen(const json_t *kernel, const struct callers *app);

#endif
