/* SPDX-License-Identifier: MIT */
/* What one recorded event costs here. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_CALIBRATE_H
#define MAGNET_KERNEL_TRACER_HOOKS_CALIBRATE_H

#include "events.h"
#include "hooks/hooks.h"

struct calibration { /* of one short system call: without hooks, with one copy of them, with two,
			... */
	double cycles[CALIBRATION_COPIES + 1], scatter[CALIBRATION_COPIES + 1]; /* 0 = not timed */
};
/* Time it, with that many, and keep the less disturbed time; `h` has the rings its events go to,
 * NULL without hooks. */
int calibrate_call(struct calibration *c, int copies, const struct hooks *h);
/* Time it with one copy, and as many more as this kernel takes. */
int calibrate_copies(struct calibration *c, struct hooks *h);
/* Mark the tracer's own thread as traced, or not. */
int calibrate_follow_self(struct hooks *h, bool on);
void calibrate_result(struct mg_calibration *out, const struct calibration *c);

#endif
