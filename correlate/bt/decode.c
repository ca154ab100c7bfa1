/* SPDX-License-Identifier: MIT */
#include "decode.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "fields.h"
#include "hash.h"
#include "read/format.h"

/* One field to copy: from member `from` of the structure to `offset` in the payload. */
struct move {
	uint32_t from;
	uint16_t offset;
	uint8_t size, class;
	bool is_signed;
};

/* A trace that magnet wrote. */
struct known_trace {
	const bt_trace *key;
	bool is_app;
	bool tells_contents; /* whether an event at its end gives the number of events */
	uint64_t events, contents;
	UT_hash_handle hh;
};

struct known_class {
	const bt_event_class *key;
	struct known_trace *trace; /* NULL: not one of magnet's traces */
	/* NULL: not one of magnet's events, or not in the table */
	const struct mg_event_desc *desc;
	char *other; /* name of an event that the user chose */
	struct move *moves;
	uint32_t count;
	uint32_t clear;     /* bytes of the payload to clear first, 0 = the moves write all of it */
	int tid_at, pid_at; /* members of the common context, -1 = none */
	char *unknown;      /* name of an event of magnet's that is not in the table */
	uint64_t events;
	UT_hash_handle hh;
};

struct known_stream {
	const bt_stream *key;
	int16_t cpu;
	/* 1 if the clock ticks in nanoseconds, else 0: the converted time is used */
	uint64_t ns_mul;
	UT_hash_handle hh;
};

/* Cache of the event classes seen last, by address, as successive events are seldom of one kind. */
#define CLASSES_RECENT 64

/*
 * Calls and marks of the last time. LTTng's snapshots overlap: each has what the buffers still
 * hold.
 */
#define CALLS_AT_ONCE 16
struct last_calls {
	uint64_t time;
	uint32_t n;
	struct last_call {
		uint64_t what; /* the cycle counter at the call's return, or at the mark */
		uint32_t tid, id;
	} call[CALLS_AT_ONCE];
};

struct decoder {
	struct known_class *classes, *recent[CLASSES_RECENT];
	struct known_stream *streams, *last_stream;
	struct known_trace *traces;
	struct last_calls last;
	int64_t wall_clock_ns; /* offset of the first clock from the epoch; 0: not known */
};

struct decoder *decoder_new(void)
{
	return mg_calloc(1, sizeof(struct decoder));
}

static void free_class(struct known_class *k)
{
	free(k->moves);
	free(k->other);
	free(k->unknown);
	free(k);
}

void decoder_free(struct decoder *d)
{
	struct known_class *k, *ktmp;
	struct known_stream *s, *stmp;
	struct known_trace *t, *ttmp;

	if (!d)
		return;
	HASH_ITER (hh, d->classes, k, ktmp) {
		HASH_DEL(d->classes, k);
		free_class(k);
	}
	HASH_ITER (hh, d->streams, s, stmp) {
		HASH_DEL(d->streams, s);
		free(s);
	}
	HASH_ITER (hh, d->traces, t, ttmp) {
		HASH_DEL(d->traces, t);
		free(t);
	}
	free(d);
}

static int member_index(const bt_field_class *structure, const char *name)
{
	uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);

		if (strcmp(bt_field_class_structure_member_get_name(m), name) == 0)
			return (int)i;
	}
	return -1;
}

