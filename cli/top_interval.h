/* SPDX-License-Identifier: MIT */
/* Ends of the intervals of magnet top. */
#ifndef MAGNET_CLI_TOP_INTERVAL_H
#define MAGNET_CLI_TOP_INTERVAL_H

#include "top.h"

/* Ends an interval: takes what is known by now into t->state, and CPU times since the last one. */
void top_turn(struct top *t);

#endif
