/* SPDX-License-Identifier: MIT */
/*
 * Derived events: results of the core, in a stream of their own beside those they come from:
 * magnet:joined_call, magnet:atom_tx and magnet:atom_rx.
 */
#ifndef MAGNET_CORRELATE_BT_DERIVED_H
#define MAGNET_CORRELATE_BT_DERIVED_H

#include <babeltrace2/babeltrace.h>

#include "core/contract.h"

enum derived_kind { DERIVED_CALL, DERIVED_TX, DERIVED_RX, DERIVED_KINDS };

struct derived {
	bt_self_message_iterator *iterator;
	struct core *core;
	bt_stream *stream; /* NULL until a clock is known */
	bt_event_class *class[DERIVED_KINDS];
	int64_t offset_ns; /* offset of the clock */
	uint64_t now;      /* present time of the clock */
};

/*
 * Return the message that begins or ends the derived stream, or NULL. The stream begins with the
 * first stream that has a clock, `like`, and takes over its clock.
 */
const bt_message *derived_begin(struct derived *d, const bt_stream *like);
const bt_message *derived_end(struct derived *d);
/* Sets the time of the following derived messages; an earlier time than the last is ignored. */
void derived_at(struct derived *d, const bt_clock_snapshot *time);
/* Return a message at that time; NULL if memory is short or the stream has not begun. */
const bt_message *derived_call(
	struct derived *d, const struct mg_event *e, const struct annotation *a);
const bt_message *derived_range(struct derived *d, const struct fact_range *r);
void derived_free(struct derived *d);

#endif