static bool fits(const bt_field_class *fc, enum mg_field_class class, bool *is_signed)
{
	bt_field_class_type type = bt_field_class_get_type(fc);

	*is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	if (class == MG_CLASS_TEXT)
		return type == BT_FIELD_CLASS_TYPE_STRING;
	if (class == MG_CLASS_BYTES)
		return type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY;
	return *is_signed || bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

/* Finds the fields to copy. A field that the trace lacks, as an older version wrote it, stays 0. */
static void learn_fields(struct known_class *k, const bt_field_class *payload)
{
	uint32_t written = 0;

	k->moves = mg_calloc(k->desc->field_count, sizeof(*k->moves));
	for (int i = 0; k->moves && payload && i < k->desc->field_count; i++) {
		const struct mg_field_desc *f = &k->desc->fields[i];
		const bt_field_class_structure_member *m;
		int at = member_index(payload, f->name);
		bool is_signed;

		if (at < 0)
			continue;
		m = bt_field_class_structure_borrow_member_by_index_const(payload, (uint64_t)at);
		if (!fits(bt_field_class_structure_member_borrow_field_class_const(m), f->class,
			    &is_signed))
			continue;
		k->moves[k->count++] =
			(struct move){(uint32_t)at, f->offset, f->size, f->class, is_signed};
		written += f->class == MG_CLASS_TEXT || f->class == MG_CLASS_BYTES ? 0 : f->size;
	}
	if (written < k->desc->size || written < sizeof(struct mg_other))
		k->clear = k->desc->size > sizeof(struct mg_other) ? k->desc->size
								   : sizeof(struct mg_other);
}

static const char *named(const bt_trace *trace, const char *entry)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(trace, entry);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : "";
}

static bool is_by_magnet(const bt_trace *trace)
{
	const char *name = named(trace, "tracer_name");

	return strcmp(name, "magnet-kernel-tracer") == 0 || strcmp(name, "libmagnet") == 0;
}

/*
 * Returns whether an event was recorded by magnet: LTTng's kernel tracer has a sched_switch too,
 * with other fields.
 */
static bool is_magnets(const bt_event *e, bool app)
{
	return app || is_by_magnet(bt_stream_borrow_trace_const(bt_event_borrow_stream_const(e)));
}

bool decode_is_own(const bt_trace *trace)
{
	return named(trace, "domain")[0] != 'u' && is_by_magnet(trace);
}

bool decode_reads(const bt_trace *trace, char *why, size_t why_size)
{
	const bt_value *v =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, "trace_format");
	const char *name = bt_trace_get_name(trace);
	uint64_t format = TRACE_FORMAT_FIRST;

	if (!decode_is_own(trace))
		return true;
	if (v && bt_value_is_signed_integer(v))
		format = (uint64_t)bt_value_integer_signed_get(v);
	return trace_format_is_read(
		format, name ? name : "a trace", named(trace, "tracer_version"), why, why_size);
}

static bool tells_contents(const bt_trace *trace)
{
	const bt_trace_class *all = bt_trace_borrow_class_const(trace);

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(all); i++) {
		const bt_stream_class *of =
			bt_trace_class_borrow_stream_class_by_index_const(all, i);

		for (uint64_t j = 0; j < bt_stream_class_get_event_class_count(of); j++) {
			const char *name = bt_event_class_get_name(
				bt_stream_class_borrow_event_class_by_index_const(of, j));

			if (name && strcmp(name, "contents") == 0)
				return true;
		}
	}
	return false;
}

/* Returns the trace of an event if magnet wrote it; NULL otherwise, or if memory is short. */
static struct known_trace *trace_of(struct decoder *d, const bt_event *e)
{
	const bt_trace *key = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(e));
	struct known_trace *t;

	if (!decode_is_own(key))
		return NULL;
	HASH_FIND_PTR(d->traces, &key, t);
	if (t)
		return t;
	t = mg_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->key = key;
	t->is_app = named(key, "domain")[0] == 'a';
	t->tells_contents = tells_contents(key);
	HASH_ADD_PTR(d->traces, key, t);
	return hash_kept(t);
}

static struct known_class *class_of(struct decoder *d, const bt_event *e)
{
	const bt_event_class *key = bt_event_borrow_class_const(e);
	struct known_class **recent = &d->recent[(uintptr_t)key / 16 % CLASSES_RECENT],
			   *k = *recent;
	const bt_field_class *context;
	const char *name;

