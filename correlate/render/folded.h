/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, as tools read that draw flame graphs: "program;outermost;...;innermost WEIGHT" a
 * line; functions of the kernel end with _[k].
 */
#ifndef MAGNET_CORRELATE_RENDER_FOLDED_H
#define MAGNET_CORRELATE_RENDER_FOLDED_H

#include "render/report.h"

/* Returns whether the recording was made with stacks, though there may be none of some reason. */
bool folded_are_recorded(const struct report *r);
/* Prints the stacks of one reason; weights are microseconds of blocks, of others how many. */
void folded_print(const struct report *r, enum fact_stack_why why, FILE *to);

#endif
