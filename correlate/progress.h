/* SPDX-License-Identifier: MIT */
/* A receiver of progress reports while a trace is read. */
#ifndef MAGNET_CORRELATE_PROGRESS_H
#define MAGNET_CORRELATE_PROGRESS_H

#include <stdint.h>

struct progress {
	/* `done` of `total` bytes; where bytes are not known, events, and `total` is 0 */
	void (*tell)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

#endif
