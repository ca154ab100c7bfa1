/* SPDX-License-Identifier: MIT */
/* Whether the hypervisor, which took the CPUs at times (steal), may have caused a stage's tail. */
#ifndef MAGNET_CORRELATE_REPORTED_STEAL_H
#define MAGNET_CORRELATE_REPORTED_STEAL_H

#include "render/report.h"

/* Returns whether the time that the hypervisor took is enough to explain a stage's tail. */
bool stage_tail_may_be_steal(const struct report *r, const struct fact_flow *f, int stage);

#endif
