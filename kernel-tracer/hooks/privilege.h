/* SPDX-License-Identifier: MIT */
/* What the tracer may do, and what it gives up. */
#ifndef MAGNET_KERNEL_TRACER_PRIVILEGE_H
#define MAGNET_KERNEL_TRACER_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a capability without which nothing can be loaded is missing. */
bool privilege_lacks_bpf(void);
/* Whether the kernel lets no BPF program read its memory, whoever loads it. */
bool privilege_locked_down(void);
/* Whether the types of modules may be read. */
bool privilege_sees_modules(void);
/* Why the kernel may have refused BPF, if anything is found; false if nothing is. */
bool privilege_reason(char *text, size_t size);
/*
 * Keep only what recording takes from now on: see magnet-kernel-tracer(8). `namespaces`: hooks are
 * to be attached in other network namespaces. Of this thread, and of those it starts later.
 */
int privilege_drop(const char *dir, bool namespaces);

#endif
