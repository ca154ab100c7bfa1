/* SPDX-License-Identifier: MIT */
#include "sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "consumer.h"
#include "json_memory.h"
#include "params.h"
#include "render/report.h"
#include "render/show.h"

/*
 * A report being printed. Text is collected in memory first, so that no partial text passes for the
 * whole.
 */
struct printing {
	struct report report;
	FILE *to;
	char *text;
	size_t size;
};

struct sink {
	struct core *core;
	struct consumer consumer;
	bt_message_iterator *from;
	struct show show;     /* for a report: output and wanted flow */
	struct demand demand; /* figures on demand */
	bool is_report, json;
	json_t *session;
	struct filter filter; /* the window that is shown */
	struct printing printing;
};

static void free_sink(struct sink *s)
{
	bt_message_iterator_put_ref(s->from);
	consumer_end(&s->consumer);
	core_delete(s->core);
	filter_free(&s->filter);
	json_decref(s->session);
	free((char *)s->show.flow);
	if (s->show.to && s->show.to != stdout)
		fclose(s->show.to);
	free(s);
}

/* Frees the component: one whose initialisation fails is not finalised. */
static bt_component_class_initialize_method_status give_up(struct sink *s)
{
	bool refused = core_lacks_memory(s->core);

	free_sink(s);
	return refused ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR
		       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

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
	s->core = core_new();
	if (!s->core) {
		free(s);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	figures_attach(s->core);
	s->show = (struct show){.to = stdout, .core = s->core};
	path = param_text(params, "path");
	if (path)
		s->show.to = mg_checked(fopen(path, "we"));
	if (!s->show.to) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			component, "cannot write %s: %s", path, strerror(errno));
		return give_up(s);
	}
	consumer_init(&s->consumer, s->core);
	if (param_text(params, "flow"))
		s->show.flow = mg_strdup(param_text(params, "flow"));
	if (core_lacks_memory(s->core) || bt_self_component_sink_add_input_port(self, "in", NULL,
						  NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return give_up(s);
	*out = s;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* Ends a component's initialisation. */
static bt_component_class_initialize_method_status initialized(
	bt_self_component_sink *self, struct sink *s)
{
	if (core_lacks_memory(s->core))
		return give_up(s);
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), s);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* Reads format=, which is `text`, the default, or `other`. Returns false for any other value. */
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
	bt_self_component_sink *self, struct sink *s, const char *why)
{
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self), "%s", why);
	return give_up(s);
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
		return give_up(s);
	if (!param_session(params, s->core, &s->session, bad, sizeof(bad)))
		return refuse(self, s, bad);
	if (param_text(params, "on-demand")) {
		if (demand_parse(&s->demand, param_text(params, "on-demand"), bad, sizeof(bad)))
			return refuse(self, s, bad);
		figures_keep_series(s->core, DEMAND_MEMORY);
	}
	return initialized(self, s);
}

/* Takes from= and to=, in seconds. Returns false if they are no times, or without memory. */
static bool choose_window(struct sink *s, const bt_value *params)
{
	double from = 0, to = -1;

	param_number(params, "from", &from);
	param_number(params, "to", &to);
	if (from == 0 && to < 0)
		return true;
	s->filter.from_ns = (uint64_t)(from * 1e9);
	s->filter.to_ns = to < 0 ? 0 : (uint64_t)(to * 1e9);
	s->show.filter = &s->filter;
	return from >= 0 && from < 1e9 && to < 1e9 && filter_begin(&s->filter);
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
		return give_up(s);
	if (!param_session(params, s->core, &s->session, bad, sizeof(bad)))
		return refuse(self, s, bad);
	if (!choose_window(s, params))
		return refuse(self, s, "from= and to= are seconds, 0 or more");
	s->consumer.at_once = true;
	core_listen(s->core, show_event, &s->show);
	show_header(&s->show);
	return initialized(self, s);
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
	return report_find_flow(r, id) < r->flow_count;
}

static void print_text(struct sink *s)
{
	struct printing *p = &s->printing;

	p->report.detail.all = true; /* a component has no options of the report */
	p->to = mg_text_open(&p->text, &p->size);
	report_text(&p->report, p->to, s->show.flow, false);
	if (fflush(p->to) != 0 || ferror(p->to))
		mg_memory_failed();
	fwrite(p->text, 1, p->size, s->show.to);
}

static void print_json(const struct sink *s)
{
	const struct report *r = &s->printing.report;
	json_t *j;

	if (!s->show.flow) {
		report_json_print(r, NULL, REPORT_DIGITS, s->show.to);
		return;
	}
	j = report_json(r, s->show.flow);
	json_dumpf(j, s->show.to,
		JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REPORT_DIGITS));
	fputc('\n', s->show.to);
	json_decref(j);
}

/* Prints the report. Returns false if the wanted flow does not exist. */
static bool print(struct sink *s)
{
	struct report *r = &s->printing.report;

	if (report_init(r, s->core, s->session, NULL))
		return true;
	r->demand = s->demand.figures ? &s->demand : NULL;
	if (s->show.flow && !has_flow(r, s->show.flow))
		return false;
	if (s->json)
		print_json(s);
	else
		print_text(s);
	return true;
}

/*
 * Prints the report, abandoning it if an allocation fails. Returns false if the flow does not
 * exist.
 */
static bool print_report(struct sink *s)
{
	volatile bool found = true;
	jmp_buf escape;

	json_memory_begin(); /* other components wait until json_memory_end() */
	if (setjmp(escape) == 0) {
		mg_memory_escape(&escape);
		found = print(s);
	}
	mg_memory_escape(NULL);
	json_memory_end();
	if (s->printing.to)
		fclose(s->printing.to);
	free(s->printing.text);
	report_free(&s->printing.report);
	return found;
}

bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sink *s = data_of(self);
	bt_message_iterator_next_status status = consumer_take(&s->consumer, s->from);

	if (s->consumer.refused[0])
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			bt_self_component_sink_as_self_component(self), "%s", s->consumer.refused);
	/* a live session has nothing more for now: let the reader see what there is */
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN && !s->is_report)
		s->show.failed |= fflush(s->show.to) != 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		bool found = consumer_finish(&s->consumer) || !s->is_report || print_report(s);

		if (core_lacks_memory(s->core))
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
		if (!found) {
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

	if (s)
		free_sink(s);
}
