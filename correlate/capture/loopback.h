/* SPDX-License-Identifier: MIT */
/* Finds packets on the loopback device that were recorded twice: as they were sent and received. */
#ifndef MAGNET_CORRELATE_CAPTURE_LOOPBACK_H
#define MAGNET_CORRELATE_CAPTURE_LOOPBACK_H

#include "capture/traffic.h"

#define LOOPBACK_IFINDEX 1 /* Linux gives it in every network namespace */
#define LOOPBACK_NONE    SIZE_MAX

/*
 * Returns for each packet the number of its other record, LOOPBACK_NONE if it has none, in memory
 * to be freed. `pairs` gets their number. NULL without memory.
 */
size_t *loopback_pairs(const struct traffic *t, uint64_t *pairs);

#endif
