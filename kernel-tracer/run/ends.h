/* SPDX-License-Identifier: MIT */
/* The ends of the processes of --pid, with the last of which the recording ends. */
#ifndef MAGNET_KERNEL_TRACER_RUN_ENDS_H
#define MAGNET_KERNEL_TRACER_RUN_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "option_table.h"

struct ends {
	int pidfd[OPTION_PROCESSES_MAX];
	uint32_t count, gone;
	uint32_t followed; /* existing processes that are recorded, their children included */
};

/* Returns false if all have ended, while the recording was started. */
bool ends_watch(struct ends *e, const struct option_processes *p);
/* Returns a descriptor that can be read when one of them has ended; -1 if none is watched. */
int ends_fd(const struct ends *e);
/* Call it when that can be read. Returns whether all have ended. */
bool ends_next(struct ends *e);

#endif
