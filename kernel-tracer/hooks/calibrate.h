/* SPDX-License-Identifier: MIT */
/* Cost of one recorded event on this machine. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_CALIBRATE_H
#define MAGNET_KERNEL_TRACER_HOOKS_CALIBRATE_H

#include "events.h"
#include "hooks/hooks.h"

/* times of one short system call: index 0 without hooks, index n with n copies of them */
struct calibration {
	/* cycles: 0 = not timed */
	double cycles[CALIBRATION_COPIES + 1], scatter[CALIBRATION_COPIES + 1];
	struct mg_clock_sync began; /* when the first call was timed; all 0: not yet */
};
/*
 * Times the call with `copies` copies attached and keeps the lower of this and an earlier time. `h`
 * has the rings that its events go to; NULL without hooks.
 */
int calibrate_call(struct calibration *c, int copies, const struct hooks *h);
/* Times the call with one copy, and with as many more as this kernel accepts. */
int calibrate_copies(struct calibration *c, struct hooks *h);
/* Marks the tracer's own thread as traced, or as not traced. */
int calibrate_follow_self(struct hooks *h, bool on);
void calibrate_result(struct mg_calibration *out, const struct calibration *c);

#endif
