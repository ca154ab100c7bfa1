/* SPDX-License-Identifier: MIT */
/*
 * Protection of LTTng's descriptors. LTTng's threads keep descriptors open in the program. A
 * program that closes all descriptors, as daemons do, would reuse their numbers for its own files,
 * and LTTng would then close or write to those. So LTTng's descriptors get high numbers, out of the
 * way of `exec 3<file`, and the program's attempts to close them fail as if they were not open.
 * Under `magnet record` there are none.
 */
#ifndef MAGNET_PRELOAD_GUARD_H
#define MAGNET_PRELOAD_GUARD_H

#include <stdbool.h>

/*
 * Returns whether `caller` is an address in LTTng's code. Takes no lock, as LTTng's threads start
 * while it is being loaded.
 */
bool guard_is_lttng(const void *caller);
/* Moves a descriptor of LTTng's to a high number and guards it. Returns the new number. */
int guard_adopt(int fd);
/* Returns the descriptor to close: `fd`, or -1 if it is guarded against this caller. */
int guard_close(int fd, const void *caller);
/* Returns whether `fd` is a guarded descriptor. */
bool guard_has(int fd);
/* Stops guarding `fd`, after the program has put another file in its place. */
void guard_forget(int fd);
/* Returns whether any descriptor is guarded, so that closing a range must spare some. */
bool guard_needed(void);
int guard_close_range(unsigned int first, unsigned int last, int flags);

#endif
