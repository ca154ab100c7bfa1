/* SPDX-License-Identifier: MIT */
/* A line on a terminal about reading that takes long, gone when it is done. */
#ifndef MAGNET_CLI_PROGRESS_LINE_H
#define MAGNET_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "progress.h"

struct progress_line {
	struct progress progress; /* to be given to readers */
	bool on, shown;
	uint64_t next_ns; /* when to write it again */
};

/* `listed`: what is read goes to standard output as it comes, where the line may be in its way. */
void progress_begin(struct progress_line *p, bool listed);
void progress_end(struct progress_line *p);

#endif
