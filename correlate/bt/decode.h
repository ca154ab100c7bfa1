/* SPDX-License-Identifier: MIT */
/* From babeltrace2's messages to the core's events, by the names in the event table. */
#ifndef MAGNET_CORRELATE_BT_DECODE_H
#define MAGNET_CORRELATE_BT_DECODE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "core.h"

struct decoder;

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);
/* False for events that are not magnet's. `text`: also the fields of those not in the table. */
bool decode_event(struct decoder *d, const bt_message *message, struct mg_event *out, bool text);
/* Whether it is magnet's own, as the direct reader has it (direct/layout.c). */
bool decode_is_own(const bt_trace *trace);
/* The CPU that this stream's events are of; -1: it has none, or none was read yet. */
int decode_cpu(const struct decoder *d, const bt_stream *stream);
/* Tells the core how many events there were of each of magnet's own traces. Before it is finished.
 */
void decode_tell_events(const struct decoder *d, struct core *core);

#endif
