/* SPDX-License-Identifier: MIT */
/* The choice of the rows of the table of hooks that a recording uses. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_CHOICE_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "option_table.h"
#include "ring.h"
#include "hooks/hook_table.h"

/* Options of the command line that concern hooks. */
struct hook_options {
	uint32_t layers;       /* layers to record: bits 1 << enum mg_layer */
	uint32_t without;      /* kinds of hooks not to use: bits 1 << enum hook_kind */
	uint64_t buffer_bytes; /* ring size per CPU, 0 = default */
	/* processes to trace with their children; none with `all` */
	struct option_processes pid;
	/* there is one, which has not begun: all its connections will be seen opening */
	bool fresh;
	bool all; /* trace every process of the machine */
	bool anonymize;
	uint64_t stack_ns; /* blocks from this time on have their stacks recorded; 0: no stacks */
	struct mg_bpf_settings settings; /* filters and level */
};

struct hooks;
struct hook_targets;
/*
 * Decides for every row whether to use it; h->state has the reason why not. Rows with an error in
 * h->refused failed to load before and are left out.
 */
void hooks_choose(
	struct hooks *h, const struct hook_options *o, const struct hook_targets *targets);
/* Returns whether a row is to be attached if `layers` are chosen, and these filters set. */
bool hook_is_wanted(const struct hook *k, uint32_t layers, const struct mg_bpf_settings *filters);
/* Returns whether two rows feed the same event, or one of them a part of the other's. */
bool hook_same_event(size_t a, size_t b);
/* Writes what a row is attached to, for example "fentry ip_output". */
void hook_by(const struct hook *k, char *text, size_t size);
/* Writes why a row with a negative state is not in use. */
void hook_reason(const struct hook *k, int state, char *text, size_t size);
/* Returns whether a row is in use or can be chosen later, given its state. */
bool hook_is_usable(int state);
/* Returns whether a row's program is needed now, given its state. */
bool hook_is_needed(int state);

#endif
