/* SPDX-License-Identifier: MIT */
/*
 * Calls by which a thread has its children made in another PID namespace than its own: they see
 * other ids of themselves than their parent does.
 */
#ifndef MAGNET_PRELOAD_NESTED_H
#define MAGNET_PRELOAD_NESTED_H

/* Call them after unshare() and setns(), with what these return. They keep errno. */
void mg_after_unshare(unsigned long flags, int ret);
void mg_after_setns(int fd, int kind, int ret);

#endif
