/* SPDX-License-Identifier: MIT */
/* Prints stacks (--stacks): those of the answer's cause, and lists of them. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_STACKS_H
#define MAGNET_CORRELATE_RENDER_TEXT_STACKS_H

#include "reported/exchanges.h"

/*
 * Prints the stacks with the most time of what the program of the group of exchanges was blocked
 * in, where that is a cause of the answer; nothing if none were recorded.
 */
void text_answer_stacks(const struct exchange_group_figures *f, FILE *to);
/* Prints the first stacks of each reason that was asked for, and how many could not be taken. */
void text_stacks(const struct report *r, FILE *to, bool colour);

#endif
