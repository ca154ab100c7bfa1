/* SPDX-License-Identifier: MIT */
/*
 * The filter components. The flow of an event is known only once the core has seen the events up to
 * the next clock reading; until then messages are held back in their order, and then pass or are
 * dropped.
 */
#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "decode.h"
#include "derived.h"
#include "holding.h"
#include "params.h"
#include "render/report.h"
#include "render/session.h"

struct event_filter {
	char *flow; /* NULL: any */
	double pid, tid;
	bool has_pid, has_tid;
	bool join; /* all events pass, with derived events added */
	json_t *session;
};

struct iterator {
	const struct event_filter *filter;
	bt_message_iterator *from;
	struct core *core;
	struct decoder *decoder;
	struct holding holding;
	struct derived derived;
	bool ended;
	char refused[1024]; /* why a trace of magnet's cannot be read; "" all can */
};

/* ---- the component ---- */

static const struct param known[] = {{"flow", PARAM_TEXT}, {"pid", PARAM_NUMBER},
	{"tid", PARAM_NUMBER}, {"session", PARAM_TEXT}, {0}};

static const struct param known_to_join[] = {{"session", PARAM_TEXT}, {0}};

static bool take_params(struct event_filter *f, const bt_value *params, char *bad, size_t size)
{
	struct core *none;
	bool ok;

	if (!params_ok(params, f->join ? known_to_join : known, bad, size))
		return false;
	if (param_text(params, "flow"))
		f->flow = mg_strdup(param_text(params, "flow"));
	f->has_pid = param_number(params, "pid", &f->pid);
	f->has_tid = param_number(params, "tid", &f->tid);
	if (!f->join && !f->flow && !f->has_pid && !f->has_tid) {
		snprintf(bad, size, "give flow=, pid= or tid=: which events are to pass");
		return false;
	}
	none = core_new(); /* each iterator passes it to its own core */
	ok = none && param_session(params, none, &f->session, bad, size);
	core_delete(none);
	return ok;
}

static void free_filter(struct event_filter *f)
{
	json_decref(f->session);
	free(f->flow);
	free(f);
}

static bt_component_class_initialize_method_status init(
	bt_self_component_filter *self, const bt_value *params, bool join)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	unsigned long refused = mg_memory_failures();
	struct event_filter *f = mg_calloc(1, sizeof(*f));
	char bad[256];
	bool ok;

	if (!f)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	f->join = join;
	ok = take_params(f, params, bad, sizeof(bad));
	if (!ok)
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", bad);
	ok = ok && mg_memory_failures() == refused &&
	     bt_self_component_filter_add_input_port(self, "in", NULL, NULL) ==
		     BT_SELF_COMPONENT_ADD_PORT_STATUS_OK &&
	     bt_self_component_filter_add_output_port(self, "out", NULL, NULL) ==
		     BT_SELF_COMPONENT_ADD_PORT_STATUS_OK;
	if (!ok) { /* the component is not finalised then */
		free_filter(f);
		return mg_memory_failures() == refused
			       ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR
			       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, f);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_initialize_method_status filter_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data)
{
	(void)configuration;
	(void)data;
	return init(self, params, false);
}

bt_component_class_initialize_method_status join_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data)
{
	(void)configuration;
	(void)data;
	return init(self, params, true);
}

void filter_end(bt_self_component_filter *self)
{
	struct event_filter *f =
		bt_self_component_get_data(bt_self_component_filter_as_self_component(self));

	if (f)
		free_filter(f);
}

/* ---- verdicts ---- */

/*
 * Returns whether the event belongs to the wanted flow; "4097" means both directions, "4097/tx"
 * one.
 */
static bool is_flow(const char *wanted, const struct annotation *a)
{
	char name[32];

	if (!a->sock)
		return false;
	flow_name(name, annotated_flow(a).sock, a->rx);
	if (!strchr(wanted, '/'))
		name[strcspn(name, "/")] = 0;
	return strcmp(name, wanted) == 0;
}

static bool is_wanted(
	const struct event_filter *f, const struct mg_event *e, const struct annotation *a)
{
	return (!f->flow || is_flow(f->flow, a)) && (!f->has_pid || e->pid == f->pid) &&
	       (!f->has_tid || e->tid == f->tid);
}

/*
 * Adds a derived event for a byte range; called while the event that completes the range is judged.
 */
static void on_range(void *arg, const void *range)
{
	struct iterator *it = arg;
	const struct held *h = holding_next(&it->holding);
	const struct fact_range *r = range;

	if (r->outcome != OUTCOME_FOLLOWED)
		return;
	if (h)
		derived_at(&it->derived,
			bt_message_event_borrow_default_clock_snapshot_const(h->message));
	holding_add(&it->holding, derived_range(&it->derived, r));
}

