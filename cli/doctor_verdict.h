/* SPDX-License-Identifier: MIT */
/* The answer of `magnet doctor`: whether a recording would be complete, and how to mend it. */
#ifndef MAGNET_CLI_DOCTOR_VERDICT_H
#define MAGNET_CLI_DOCTOR_VERDICT_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Adds `verdict` ("complete", "partial" or "nothing") and `missing` to the findings. Each entry of
 * `missing` has `what`, `why`, `mend` (what to run or do) and `partial` (whether a recording lacks
 * a side or an event of a byte's way without it); those that make it partial come first.
 */
void doctor_judge(json_t *findings);
/* Returns whether a recording would be complete. */
bool doctor_complete(const json_t *findings);
/* Prints the verdict, and what is missing with its remedy, in at most ten lines. */
void doctor_print_verdict(const json_t *findings);

#endif
