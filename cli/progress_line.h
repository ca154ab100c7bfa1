/* SPDX-License-Identifier: MIT */
/* A line on a terminal that shows progress of a long reading, and is erased at its end. */
#ifndef MAGNET_CLI_PROGRESS_LINE_H
#define MAGNET_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "progress.h"

struct progress_line {
	struct progress progress; /* for the readers */
	bool on, shown;
	uint64_t next_ns; /* time of the next update */
};

/*
 * `listed`: events are printed while they are read, so the line would be in their way on a
 * terminal.
 */
void progress_begin(struct progress_line *p, bool listed);
void progress_end(struct progress_line *p);

#endif
