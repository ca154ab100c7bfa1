/* SPDX-License-Identifier: MIT */
/* What --event asks for. */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_SPEC_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_SPEC_H

#include <stdbool.h>

/* One --event, taken apart. */
struct event_spec {
	char *category, *name; /* the name may hold * ? [] */
	char *filter;          /* the kernel's own language, NULL = none */
	char *fields;          /* separated by commas, NULL = all but common_* */
};

/* Returns what is wrong with it, NULL if nothing is; then spec_free() it. */
const char *spec_parse(const char *text, struct event_spec *s);
void spec_free(struct event_spec *s);
bool spec_is_pattern(const struct event_spec *s);

#endif
