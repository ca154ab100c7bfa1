/* SPDX-License-Identifier: MIT */
/*
 * Events of LTTng's own kernel tracer (lttng-modules), converted to the core's as far as they
 * correspond. They count only where magnet's kernel tracer has not recorded the same.
 */
#ifndef MAGNET_CORRELATE_BT_LTTNG_H
#define MAGNET_CORRELATE_BT_LTTNG_H

#include <babeltrace2/babeltrace.h>

#include "core/contract.h"

struct lttng;

struct lttng *lttng_new(struct core *core);
void lttng_free(struct lttng *l);
/* Call it when a stream of any tracer begins. */
void lttng_stream(struct lttng *l, const bt_stream *stream);
/* Converts an event that is not magnet's. Returns 0 or a negative errno of the core. */
int lttng_event(struct lttng *l, const bt_message *message);
/* Counts events for which LTTng's ring had no room. */
int lttng_lost(
	struct lttng *l, const bt_stream *stream, uint64_t count, uint64_t from, uint64_t to);
/* Counts packets that LTTng overwrote while it recorded. */
int lttng_overwritten(struct lttng *l, const bt_stream *stream, uint64_t from, uint64_t to);
/* Passes on the segments that were held back until their successor gives their length. */
int lttng_finish(struct lttng *l);

#endif
