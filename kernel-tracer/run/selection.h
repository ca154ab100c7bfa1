/* SPDX-License-Identifier: MIT */
/* The filters in text form: for options, the control socket and the status. */
#ifndef MAGNET_KERNEL_TRACER_SELECTION_H
#define MAGNET_KERNEL_TRACER_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "ring.h"

/* Whether there is a filter of this name: "protocol", "netns", "port", ... */
bool selection_is(const char *name);
/*
 * Sets a filter; "any" removes it. Returns 0, or -EINVAL and `why`, without the name; the settings
 * are unchanged then.
 */
int selection_set(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size);
/* Sets a filter for an option that is given again: a filter that takes a list keeps its items. */
int selection_add(
	struct mg_bpf_settings *s, const char *name, const char *value, char *why, size_t size);
/* Writes the filter in a normal form; "any" if it is not set. */
void selection_text(const struct mg_bpf_settings *s, const char *name, char *out, size_t size);

#endif
