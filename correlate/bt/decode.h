/* SPDX-License-Identifier: MIT */
/* Conversion of babeltrace2's messages to the core's events, by the names in the event table. */
#ifndef MAGNET_CORRELATE_BT_DECODE_H
#define MAGNET_CORRELATE_BT_DECODE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "core/contract.h"

struct decoder;

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);
/*
 * Decodes an event. Returns false for events that are not magnet's. With `text`, also writes the
 * fields of events that are not in the table.
 */
bool decode_event(struct decoder *d, const bt_message *message, struct mg_event *out, bool text);
/*
 * Returns whether magnet wrote the trace, by the same test as the direct reader (direct/layout.c).
 */
bool decode_is_own(const bt_trace *trace);
/*
 * Returns whether a trace is of a format that is read, or not magnet's; if it is neither, `why`
 * says so.
 */
bool decode_reads(const bt_trace *trace, char *why, size_t why_size);
/* Returns the CPU of a stream's events; -1 if the stream has none or no event was read yet. */
int decode_cpu(const struct decoder *d, const bt_stream *stream);
/*
 * Passes the number of events read from each of magnet's traces to the core. Call it before the
 * core is finished.
 */
void decode_tell_events(const struct decoder *d, struct core *core);

#endif
