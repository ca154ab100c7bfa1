/* SPDX-License-Identifier: MIT */
/* The tracepoints that --event names, as this kernel has them. */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_FIND_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/chosen_format.h"

struct chosen_options {
	const char **event; /* the options as written */
	int count;
	bool anonymize;
	uint64_t ring_bytes; /* bytes per CPU, a power of two */
};

struct chosen_event {
	char category[64], name[64];
	char *filter; /* NULL = none */
	struct event_format format;
	uint16_t id;  /* id in the trace */
	bool pattern; /* whether a pattern chose it */
	int status;   /* negative errno: perf may not record the event, so it is left out */
};

struct chosen_list {
	struct chosen_event *event;
	size_t count;
};

/*
 * Finds the events that the options name. Returns -EINVAL with the reason in `why` if one does not
 * exist.
 */
int chosen_find(
	struct chosen_list *l, int tracefs, const struct chosen_options *o, char *why, size_t size);
void chosen_list_free(struct chosen_list *l);

#endif
