/* SPDX-License-Identifier: MIT */
/* Records of tracepoints as events of the trace. */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_PACK_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "events/chosen_format.h"

/* Writes the CTF description of an event with these fields. */
void format_describe(const struct event_format *f, FILE *to, unsigned int id, const char *category,
	const char *name);
/* Returns the size of the shortest record in that layout. */
size_t format_least(const struct event_format *f);
/*
 * Packs a record's fields in that layout; `room` is at least format_least(), and fields of variable
 * length are cut to fit. Returns the bytes written.
 */
size_t format_pack(const struct event_format *f, const uint8_t *record, size_t record_size,
	uint8_t *out, size_t room);

#endif
