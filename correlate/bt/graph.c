/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bounds.h"
#include "consumer.h"
#include "plugins.h"
#include "sane.h"

/* ---- graphs ---- */

#define PLUGINS_SIZE (16u << 20) /* bytes; more than the plugins and their libraries take */

/*
 * Reports in nanoseconds that times go back, if babeltrace2's message is about that. Returns
 * whether it is.
 */
static bool says_backwards(const char *message, char *why, size_t size)
{
	const char *at = strstr(message, " ts="), *before = strstr(message, "last-returned-ts=");
	int64_t ns;

	if (!strstr(message, "timestamp is less than") || !at || !before)
		return false;
	ns = strtoll(before + 17, NULL, 10) - strtoll(at + 4, NULL, 10);
	snprintf(why, size,
		"the trace is damaged: its time goes back by %lld ns, and babeltrace2 reads no "
		"further",
		(long long)ns);
	return true;
}

/* Reports babeltrace2's innermost error cause that is not about components. */
static void take_error(char *why, size_t size)
{
	const bt_error *e = bt_current_thread_take_error();
	uint64_t causes = e ? bt_error_get_cause_count(e) : 0;

	const char *message =
		causes ? bt_error_cause_get_message(bt_error_borrow_cause_by_index(e, 0)) : NULL;

	if (message && !says_backwards(message, why, size))
		snprintf(why, size, "the trace is damaged: %s", message);
	else if (!message)
		snprintf(why, size, "the trace cannot be read");
	if (e)
		bt_error_release(e);
}

static const bt_component_class_source *ctf_fs(const bt_plugin **plugin)
{
	*plugin = mg_bt_plugin("ctf");
	if (!*plugin)
		return NULL;
	return bt_plugin_borrow_source_component_class_by_name_const(*plugin, "fs");
}

static const bt_component_class_filter *muxer(const bt_plugin **plugin)
{
	*plugin = mg_bt_plugin("utils");
	if (!*plugin)
		return NULL;
	return bt_plugin_borrow_filter_component_class_by_name_const(*plugin, "muxer");
}

static bt_value *source_params(const char *path, int64_t shift_ns)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (params && (bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) !=
				      BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
			      bt_value_array_append_string_element(inputs, path) !=
				      BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
			      (shift_ns && bt_value_map_insert_signed_integer_entry(
						   params, "clock-class-offset-ns", shift_ns) !=
						   BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK))) {
		bt_value_put_ref(params);
		return NULL;
	}
	return params;
}

struct clock_query {
	int64_t offset_ns;
	uint8_t uuid[16]; /* LTTng and magnet store the boot id */
	bool known, has_uuid;
};

