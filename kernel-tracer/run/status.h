/* SPDX-License-Identifier: MIT */
/* All there is to know of a running recording. */
#ifndef MAGNET_KERNEL_TRACER_RUN_STATUS_H
#define MAGNET_KERNEL_TRACER_RUN_STATUS_H

#include <jansson.h>

#include "run/run.h"

json_t *run_status(const struct run *r);

#endif
