/* SPDX-License-Identifier: MIT */
/*
 * LTTng's own kernel tracer (lttng-modules): its events as the core's, as far as they go. They
 * count only where magnet's own kernel tracer has not recorded the same things.
 */
#ifndef MAGNET_CORRELATE_BT_LTTNG_H
#define MAGNET_CORRELATE_BT_LTTNG_H

#include <babeltrace2/babeltrace.h>

#include "core.h"

struct lttng;

struct lttng *lttng_new(struct core *core);
void lttng_free(struct lttng *l);
/* A stream of any tracer begins. */
void lttng_stream(struct lttng *l, const bt_stream *stream);
/* An event that is none of magnet's. Returns 0 or a negative errno of the core. */
int lttng_event(struct lttng *l, const bt_message *message);
/* Events its ring had no room for. */
int lttng_lost(
	struct lttng *l, const bt_stream *stream, uint64_t count, uint64_t from, uint64_t to);
/* Packets that it overwrote as it recorded. */
int lttng_overwritten(struct lttng *l, const bt_stream *stream, uint64_t from, uint64_t to);
/* What is held back until the next one tells how long it was. */
int lttng_finish(struct lttng *l);

#endif
