/* SPDX-License-Identifier: MIT */
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer.h"
#include "render/report.h"
#include "render/session.h"
#include "render/show.h"

struct sink {
	struct core core;
	struct consumer consumer;
	bt_message_iterator *from;
	struct show show;
	bool is_report, json;
	json_t *session;
};

static const char *text_param(const bt_value *params, const char *name)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(params, name);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : NULL;
}

/* Names and values are checked: a misspelt parameter must not pass for a default. */
static bool params_ok(const bt_value *params, const char *const *names, char *bad, size_t size)
{
	uint64_t known = 0;

	for (; *names; names++) {
		const bt_value *v = bt_value_map_borrow_entry_value_const(params, *names);

		if (!v)
			continue;
		known++;
		if (!bt_value_is_string(v)) {
			snprintf(bad, size, "parameter `%s` must be a string", *names);
			return false;
		}
	}
	if (known == bt_value_map_get_size(params))
		return true;
	snprintf(bad, size, "unknown parameter (see babeltrace2 help sink.magnet)");
	return false;
}

static bt_component_class_initialize_method_status init(bt_self_component_sink *self,
	const bt_value *params, const char *const *names, struct sink **out)
{
	bt_self_component *component = bt_self_component_sink_as_self_component(self);
	const char *path;
	struct sink *s;
	char bad[128];

	if (!params_ok(params, names, bad, sizeof(bad))) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", bad);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	core_init(&s->core);
	s->show = (struct show){.to = stdout, .to_s = -1};
	path = text_param(params, "path");
	if (path)
		s->show.to = fopen(path, "we");
	if (!s->show.to || consumer_init(&s->consumer, &s->core)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			component, "cannot write %s", path ? path : "the output");
		free(s);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(component, s);
	if (bt_self_component_sink_add_input_port(self, "in", NULL, NULL) !=
		BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	*out = s;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* format= is `text`, which is the default, or `other`; anything else is refused. */
static bool format_is(
	bt_self_component_sink *self, const bt_value *params, const char *other, bool *is_other)
{
	const char *format = text_param(params, "format");

	*is_other = format && strcmp(format, other) == 0;
	if (!format || *is_other || strcmp(format, "text") == 0)
		return true;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self),
		"format is `text` or `%s`, not `%s`", other, format);
	return false;
}

/* session=FILE: the recording's session.json */
static bool read_session(bt_self_component_sink *self, const bt_value *params, struct sink *s)
{
	const char *path = text_param(params, "session");

	if (!path)
		return true;
	s->session = json_load_file(path, 0, NULL);
	if (s->session) {
		session_give_clock(&s->core, s->session);
		return true;
	}
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self), "%s cannot be read as JSON", path);
	return false;
}

bt_component_class_initialize_method_status sink_report_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	static const char *const names[] = {"path", "format", "session", NULL};
	bt_component_class_initialize_method_status status;
	struct sink *s;

	(void)configuration;
	(void)data;
	status = init(self, params, names, &s);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		return status;
	s->is_report = true;
	if (!format_is(self, params, "json", &s->json) || !read_session(self, params, s))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return status;
}

bt_component_class_initialize_method_status sink_show_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	static const char *const names[] = {"path", "format", "session", "flow", NULL};
	bt_component_class_initialize_method_status status;
	struct sink *s;

	(void)configuration;
	(void)data;
	status = init(self, params, names, &s);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		return status;
	if (!format_is(self, params, "tsv", &s->show.tsv) || !read_session(self, params, s))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	if (text_param(params, "flow"))
		s->show.flow = strdup(text_param(params, "flow"));
	core_listen(&s->core, show_event, &s->show);
	show_header(&s->show);
	return status;
}

static struct sink *data_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

bt_component_class_sink_graph_is_configured_method_status sink_configured(
	bt_self_component_sink *self)
{
	struct sink *s = data_of(self);

	return (bt_component_class_sink_graph_is_configured_method_status)
		bt_message_iterator_create_from_sink_component(
			self, bt_self_component_sink_borrow_input_port_by_index(self, 0), &s->from);
}

static void print_report(struct sink *s)
{
	struct report report;

	if (report_init(&report, &s->core, s->session, "trace") == 0) {
		if (s->json) {
			json_t *j = report_json(&report, NULL);

			json_dumpf(j, s->show.to, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
			fputc('\n', s->show.to);
			json_decref(j);
		} else {
			report_text(&report, s->show.to, NULL, false);
		}
	}
	report_free(&report);
}

bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sink *s = data_of(self);
	bt_message_iterator_next_status status = consumer_take(&s->consumer, s->from);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		consumer_finish(&s->consumer);
		if (s->is_report)
			print_report(s);
		if (fflush(s->show.to) != 0 || s->show.failed) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
				bt_self_component_sink_as_self_component(self),
				"cannot write the output");
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
		}
	}
	return (bt_component_class_sink_consume_method_status)status;
}

void sink_end(bt_self_component_sink *self)
{
	struct sink *s = data_of(self);

	if (!s)
		return;
	bt_message_iterator_put_ref(s->from);
	consumer_end(&s->consumer);
	core_free(&s->core);
	json_decref(s->session);
	free((char *)s->show.flow);
	if (s->show.to != stdout)
		fclose(s->show.to);
	free(s);
}