static void judge(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct iterator *it = arg;
	struct held *h = holding_next(&it->holding);

	if (!h)
		return;
	it->holding.judged++;
	h->verdict = it->filter->join || is_wanted(it->filter, e, a) ? PASSES : STAYS;
	if (!it->filter->join)
		return;
	derived_at(&it->derived, bt_message_event_borrow_default_clock_snapshot_const(h->message));
	if (annotated_states(a))
		holding_add(&it->holding, derived_call(&it->derived, e, a));
	holding_attach(&it->holding, h);
}

/* ---- messages ---- */

/* Takes one message: stream, packet and loss messages pass; events wait for the core's verdict. */
static bool take(struct iterator *it, const bt_message *m)
{
	bool begins_stream = bt_message_get_type(m) == BT_MESSAGE_TYPE_STREAM_BEGINNING;
	struct mg_event e;

	if (begins_stream &&
		!decode_reads(bt_stream_borrow_trace_const(
				      bt_message_stream_beginning_borrow_stream_const(m)),
			it->refused, sizeof(it->refused))) {
		bt_message_put_ref(m);
		return false;
	}
	if (begins_stream && it->filter->join) {
		const bt_message *begins = derived_begin(
			&it->derived, bt_message_stream_beginning_borrow_stream_const(m));

		return holding_put(&it->holding, m, PASSES) &&
		       (!begins || holding_put(&it->holding, begins, PASSES));
	}
	if (bt_message_get_type(m) != BT_MESSAGE_TYPE_EVENT)
		return holding_put(&it->holding, m, PASSES);
	if (!decode_event(it->decoder, m, &e, false)) {
		if (it->filter->join)
			return holding_put(&it->holding, m, PASSES);
		bt_message_put_ref(m);
		return true;
	}
	return holding_put(&it->holding, m, WAITS) && core_push(it->core, &e) == 0;
}

static bool begin(struct iterator *it)
{
	it->core = core_new();
	if (!it->core)
		return false;
	if (it->filter->session)
		session_tell(it->core, it->filter->session);
	core_listen(it->core, judge, it);
	if (it->filter->join)
		facts_listen(core_facts(it->core), FACT_range, on_range, it);
	it->derived.core = it->core;
	it->derived.now = 0;
	it->holding.fresh_end = &it->holding.fresh;
	it->decoder = decoder_new();
	it->ended = false;
	return it->decoder;
}

static void end(struct iterator *it)
{
	holding_drop(&it->holding);
	derived_free(&it->derived);
	core_delete(it->core);
	it->core = NULL;
	decoder_free(it->decoder);
	it->decoder = NULL;
}

static void free_iterator(struct iterator *it)
{
	end(it);
	bt_message_iterator_put_ref(it->from);
	free(it->holding.held);
	free(it);
}

bt_message_iterator_class_initialize_method_status filter_iterator_init(
	bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
	bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *it = mg_calloc(1, sizeof(*it));

	(void)port;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->filter = bt_self_component_get_data(component);
	it->derived.iterator = self;
	if (bt_message_iterator_create_from_message_iterator(self,
		    bt_self_component_filter_borrow_input_port_by_index(
			    (bt_self_component_filter *)component, 0),
		    &it->from) != BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (!begin(it)) {
		free_iterator(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_message_iterator_configuration_set_can_seek_forward(
		configuration, bt_message_iterator_can_seek_forward(it->from));
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void filter_iterator_end(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	if (it)
		free_iterator(it);
}

/* Fetches the next messages from upstream; at their end the core settles what it still holds. */
static bt_message_iterator_next_status fetch(struct iterator *it)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	bool ok = true;
	uint64_t n;

	status = bt_message_iterator_next(it->from, &messages, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		it->ended = true;
		core_finish(it->core);
		holding_add(&it->holding, it->filter->join ? derived_end(&it->derived) : NULL);
		holding_end(&it->holding);
		return core_lacks_memory(it->core) ? BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR
						   : BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	for (uint64_t i = 0; i < n; i++)
		if (ok)
			ok = take(it, messages[i]);
		else
			bt_message_put_ref(messages[i]);
	if (it->refused[0]) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			it->derived.iterator, "%s", it->refused);
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR;
	}
	return ok && !core_lacks_memory(it->core) ? status
						  : BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
}

bt_message_iterator_class_next_method_status filter_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;

	while ((*count = holding_give(&it->holding, messages, capacity)) == 0) {
		if (it->ended)
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		status = fetch(it);
		if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
			return (bt_message_iterator_class_next_method_status)status;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

bt_message_iterator_class_seek_beginning_method_status filter_seek_beginning(
	bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_seek_beginning_status status =
		bt_message_iterator_seek_beginning(it->from);

	if (status != BT_MESSAGE_ITERATOR_SEEK_BEGINNING_STATUS_OK)
		return (bt_message_iterator_class_seek_beginning_method_status)status;
	end(it);
	return begin(it) ? BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK
			 : BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_MEMORY_ERROR;
}

bt_message_iterator_class_can_seek_beginning_method_status filter_can_seek_beginning(
	bt_self_message_iterator *self, bt_bool *can_seek)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	return (bt_message_iterator_class_can_seek_beginning_method_status)
		bt_message_iterator_can_seek_beginning(it->from, can_seek);
}
