/* SPDX-License-Identifier: MIT */
/* Syntax of --event. */
#ifndef MAGNET_COMMON_EVENT_SPEC_H
#define MAGNET_COMMON_EVENT_SPEC_H

#include <stdbool.h>

/* One parsed --event. */
struct event_spec {
	char *category, *name; /* the name may hold * ? [] */
	char *filter;          /* filter in the kernel's language, NULL = none */
	char *fields;          /* names separated by commas, NULL = all but common_* */
};

/*
 * Parses `text`. Returns NULL, or a text that says what is wrong. On success the caller calls
 * spec_free() later.
 */
const char *spec_parse(const char *text, struct event_spec *s);
void spec_free(struct event_spec *s);
bool spec_is_pattern(const struct event_spec *s);

#endif
