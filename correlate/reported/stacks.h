/* SPDX-License-Identifier: MIT */
/* Figures of the stacks that were taken (--stacks). */
#ifndef MAGNET_CORRELATE_REPORTED_STACKS_H
#define MAGNET_CORRELATE_REPORTED_STACKS_H

#include "render/report.h"

/* Rows of a report in JSON; the folded form has all. */
#define STACKS_REPORTED 1000

struct stack_figures {
	const struct report *r;
	const struct stack_row *row;
};

#endif
