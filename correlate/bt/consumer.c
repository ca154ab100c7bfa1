/* SPDX-License-Identifier: MIT */
#include "consumer.h"

#include <errno.h>

#define TELL_EVERY 4096 /* messages between progress reports */

int consumer_init(struct consumer *c, struct core *core)
{
	*c = (struct consumer){.core = core, .decoder = decoder_new(), .lttng = lttng_new(core)};
	return c->decoder && c->lttng ? 0 : -ENOMEM;
}

void consumer_end(struct consumer *c)
{
	decoder_free(c->decoder);
	lttng_free(c->lttng);
	c->decoder = NULL;
	c->lttng = NULL;
}

/*
 * Counts LTTng's discarded events with the interval they fell into. The kernel tracer's own streams
 * carry the same count for babeltrace2 only; magnet uses the `lost` events, which say more.
 */
static void on_discarded(struct consumer *c, const bt_message *m)
{
	const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(m);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *domain =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, "domain");
	const bt_clock_snapshot *begin, *end;
	uint64_t count = 0, from, to;

	if (bt_message_discarded_events_get_count(m, &count) !=
			BT_PROPERTY_AVAILABILITY_AVAILABLE ||
		!bt_stream_class_discarded_events_have_default_clock_snapshots(
			bt_stream_borrow_class_const(stream)))
		return;
	begin = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(m);
	end = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(m);
	from = bt_clock_snapshot_get_value(begin);
	to = bt_clock_snapshot_get_value(end);
	if (domain && bt_value_is_string(domain) &&
		bt_value_string_get(domain)[0] == 'u') /* "ust" */
		core_lost_app(c->core, count, from, to, -1);
	else if (!c->error)
		c->error = lttng_lost(c->lttng, stream, count, from, to);
}

/*
 * Counts a gap in the packet numbers of a stream. In magnet's own streams the packets were removed.
 * LTTng overwrites packets while it records, in snapshots and in channels that do not discard: then
 * events are lost, and their number is unknown.
 */
static void on_missing_packets(struct consumer *c, const bt_message *m)
{
	const bt_stream *stream = bt_message_discarded_packets_borrow_stream_const(m);
	const bt_value *domain = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(stream), "domain");
	const char *name = domain && bt_value_is_string(domain) ? bt_value_string_get(domain) : "";
	bool is_app = name[0] == 'a' || name[0] == 'u'; /* "app" of magnet, "ust" of LTTng */
	uint64_t count, from, to;

	if (bt_message_discarded_packets_get_count(m, &count) !=
			BT_PROPERTY_AVAILABILITY_AVAILABLE ||
		!bt_stream_class_discarded_packets_have_default_clock_snapshots(
			bt_stream_borrow_class_const(stream)))
		return;
	from = bt_clock_snapshot_get_value(
		bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(m));
	to = bt_clock_snapshot_get_value(
		bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(m));
	if (decode_is_own(bt_stream_borrow_trace_const(stream)))
		core_missing_packets(c->core, is_app ? CORE_APP : CORE_KERNEL, count, from, to,
			decode_cpu(c->decoder, stream));
	else if (is_app)
		core_overwritten_app(c->core, from, to, decode_cpu(c->decoder, stream));
	else if (!c->error)
		c->error = lttng_overwritten(c->lttng, stream, from, to);
}

static void on_stream(struct consumer *c, const bt_stream *stream)
{
	if (!c->error &&
		!decode_reads(bt_stream_borrow_trace_const(stream), c->refused, sizeof(c->refused)))
		c->error = -EPROTONOSUPPORT;
	lttng_stream(c->lttng, stream);
}

bt_message_iterator_next_status consumer_take(struct consumer *c, bt_message_iterator *from)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	struct mg_event *room;
	uint64_t n;

	status = bt_message_iterator_next(from, &messages, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN && c->at_once)
		core_flush(c->core);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	/* progress needs a clock reading, which costs as much as an event: not for every message */
	if (c->progress && (c->messages + n) / TELL_EVERY > c->messages / TELL_EVERY)
		c->progress->tell(c->progress->arg, c->messages, 0);
	c->messages += n;
	for (uint64_t i = 0; i < n; i++) {
		switch (bt_message_get_type(messages[i])) {
		case BT_MESSAGE_TYPE_EVENT:
			if (c->error)
				break;
			room = core_room(c->core);
			if (!room)
				c->error = -ENOMEM;
			else if (decode_event(c->decoder, messages[i], room,
					 core_listener(c->core) != NULL))
				core_put(c->core);
			else
				c->error = lttng_event(c->lttng, messages[i]);
			break;
		case BT_MESSAGE_TYPE_STREAM_BEGINNING:
			on_stream(c, bt_message_stream_beginning_borrow_stream_const(messages[i]));
			break;
		case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
			on_discarded(c, messages[i]);
			break;
		case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
			on_missing_packets(c, messages[i]);
			break;
		default:
			break;
		}
		bt_message_put_ref(messages[i]);
	}
	if (core_lacks_memory(c->core))
		c->error = -ENOMEM;
	if (c->refused[0])
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR;
	return c->error ? BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR : status;
}

int consumer_finish(struct consumer *c)
{
	int err = c->error ? 0 : lttng_finish(c->lttng);

	if (err)
		c->error = err;
	decode_tell_events(c->decoder, c->core);
	err = core_finish(c->core);
	return c->error ? c->error : err;
}