	if (k && k->key == key)
		return k;
	HASH_FIND_PTR(d->classes, &key, k);
	if (k)
		return *recent = k;
	k = mg_calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = key;
	k->trace = trace_of(d, e);
	name = bt_event_class_get_name(key);
	k->desc = name ? mg_event_by_name(name) : NULL;
	if (k->desc && !is_magnets(e, MG_IS_APP(k->desc->id)))
		k->desc = NULL;
	else if (name && !k->desc && strchr(name, ':') && strncmp(name, "magnet:", 7) != 0 &&
		 is_magnets(e, false))
		k->other = mg_strdup(name);
	else if (name && !k->desc && k->trace)
		k->unknown = mg_strdup(name);
	if (k->desc)
		learn_fields(k, bt_event_class_borrow_payload_field_class_const(key));
	context = bt_stream_class_borrow_event_common_context_field_class_const(
		bt_event_class_borrow_stream_class_const(key));
	k->tid_at = member_index(context, "tid");
	k->pid_at = member_index(context, "pid");
	HASH_ADD_PTR(d->classes, key, k);
	if (!k->hh.tbl) {
		free_class(k);
		return NULL;
	}
	return *recent = k;
}

static uint64_t integer(const bt_field *f, bool is_signed)
{
	return is_signed ? (uint64_t)bt_field_integer_signed_get_value(f)
			 : bt_field_integer_unsigned_get_value(f);
}

static int16_t cpu_of(const bt_event *e)
{
	const bt_packet *p = bt_event_borrow_packet_const(e);
	const bt_field *context = p ? bt_packet_borrow_context_field_const(p) : NULL;
	const bt_field *f =
		context ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id")
			: NULL;

	if (!f)
		return -1;
	return (int16_t)integer(f, bt_field_class_type_is(bt_field_get_class_type(f),
					   BT_FIELD_CLASS_TYPE_SIGNED_INTEGER));
}

/* Stores the clock's offset from the epoch, if it is the first that has one. */
static void note_wall_clock(struct decoder *d, const bt_clock_class *clock)
{
	int64_t seconds;
	uint64_t ns;

	if (d->wall_clock_ns || !bt_clock_class_origin_is_unix_epoch(clock))
		return;
	bt_clock_class_get_offset(clock, &seconds, &ns);
	if (seconds > 0 && seconds < INT64_MAX / 1000000000 - 1 && ns < 1000000000)
		d->wall_clock_ns = seconds * 1000000000 + (int64_t)ns;
}

static struct known_stream *stream_of(struct decoder *d, const bt_event *e)
{
	const bt_stream *key = bt_event_borrow_stream_const(e);
	struct known_stream *s = d->last_stream;
	const bt_clock_class *clock;

	if (s && s->key == key)
		return s;
	HASH_FIND_PTR(d->streams, &key, s);
	if (s)
		return d->last_stream = s;
	s = mg_calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->key = key;
	s->cpu = cpu_of(e);
	clock = bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(key));
	s->ns_mul = clock && bt_clock_class_get_frequency(clock) == 1000000000;
	if (s->ns_mul)
		note_wall_clock(d, clock);
	HASH_ADD_PTR(d->streams, key, s);
	return d->last_stream = hash_kept(s);
}

/* Copies an integer; for little-endian machines only, as the traces are. */
static void copy_integer(uint8_t *to, uint64_t value, uint8_t size)
{
	switch (size) { /* constant sizes, so that each copy is one instruction */
	case 1:
		memcpy(to, &value, 1);
		break;
	case 2:
		memcpy(to, &value, 2);
		break;
	case 4:
		memcpy(to, &value, 4);
		break;
	default:
		memcpy(to, &value, 8);
	}
}

static void copy_field(const struct move *m, const bt_field *f, uint8_t *payload)
{
	const char *text;

	switch (m->class) {
	case MG_CLASS_TEXT:
		text = bt_field_string_get_value(f);
		memcpy(payload + m->offset, text, strnlen(text, m->size));
		break;
	case MG_CLASS_BYTES:
		for (uint64_t i = 0; i < m->size && i < bt_field_array_get_length(f); i++)
			payload[m->offset + i] = (uint8_t)bt_field_integer_unsigned_get_value(
				bt_field_array_borrow_element_field_by_index_const(f, i));
		break;
	default:
		copy_integer(payload + m->offset, integer(f, m->is_signed), m->size);
	}
}

