/* SPDX-License-Identifier: MIT */
/* The tracer's privileges: those it needs, and those it gives up. */
#ifndef MAGNET_KERNEL_TRACER_PRIVILEGE_H
#define MAGNET_KERNEL_TRACER_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a capability is missing without which no program loads. */
bool privilege_lacks_bpf(void);
/* Returns whether the kernel lets no BPF program read its memory, whoever loads it. */
bool privilege_locked_down(void);
/* Returns whether the types of kernel modules may be read. */
bool privilege_sees_modules(void);
/* Writes why the kernel may have refused BPF. Returns false if no reason is found. */
bool privilege_reason(char *text, size_t size);
/*
 * Keeps only the capabilities that recording needs from now on: see magnet-kernel-tracer(8). With
 * `namespaces`, hooks are still to be attached in other network namespaces; with `stacks`, programs
 * of other users are still to be opened. Applies to this thread and those that it starts later.
 */
int privilege_drop(const char *dir, bool namespaces, bool stacks);

#endif
