/* SPDX-License-Identifier: MIT */
/* Records of tracepoints as events of the trace. */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_PACK_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "events/chosen_format.h"

/* The CTF description of an event with these fields. */
void format_describe(const struct event_format *f, FILE *to, unsigned int id, const char *category,
	const char *name);
/* Bytes of the shortest record in the layout so described. */
size_t format_least(const struct event_format *f);
/*
 * The fields of a record in that layout; `room` is at least format_least(), and what has no fixed
 * length is cut to it. Returns the bytes written.
 */
size_t format_pack(const struct event_format *f, const uint8_t *record, size_t record_size,
	uint8_t *out, size_t room);

#endif
