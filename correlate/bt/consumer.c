/* SPDX-License-Identifier: MIT */
#include "consumer.h"

#include <errno.h>

#define TELL_EVERY 4096 /* messages */

int consumer_init(struct consumer *c, struct core *core)
{
	*c = (struct consumer){.core = core, .decoder = decoder_new()};
	return c->decoder ? 0 : -ENOMEM;
}

void consumer_end(struct consumer *c)
{
	decoder_free(c->decoder);
	c->decoder = NULL;
}

/*
 * LTTng's discarded events, with the interval they fell in. The kernel tracer's own streams carry
 * the same count for babeltrace2's sake; there the `lost` events say it better.
 */
static void on_discarded(struct consumer *c, const bt_message *m)
{
	const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(m);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *domain =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, "domain");
	const bt_clock_snapshot *from, *to;
	uint64_t count = 0;

	if (!domain || !bt_value_is_string(domain) ||
		bt_value_string_get(domain)[0] != 'u') /* "ust" */
		return;
	if (bt_message_discarded_events_get_count(m, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		return;
	from = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(m);
	to = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(m);
	core_lost_app(c->core, count, bt_clock_snapshot_get_value(from),
		bt_clock_snapshot_get_value(to), -1);
}

bt_message_iterator_next_status consumer_take(struct consumer *c, bt_message_iterator *from)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	struct mg_event event;
	uint64_t n;

	status = bt_message_iterator_next(from, &messages, &n);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	/* looking at the clock costs as much as an event: not each time */
	if (c->progress && (c->messages + n) / TELL_EVERY > c->messages / TELL_EVERY)
		c->progress->tell(c->progress->arg, c->messages, 0);
	c->messages += n;
	for (uint64_t i = 0; i < n; i++) {
		switch (bt_message_get_type(messages[i])) {
		case BT_MESSAGE_TYPE_EVENT:
			if (!decode_event(
				    c->decoder, messages[i], &event, c->core->listener != NULL))
				c->foreign++;
			else if (!c->error)
				c->error = core_push(c->core, &event);
			break;
		case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
			on_discarded(c, messages[i]);
			break;
		default:
			break;
		}
		bt_message_put_ref(messages[i]);
	}
	return c->error ? BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR : status;
}
