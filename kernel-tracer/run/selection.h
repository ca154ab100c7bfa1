/* SPDX-License-Identifier: MIT */
/* The user's filters in words: what options and the control socket set, and status tells. */
#ifndef MAGNET_KERNEL_TRACER_SELECTION_H
#define MAGNET_KERNEL_TRACER_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "ring.h"

/* Whether there is a filter of this name: "protocol", "netns", "port", ... */
bool selection_is(const char *name);
/*
 * Set one; "any" takes it away. Returns 0, or -EINVAL with what is wrong in `why`, which says
 * nothing of the name. On failure the settings stay as they were.
 */
int selection_set(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size);
/* The same, where a filter that takes a list keeps what it has: an option given twice. */
int selection_add(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size);
/* As it was set, in a normal form; "any" if it is not. */
void selection_text(const struct mg_bpf_settings *s, const char *name, char *out, size_t size);

#endif
