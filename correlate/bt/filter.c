/* SPDX-License-Identifier: MIT */
/*
 * To which flow an event belongs is known only when the core has seen what follows it, up to the
 * next reading of the clock: messages are held back so long, in their order, and then pass or not.
 */
#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "params.h"
#include "render/report.h"
#include "render/session.h"

struct filter {
	char *flow; /* NULL: any */
	double pid, tid;
	bool has_pid, has_tid;
	json_t *session;
};

enum verdict { WAITS, PASSES, STAYS };
struct held {
	const bt_message *message;
	enum verdict verdict;
};

struct iterator {
	const struct filter *filter;
	bt_message_iterator *from;
	struct core core;
	struct decoder *decoder;
	struct held *held; /* held[head .. head + n) */
	size_t head, n, cap;
	size_t judged; /* so many of these have a verdict, or there is none to come before them */
	bool ended;
};

/* ---- the component ---- */

static const struct param known[] = {{"flow", PARAM_TEXT}, {"pid", PARAM_NUMBER},
	{"tid", PARAM_NUMBER}, {"session", PARAM_TEXT}, {0}};

static bool take_params(struct filter *f, const bt_value *params, char *bad, size_t size)
{
	struct core none;

	if (!params_ok(params, known, bad, size))
		return false;
	if (param_text(params, "flow"))
		f->flow = strdup(param_text(params, "flow"));
	f->has_pid = param_number(params, "pid", &f->pid);
	f->has_tid = param_number(params, "tid", &f->tid);
	if (!f->flow && !f->has_pid && !f->has_tid) {
		snprintf(bad, size, "give flow=, pid= or tid=: which events are to pass");
		return false;
	}
	core_init(&none); /* each iterator gives it to a core of its own */
	if (!param_session(params, &none, &f->session, bad, size))
		return false;
	core_free(&none);
	return true;
}

bt_component_class_initialize_method_status filter_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	struct filter *f = calloc(1, sizeof(*f));
	char bad[256];

	(void)configuration;
	(void)data;
	if (!f)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (!take_params(f, params, bad, sizeof(bad))) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", bad);
		free(f->flow);
		free(f);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(component, f);
	if (bt_self_component_filter_add_input_port(self, "in", NULL, NULL) !=
			BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ||
		bt_self_component_filter_add_output_port(self, "out", NULL, NULL) !=
			BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void filter_end(bt_self_component_filter *self)
{
	struct filter *f =
		bt_self_component_get_data(bt_self_component_filter_as_self_component(self));

	if (!f)
		return;
	json_decref(f->session);
	free(f->flow);
	free(f);
}

/* ---- verdicts ---- */

/* "4097" are both directions of "4097/tx". */
static bool is_flow(const char *wanted, const struct annotation *a)
{
	char name[32];

	if (!a->sock)
		return false;
	flow_name(name, a->sock->cookie, a->rx);
	if (!strchr(wanted, '/'))
		name[strcspn(name, "/")] = 0;
	return strcmp(name, wanted) == 0;
}

static bool is_wanted(const struct filter *f, const struct mg_event *e, const struct annotation *a)
{
	return (!f->flow || is_flow(f->flow, a)) && (!f->has_pid || e->pid == f->pid) &&
	       (!f->has_tid || e->tid == f->tid);
}

/* The core tells of events in the order in which it was given them. */
static void judge(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct iterator *it = arg;

	while (it->judged < it->n && it->held[it->head + it->judged].verdict != WAITS)
		it->judged++;
	if (it->judged == it->n)
		return;
	it->held[it->head + it->judged++].verdict = is_wanted(it->filter, e, a) ? PASSES : STAYS;
}

/* ---- messages ---- */

static bool hold(struct iterator *it, const bt_message *m, enum verdict verdict)
{
	if (it->head && it->head + it->n == it->cap) {
		memmove(it->held, it->held + it->head, it->n * sizeof(*it->held));
		it->head = 0;
	}
	if (it->n == it->cap) {
		size_t cap = it->cap ? it->cap * 2 : 256;
		struct held *more = realloc(it->held, cap * sizeof(*more));

		if (!more)
			return false;
		it->held = more;
		it->cap = cap;
	}
	it->held[it->head + it->n++] = (struct held){m, verdict};
	return true;
}

/* Streams, packets, losses and progress pass; events wait for what the core makes of them. */
static bool take(struct iterator *it, const bt_message *m)
{
	struct mg_event e;

	if (bt_message_get_type(m) != BT_MESSAGE_TYPE_EVENT)
		return hold(it, m, PASSES);
	if (!decode_event(it->decoder, m, &e, false)) {
		bt_message_put_ref(m);
		return true;
	}
	return hold(it, m, WAITS) && core_push(&it->core, &e) == 0;
}

static void drop_all(struct iterator *it)
{
	for (size_t i = 0; i < it->n; i++)
		bt_message_put_ref(it->held[it->head + i].message);
	it->head = it->n = it->judged = 0;
}

static bool begin(struct iterator *it)
{
	core_init(&it->core);
	if (it->filter->session)
		session_give_clock(&it->core, it->filter->session);
	core_listen(&it->core, judge, it);
	it->decoder = decoder_new();
	it->ended = false;
	return it->decoder;
}

static void end(struct iterator *it)
{
	drop_all(it);
	core_free(&it->core);
	decoder_free(it->decoder);
	it->decoder = NULL;
}

bt_message_iterator_class_initialize_method_status filter_iterator_init(
	bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
	bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *it = calloc(1, sizeof(*it));

	(void)port;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->filter = bt_self_component_get_data(component);
	if (bt_message_iterator_create_from_message_iterator(self,
		    bt_self_component_filter_borrow_input_port_by_index(
			    (bt_self_component_filter *)component, 0),
		    &it->from) != BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK ||
		!begin(it)) {
		bt_message_iterator_put_ref(it->from);
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_configuration_set_can_seek_forward(
		configuration, bt_message_iterator_can_seek_forward(it->from));
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void filter_iterator_end(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	if (!it)
		return;
	end(it);
	bt_message_iterator_put_ref(it->from);
	free(it->held);
	free(it);
}

/* What is judged at the front; how many pass. */
static uint64_t give(struct iterator *it, bt_message_array_const messages, uint64_t capacity)
{
	uint64_t count = 0;

	while (it->n && count < capacity && it->held[it->head].verdict != WAITS) {
		struct held *h = &it->held[it->head];

		if (h->verdict == PASSES)
			messages[count++] = h->message;
		else
			bt_message_put_ref(h->message);
		it->head++;
		it->n--;
		it->judged -= it->judged > 0;
	}
	return count;
}

/* The next messages from upstream; at their end the core settles what it still holds. */
static bt_message_iterator_next_status fetch(struct iterator *it)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	bool ok = true;
	uint64_t n;

	status = bt_message_iterator_next(it->from, &messages, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		it->ended = true;
		core_finish(&it->core);
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	for (uint64_t i = 0; i < n; i++)
		if (ok)
			ok = take(it, messages[i]);
		else
			bt_message_put_ref(messages[i]);
	return ok ? status : BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
}

bt_message_iterator_class_next_method_status filter_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	bt_message_iterator_next_status status;

	while ((*count = give(it, messages, capacity)) == 0) {
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
