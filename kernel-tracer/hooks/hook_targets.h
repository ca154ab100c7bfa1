/* SPDX-License-Identifier: MIT */
/* Targets of hooks: what the kernel's types say of the functions and tracepoints in the table of
 * hooks. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_TARGETS_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/hooks.h"

#define TRACEPOINT_TYPE "btf_trace_" /* begin of the name of a tracepoint's type */

struct hook_targets {
	bool old;  /* Linux before 5.12: see bpf/old.bpf.h */
	bool cast; /* Linux since 6.2: see bpf/cast.bpf.h */
	/* arguments of each row's tracepoint or function, -1 if it does not exist */
	int args[HOOKS_MAX];
	uint32_t id[HOOKS_MAX]; /* number of its type, to which a program is attached; 0: none */
};

struct btf;
struct hook;

/* Returns whether a row's program is attached to a function. */
bool hook_is_of_function(const struct hook *k);
/* Finds the targets of all rows. Returns 0 or -ENOMEM. */
int hook_targets_find(struct hook_targets *targets, const struct btf *btf);

#endif