static bt_graph_simple_sink_component_consume_func_status query_clock(
	bt_message_iterator *it, void *data)
{
	struct clock_query *q = data;
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	uint64_t n;

	status = bt_message_iterator_next(it, &messages, &n);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (uint64_t i = 0; i < n; i++) {
		if (bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
			const bt_clock_class *c = bt_stream_class_borrow_default_clock_class_const(
				bt_stream_borrow_class_const(
					bt_message_stream_beginning_borrow_stream_const(
						messages[i])));
			int64_t seconds;
			uint64_t cycles;

			if (c && bt_clock_class_get_frequency(c) == 1000000000) {
				bt_clock_class_get_offset(c, &seconds, &cycles);
				q->offset_ns = seconds * 1000000000 + (int64_t)cycles;
				q->known = true;
				q->has_uuid = bt_clock_class_get_uuid(c);
				if (q->has_uuid)
					memcpy(q->uuid, bt_clock_class_get_uuid(c), 16);
			}
		}
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

/*
 * Reads a trace's clock with a graph of one source and a sink that looks at the first messages
 * only.
 */
static int read_clock(const char *path, struct clock_query *q)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class = ctf_fs(&plugin);
	const bt_component_source *source;
	const bt_component_sink *sink;
	bt_graph *graph = bt_graph_create(0);
	bt_value *params = source_params(path, 0);
	char ignored[64];
	int err = -EIO;

	memset(q, 0, sizeof(*q));
	if (!class || !graph || !params)
		goto out;
	if (bt_graph_add_source_component(graph, class, "source", params, BT_LOGGING_LEVEL_NONE,
		    &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		goto out;
	if (bt_component_source_get_output_port_count(source) == 0) {
		err = -ENODATA;
		goto out;
	}
	if (bt_graph_add_simple_sink_component(graph, "sink", NULL, query_clock, NULL, q, &sink) !=
			BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
		bt_graph_connect_ports(graph,
			bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0),
			NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
		goto out;
	bt_graph_run_once(graph);
	err = q->known ? 0 : -ENODATA;
out:
	take_error(ignored, sizeof(ignored));
	bt_value_put_ref(params);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	return err;
}

int mg_trace_clock_offset(const char *path, int64_t *offset_ns)
{
	struct clock_query q;
	int err = read_clock(path, &q);

	*offset_ns = q.offset_ns;
	return err;
}

static bt_graph_simple_sink_component_consume_func_status consume(
	bt_message_iterator *it, void *data)
{
	return (bt_graph_simple_sink_component_consume_func_status)consumer_take(data, it);
}

/* Connects all ports of one source to the muxer, whose next free input is always its last port. */
static int add_source(bt_graph *graph, const bt_component_class_source *class,
	const bt_component_filter *mux, const char *path, int64_t shift_ns, size_t number)
{
	bt_value *params = source_params(path, shift_ns);
	const bt_component_source *source;
	char name[32];
	uint64_t ports;

	snprintf(name, sizeof(name), "source%zu", number);
	if (!params ||
		bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_NONE,
			&source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
		bt_value_put_ref(params);
		return -EIO;
	}
	bt_value_put_ref(params);
	ports = bt_component_source_get_output_port_count(source);
	for (uint64_t i = 0; i < ports; i++) {
		uint64_t last = bt_component_filter_get_input_port_count(mux) - 1;

		if (bt_graph_connect_ports(graph,
			    bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(mux, last),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return -EIO;
	}
	return 0;
}

/*
 * Computes the shift that aligns a trace's clock with the first trace's. Traces of one machine
 * share a clock, but each writer measured its wall-clock offset for itself; with the first trace's
 * offset all merge in the clock's own order. Returns false for clocks of two boots or hosts, which
 * share only the time of day: joining events by it would be wrong.
 */
static bool shift_to(const struct clock_query *first, const char *path, int64_t *shift_ns)
{
	struct clock_query q;

	*shift_ns = 0;
	if (!first->known || read_clock(path, &q))
		return true;
	*shift_ns = first->offset_ns - q.offset_ns;
	if (first->has_uuid && q.has_uuid)
		return memcmp(first->uuid, q.uuid, sizeof(q.uuid)) == 0;
	/* more than a second apart is no measurement error */
	return llabs(*shift_ns) <= 1000000000;
}

static int run(bt_graph *graph)
{
	bt_graph_run_status status;

	do {
		status = bt_graph_run(graph);
	} while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	return status == BT_GRAPH_RUN_STATUS_OK ? 0 : -EIO;
}

int mg_read_traces(const struct mg_traces *t, struct core *core, const struct progress *progress,
	char *why, size_t why_size)
{
	const bt_plugin *ctf = NULL, *utils = NULL;
	const bt_component_class_source *source_class = ctf_fs(&ctf);
	const bt_component_class_filter *mux_class = muxer(&utils);
	bt_graph *graph = bt_graph_create(0);
	const bt_component_filter *mux;
	const bt_component_sink *sink;
	struct consumer consumer;
	struct clock_query first;
	int64_t shift_ns = 0;
	int err = consumer_init(&consumer, core), finished;

	consumer.progress = progress;
	bounds_begin(t, &consumer.messages);
	snprintf(why, why_size, "babeltrace2's ctf and utils plugins are missing");
	if (!source_class || !mux_class) /* the loader reports a lack of memory no differently */
		free(mg_malloc(PLUGINS_SIZE));
	if (err || !source_class || !mux_class || !graph) {
		err = -ENOENT;
		goto out;
	}
	err = -EIO;
	if (bt_graph_add_filter_component(graph, mux_class, "mux", NULL, BT_LOGGING_LEVEL_NONE,
		    &mux) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
		bt_graph_add_simple_sink_component(graph, "core", NULL, consume, NULL, &consumer,
			&sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		goto failed;
	for (size_t i = 0; i < t->count; i++)
		if (!trace_is_sane(t->path[i], why, why_size))
			goto out;
	read_clock(t->path[0], &first);
	for (size_t i = 0; i < t->count; i++) {
		if (i && !shift_to(&first, t->path[i], &shift_ns)) {
			snprintf(why, why_size,
				"%s and %s are of two hosts, or two boots of one: their clocks do "
				"not "
				"belong together",
				t->path[0], t->path[i]);
			goto out;
		}
		if (add_source(graph, source_class, mux, t->path[i], shift_ns, i))
			goto failed;
	}
	if (bt_graph_connect_ports(graph,
		    bt_component_filter_borrow_output_port_by_index_const(mux, 0),
		    bt_component_sink_borrow_input_port_by_index_const(sink, 0),
		    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
		goto failed;
	err = run(graph);
	bounds_end();
	finished = consumer_finish(&consumer); /* the events read before a failure count */
	if (!err)
		err = finished;
	if (!err)
		goto out;
failed:
	take_error(why, why_size);
out:
	bounds_end();
	consumer_end(&consumer);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
	if (!core_lacks_memory(core))
		return err;
	snprintf(why, why_size, "out of memory");
	return -ENOMEM;
}
