/* SPDX-License-Identifier: MIT */
/*
 * LTTng's threads keep descriptors in the program. One that closed them, as daemons do, would give
 * their numbers to its own files and sockets, which LTTng would then close or write to. So they get
 * high numbers, out of the way of `exec 3<file`, and the program's attempts to close them fail as
 * if they were not open. Under `magnet record` there are none.
 */
#ifndef MAGNET_PRELOAD_GUARD_H
#define MAGNET_PRELOAD_GUARD_H

#include <stdbool.h>

/* Whether code of LTTng's calls; takes no lock, since its threads start while it is loaded. */
bool guard_is_lttng(const void *caller);
/* A descriptor of LTTng's: its new number. */
int guard_adopt(int fd);
/* What is to be closed: `fd`, or -1 for one that is guarded against this caller. */
int guard_close(int fd, const void *caller);
/* Whether it is one of LTTng's. */
bool guard_has(int fd);
/* The program has put something else in its place. */
void guard_forget(int fd);
/* Whether there is anything to close around. */
bool guard_needed(void);
int guard_close_range(unsigned int first, unsigned int last, int flags);

#endif
