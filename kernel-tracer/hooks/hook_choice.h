/* SPDX-License-Identifier: MIT */
/* Which rows of the table of hooks a recording uses. */
#ifndef MAGNET_KERNEL_TRACER_HOOKS_HOOK_CHOICE_H
#define MAGNET_KERNEL_TRACER_HOOKS_HOOK_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring.h"
#include "hooks/hook_table.h"

/* What the command line says of hooks. */
struct hook_options {
	uint32_t layers;       /* bits 1 << enum mg_layer */
	uint32_t without;      /* bits 1 << enum hook_kind: kinds of hooks not to be used */
	uint64_t buffer_bytes; /* ring size a CPU, 0 = default */
	pid_t pid;             /* process to follow with its children, 0 = none */
	bool fresh;            /* it has not begun: all its connections will be seen opening */
	bool all;              /* everything on the machine */
	bool anonymize;
	struct mg_bpf_settings settings; /* filters and level */
};

struct hooks;
/*
 * Decide for every row whether its program is to be loaded; h->state says why not. What h->refused
 * has was tried, and is left out.
 */
void hooks_choose(struct hooks *h, const struct hook_options *o);
/* Whether a row is to be attached where these layers are chosen. */
bool hook_is_wanted(const struct hook *k, uint32_t layers);
/* Whether two rows' events are one, or the one a part of the other. */
bool hook_same_event(size_t a, size_t b);
/* What a row is attached to, as "fentry ip_output". */
void hook_by(const struct hook *k, char *text, size_t size);
/* Why a row with a negative state is not in use. */
void hook_reason(const struct hook *k, int state, char *text, size_t size);
/* Whether a row's program was loaded, by its state. */
bool hook_is_loaded(int state);

#endif
