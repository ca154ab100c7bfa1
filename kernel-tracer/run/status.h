/* SPDX-License-Identifier: MIT */
/* The status of a running recording: magnet-kernel-tracer-ctl(8), "Protocol". */
#ifndef MAGNET_KERNEL_TRACER_RUN_STATUS_H
#define MAGNET_KERNEL_TRACER_RUN_STATUS_H

#include <jansson.h>

#include "run/run.h"

/* Returns one JSON object. */
json_t *run_status(const struct run *r);

#endif
