/* SPDX-License-Identifier: MIT */
#include "lttng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "lttng_parts.h"
#include "members.h"

struct lttng *lttng_new(struct core *core)
{
	struct lttng *l = mg_calloc(1, sizeof(*l));

	if (l) {
		l->core = core;
		l->net.socks.core = core;
	}
	return l;
}

#define FREE_ALL(head)                           \
	do {                                     \
		__typeof__(head) one, tmp;       \
		HASH_ITER (hh, head, one, tmp) { \
			HASH_DEL(head, one);     \
			free(one);               \
		}                                \
	} while (0)

void lttng_free(struct lttng *l)
{
	if (!l)
		return;
	FREE_ALL(l->classes);
	FREE_ALL(l->streams);
	FREE_ALL(l->threads);
	socks_free(&l->net.socks);
	free(l);
}

static struct known_class *class_of(struct lttng *l, const bt_event_class *key)
{
	const char *name = bt_event_class_get_name(key);
	struct known_class *k;

	HASH_FIND_PTR(l->classes, &key, k);
	if (k)
		return k;
	k = mg_calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = key;
	if (name)
		k->row = lttng_row(bt_event_class_borrow_stream_class_const(key), name, &k->call);
	HASH_ADD_PTR(l->classes, key, k);
	return hash_kept(k);
}

static const char *tracer_of(const bt_stream *s)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(s), "tracer_name");

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : "";
}

void lttng_stream(struct lttng *l, const bt_stream *stream)
{
	struct known_stream *s;

	if (strcmp(tracer_of(stream), "magnet-kernel-tracer") == 0)
		l->off = true;
	HASH_FIND_PTR(l->streams, &stream, s);
	if (s)
		return;
	s = mg_calloc(1, sizeof(*s));
	if (!s)
		return;
	s->key = stream;
	s->cpu = -1;
	s->ours_to_read = strcmp(tracer_of(stream), "lttng-modules") == 0;
	HASH_ADD_PTR(l->streams, key, s);
	if (!s->hh.tbl)
		free(s);
}

static int push_hook(struct lttng *l, const struct mg_event *at, uint16_t id)
{
	const struct mg_event_desc *d = mg_event_by_id(id);
	struct mg_event e = {.time_ns = at->time_ns, .id = MG_EVENT_hook, .cpu = -1};

	if (!d)
		return 0;
	snprintf(e.hook.layer, sizeof(e.hook.layer), "%s", mg_layer_names[d->layer]);
	snprintf(e.hook.hook, sizeof(e.hook.hook), "%s lttng-modules", d->name);
	return core_push(l->core, &e);
}

/*
 * Begins with the first event: layers for which the trace has an event class were recorded, the
 * others were not.
 */
static int begin(struct lttng *l, const bt_event *event, const struct mg_event *at)
{
	const bt_stream_class *s =
		bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event));
	uint64_t n = bt_stream_class_get_event_class_count(s);
	int err = 0;

	l->begun = true;
	core_know_tracer(l->core, "lttng-modules");
	for (uint64_t i = 0; i < n && !err; i++) {
		const struct known_class *k =
			class_of(l, bt_stream_class_borrow_event_class_by_index_const(s, i));

		if (k && k->row && k->row->id)
			err = push_hook(l, at, k->row->id);
	}
	return err;
}

static void head(struct lttng *l, const bt_message *m, const bt_event *event,
	struct known_stream *s, struct mg_event *e)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_clock_snapshot *time = bt_message_event_borrow_default_clock_snapshot_const(m);
	int64_t ns;

	if (bt_clock_class_get_frequency(bt_clock_snapshot_borrow_clock_class_const(time)) ==
		1000000000)
		e->time_ns = bt_clock_snapshot_get_value(time);
	else if (bt_clock_snapshot_get_ns_from_origin(time, &ns) ==
		 BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		e->time_ns = (uint64_t)ns;
	if (s->cpu < 0 && packet)
		s->cpu = (int16_t)member_integer(
			bt_packet_borrow_context_field_const(packet), "cpu_id", -1ull);
	e->cpu = s->cpu;
	e->tid = (uint32_t)member_integer(
		context, "tid", e->cpu >= 0 && e->cpu < LTTNG_CPUS ? l->running[e->cpu] : 0);
	e->pid = (uint32_t)member_integer(context, "pid", lttng_pid(l, e->tid));
}

static void copy_fields(const struct row *r, const bt_field *payload, struct mg_event *e)
{
	const struct mg_event_desc *d = mg_event_by_id(r->id);
	uint8_t *to = (uint8_t *)&e->sys_enter;

	for (size_t i = 0; d && i < 3 && r->field[i].theirs; i++) {
		const bt_field *from = member_of(payload, r->field[i].theirs);

		for (int f = 0; from && f < d->field_count; f++) {
			const struct mg_field_desc *ours = &d->fields[f];
			uint64_t v;

			if (strcmp(ours->name, r->field[i].ours) != 0)
				continue;
			if (ours->class == MG_CLASS_TEXT)
				field_text(from, (char *)to + ours->offset, ours->size);
			else if (field_integer(from, &v))
				memcpy(to + ours->offset, &v, ours->size);
		}
	}
}

int lttng_event(struct lttng *l, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct known_stream *s;
	struct known_class *k;
	struct mg_event e = {0};
	int err = 0;

	HASH_FIND_PTR(l->streams, &stream, s);
	if (l->off || !s || !s->ours_to_read ||
		!bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(stream)))
		return 0;
	k = class_of(l, bt_event_borrow_class_const(event));
	if (!k || !k->row)
		return 0;
	head(l, message, event, s, &e);
	if (!l->begun)
		err = begin(l, event, &e);
	e.id = k->row->id;
	copy_fields(k->row, payload, &e);
	if (k->call)
		e.sys_enter.call = e.id == MG_EVENT_sys_enter ? k->call : 0;
	if (err || (k->row->more && !k->row->more(l, payload, &e)))
		return err;
	return core_push(l->core, &e);
}

static int gap(struct lttng *l, const bt_stream *stream, uint64_t from, uint64_t to,
	const struct mg_lost *what)
{
	struct mg_event e = {.time_ns = to, .id = MG_EVENT_lost, .cpu = -1, .lost = *what};
	struct known_stream *s;

	HASH_FIND_PTR(l->streams, &stream, s);
	if (l->off || !s || !s->ours_to_read)
		return 0;
	e.lost.from_ns = from;
	e.lost.to_ns = to;
	e.lost.cpu = s->cpu;
	return core_push(l->core, &e);
}

int lttng_lost(struct lttng *l, const bt_stream *stream, uint64_t count, uint64_t from, uint64_t to)
{
	return gap(l, stream, from, to,
		&(struct mg_lost){
			.count = count, .reason = MG_LOST_RING_FULL, .producer = "lttng-modules"});
}

int lttng_overwritten(struct lttng *l, const bt_stream *stream, uint64_t from, uint64_t to)
{
	return gap(l, stream, from, to,
		&(struct mg_lost){
			.reason = MG_LOST_NOT_KEPT, .producer = "overwritten by lttng-modules"});
}

int lttng_finish(struct lttng *l)
{
	return net_finish(&l->net);
}
