/* SPDX-License-Identifier: MIT */
/* Readings of the counter estimated from the calls that wait for the clock. */
#ifndef MAGNET_CORRELATE_CORE_CLOCK_CLOCK_GUESS_H
#define MAGNET_CORRELATE_CORE_CLOCK_CLOCK_GUESS_H

#include "core.h"

void clock_guess(struct core *c);

#endif