/* Returns whether it was decoded before, of another snapshot. Messages are in order of time. */
static bool is_repeated(struct last_calls *l, const struct mg_event *e, uint64_t what)
{
	struct last_call c = {what, e->tid, e->id};

	if (l->time != e->time_ns) {
		l->time = e->time_ns;
		l->n = 0;
	}
	for (uint32_t i = 0; i < l->n; i++)
		if (l->call[i].what == c.what && l->call[i].tid == c.tid && l->call[i].id == c.id)
			return true;
	if (l->n < CALLS_AT_ONCE)
		l->call[l->n++] = c;
	return false;
}

bool decode_event(struct decoder *d, const bt_message *message, struct mg_event *out, bool text)
{
	const bt_event *e = bt_message_event_borrow_event_const(message);
	struct known_class *k = class_of(d, e);
	struct known_stream *s;
	const bt_clock_snapshot *time;
	const bt_field *f;
	int64_t ns;

	if (k)
		k->events++;
	if (!k || !(k->desc || k->other))
		return false;
	s = stream_of(d, e);
	if (!s)
		return false;
	memset(out, 0, offsetof(struct mg_event, sys_enter));
	if (k->clear)
		memset(&out->sys_enter, 0, k->clear);
	out->id = k->desc ? k->desc->id : MG_EVENT_other;
	out->cpu = s->cpu;
	time = bt_message_event_borrow_default_clock_snapshot_const(message);
	if (s->ns_mul)
		out->time_ns = bt_clock_snapshot_get_value(time);
	else if (bt_clock_snapshot_get_ns_from_origin(time, &ns) ==
		 BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		out->time_ns = (uint64_t)ns;
	f = bt_event_borrow_common_context_field_const(e);
	if (f && k->tid_at >= 0)
		out->tid = (uint32_t)bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(
				f, (uint64_t)k->tid_at));
	if (f && k->pid_at >= 0)
		out->pid = (uint32_t)bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(
				f, (uint64_t)k->pid_at));
	f = bt_event_borrow_payload_field_const(e);
	if (k->other) {
		out->other.name = k->other;
		out->other.text = text ? fields_text(f) : NULL;
		return true;
	}
	for (uint32_t i = 0; f && i < k->count; i++)
		copy_field(&k->moves[i],
			bt_field_structure_borrow_member_field_by_index_const(f, k->moves[i].from),
			(uint8_t *)&out->sys_enter);
	if (out->id == MG_EVENT_contents && k->trace)
		k->trace->contents = out->contents.events;
	if (out->id == MG_EVENT_mark) {
		out->tid = out->mark.tid;
		out->pid = out->mark.pid;
		return k->trace || !is_repeated(&d->last, out, out->mark.at);
	} else if (MG_IS_APP(out->id)) {
		out->tid = out->call.tid;
		out->pid = out->call.pid;
		return k->trace || !is_repeated(&d->last, out, out->call.exit);
	}
	return true;
}

int decode_cpu(const struct decoder *d, const bt_stream *stream)
{
	const struct known_stream *s;

	HASH_FIND_PTR(d->streams, &stream, s);
	return s ? s->cpu : -1;
}

static bool expects_contents(const struct core *core, enum core_side which)
{
	struct fact_side side;

	core_side(core, which, &side);
	return side.traces;
}

void decode_tell_events(const struct decoder *d, struct core *core)
{
	/* a user of the plugin alone has not inspected the metadata before */
	bool expected = expects_contents(core, CORE_APP) || expects_contents(core, CORE_KERNEL);
	const struct known_class *k, *ktmp;
	struct known_trace *t, *ttmp;

	core_know_wall_clock(core, d->wall_clock_ns);
	HASH_ITER (hh, d->classes, k, ktmp) {
		if (!k->trace)
			continue;
		k->trace->events += k->events;
		if (k->unknown)
			core_unknown_events(core, k->trace->is_app ? CORE_APP : CORE_KERNEL,
				k->events, k->unknown);
	}
	HASH_ITER (hh, d->traces, t, ttmp) {
		enum core_side side = t->is_app ? CORE_APP : CORE_KERNEL;

		if (!expected && t->tells_contents)
			core_expect_contents(core, side);
		core_read_trace(core, side, t->events, t->contents);
	}
}
