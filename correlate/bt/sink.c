/* SPDX-License-Identifier: MIT */
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "consumer.h"
#include "params.h"
#include "render/report.h"
#include "render/show.h"

struct sink {
	struct core core;
	struct consumer consumer;
	bt_message_iterator *from;
	struct show show;     /* of a report: where to, and of which flow */
	struct demand demand; /* figures on demand */
	bool is_report, json;
	json_t *session;
};

static bt_component_class_initialize_method_status init(bt_self_component_sink *self,
	const bt_value *params, const struct param *known, struct sink **out)
{
	bt_self_component *component = bt_self_component_sink_as_self_component(self);
	const char *path;
	struct sink *s;
	char bad[128];

	if (!params_ok(params, known, bad, sizeof(bad))) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", bad);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	s = mg_calloc(1, sizeof(*s));
	if (!s)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	core_init(&s->core);
	s->show = (struct show){.to = stdout, .to_s = -1};
	path = param_text(params, "path");
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
	const char *format = param_text(params, "format");

	*is_other = format && strcmp(format, other) == 0;
	if (!format || *is_other || strcmp(format, "text") == 0)
		return true;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self),
		"format is `text` or `%s`, not `%s`", other, format);
	return false;
}

static bt_component_class_initialize_method_status refuse(
	bt_self_component_sink *self, const char *why)
{
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self), "%s", why);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

bt_component_class_initialize_method_status sink_report_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	static const struct param known[] = {{"path", PARAM_TEXT}, {"format", PARAM_TEXT},
		{"session", PARAM_TEXT}, {"flow", PARAM_TEXT}, {"on-demand", PARAM_TEXT}, {0}};
	bt_component_class_initialize_method_status status;
	char bad[400];
	struct sink *s;

	(void)configuration;
	(void)data;
	status = init(self, params, known, &s);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		return status;
	s->is_report = true;
	if (!format_is(self, params, "json", &s->json))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	if (!param_session(params, &s->core, &s->session, bad, sizeof(bad)))
		return refuse(self, bad);
	if (param_text(params, "flow"))
		s->show.flow = mg_strdup(param_text(params, "flow"));
	if (param_text(params, "on-demand")) {
		if (demand_parse(&s->demand, param_text(params, "on-demand"), bad, sizeof(bad)))
			return refuse(self, bad);
		core_keep_series(&s->core, DEMAND_MEMORY);
	}
	return status;
}

bt_component_class_initialize_method_status sink_show_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	static const struct param known[] = {{"path", PARAM_TEXT}, {"format", PARAM_TEXT},
		{"session", PARAM_TEXT}, {"flow", PARAM_TEXT}, {"from", PARAM_NUMBER},
		{"to", PARAM_NUMBER}, {0}};
	bt_component_class_initialize_method_status status;
	char bad[400];
	struct sink *s;

	(void)configuration;
	(void)data;
	status = init(self, params, known, &s);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		return status;
	if (!format_is(self, params, "tsv", &s->show.tsv))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	if (!param_session(params, &s->core, &s->session, bad, sizeof(bad)))
		return refuse(self, bad);
	if (param_text(params, "flow"))
		s->show.flow = mg_strdup(param_text(params, "flow"));
	param_number(params, "from", &s->show.from_s);
	param_number(params, "to", &s->show.to_s);
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

static bool has_flow(const struct report *r, const char *id)
{
	for (size_t i = 0; i < r->flow_count; i++)
		if (strcmp(flow_id(r->flows[i]), id) == 0)
			return true;
	return false;
}

/* False if it is of a flow that is not there. */
static bool print_report(struct sink *s)
{
	const char *flow = s->show.flow;
	struct report report;
	bool found = true;

	if (report_init(&report, &s->core, s->session, "trace") == 0) {
		report.demand = s->demand.figures ? &s->demand : NULL;
		found = !flow || has_flow(&report, flow);
		if (found && s->json && !flow) {
			report_json_print(&report, NULL, NULL, REPORT_DIGITS, s->show.to);
		} else if (found && s->json) {
			json_t *j = report_json(&report, flow);

			json_dumpf(
				j, s->show.to, JSON_INDENT(2) | JSON_REAL_PRECISION(REPORT_DIGITS));
			fputc('\n', s->show.to);
			json_decref(j);
		} else if (found) {
			report_text(&report, s->show.to, flow, false);
		}
	}
	report_free(&report);
	return found;
}

bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sink *s = data_of(self);
	bt_message_iterator_next_status status = consumer_take(&s->consumer, s->from);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		consumer_finish(&s->consumer);
		if (s->is_report && !print_report(s)) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
				bt_self_component_sink_as_self_component(self),
				"there is no flow %s in this trace", s->show.flow);
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
		}
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
