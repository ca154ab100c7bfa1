/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tsdl.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "tsdl_parser.h"

static bool assign_clock(struct tsdl_parser *p, const char *key, void *arg)
{
	int64_t *offset = arg; /* seconds, nanoseconds */
	char unused[8];

	if (strcmp(key, "name") == 0)
		return tsdl_take_name(&p->l, "monotonic");
	if (strcmp(key, "uuid") == 0 || strcmp(key, "description") == 0)
		return tsdl_take_quoted(p, unused, sizeof(unused));
	if (strcmp(key, "freq") == 0)
		return tsdl_take_constant(p, 1000000000);
	/* some hundred years, so that no sum overflows */
	if (strcmp(key, "offset_s") == 0)
		return tsdl_take_number(p, -4000000000, 4000000000, &offset[0]);
	if (strcmp(key, "offset") == 0)
		return tsdl_take_number(p, 0, 999999999, &offset[1]);
	if (strcmp(key, "absolute") == 0)
		return p->has_clock = tsdl_take_name(&p->l, "true");
	return false;
}

static bool clock_block(struct tsdl_parser *p)
{
	int64_t offset[2] = {0, 0};

	if (p->has_clock || !tsdl_block(p, assign_clock, offset) || !p->has_clock)
		return tsdl_refuse(p, "a clock that is not magnet's");
	p->t->offset_ns = offset[0] * 1000000000 + offset[1];
	return true;
}

static bool take_uuid(struct tsdl_parser *p, uint8_t out[16])
{
	static const char digits[] = "0123456789abcdef";
	const char *at = p->l.text;

	if (p->l.word != TSDL_QUOTED || p->l.length != 36)
		return false;
	for (int i = 0; i < 16; i++, at += 2) {
		const char *high, *low;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-')
			return false;
		high = memchr(digits, at[0] | 0x20, 16);
		low = memchr(digits, at[1] | 0x20, 16);
		if (!high || !low)
			return false;
		out[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	tsdl_next(&p->l);
	return true;
}

static bool assign_trace(struct tsdl_parser *p, const char *key, void *has_uuid)
{
	if (strcmp(key, "major") == 0)
		return tsdl_take_constant(p, 1);
	if (strcmp(key, "minor") == 0)
		return tsdl_take_constant(p, 8);
	if (strcmp(key, "uuid") == 0)
		return *(bool *)has_uuid = take_uuid(p, p->t->uuid);
	if (strcmp(key, "byte_order") == 0)
		return tsdl_take_name(&p->l, "le");
	return strcmp(key, "packet.header") == 0 && tsdl_structure(p, &p->t->packet_header);
}

static bool trace_block(struct tsdl_parser *p)
{
	bool has_uuid = false;

	return (tsdl_block(p, assign_trace, &has_uuid) && has_uuid) ||
	       tsdl_refuse(p, "no trace of magnet's");
}

static bool assign_env(struct tsdl_parser *p, const char *key, void *arg)
{
	int64_t n;
	char unused[8];

	(void)arg;
	if (strcmp(key, "tracer_name") == 0)
		return tsdl_take_quoted(p, p->t->tracer, sizeof(p->t->tracer));
	if (strcmp(key, "domain") == 0)
		return tsdl_take_quoted(p, p->t->domain, sizeof(p->t->domain));
	return tsdl_take_quoted(p, unused, sizeof(unused)) ||
	       tsdl_take_number(p, INT64_MIN, INT64_MAX, &n);
}

static bool assign_stream(struct tsdl_parser *p, const char *key, void *arg)
{
	int64_t id;

	(void)arg;
	if (strcmp(key, "id") == 0 && tsdl_take_number(p, 0, UINT32_MAX, &id)) {
		p->t->stream_id = (uint64_t)id;
		return true;
	}
	if (strcmp(key, "packet.context") == 0)
		return tsdl_structure(p, &p->t->packet_context);
	if (strcmp(key, "event.header") == 0)
		return tsdl_structure(p, &p->t->event_header);
	return strcmp(key, "event.context") == 0 && tsdl_structure(p, &p->t->event_context);
}

static bool stream_block(struct tsdl_parser *p)
{
	if (p->has_stream)
		return tsdl_refuse(p, "two kinds of streams");
	p->has_stream = true;
	return tsdl_block(p, assign_stream, NULL);
}

struct event_parts {
	struct tsdl_event *event;
	bool has_id, has_stream;
};

static bool assign_event(struct tsdl_parser *p, const char *key, void *arg)
{
	struct event_parts *e = arg;
	int64_t id;

	if (strcmp(key, "name") == 0 && p->l.word == TSDL_QUOTED && !e->event->name) {
		e->event->name = mg_strndup(p->l.text, p->l.length);
		tsdl_next(&p->l);
		return e->event->name != NULL;
	}
	if (strcmp(key, "id") == 0 && tsdl_take_number(p, 0, UINT16_MAX, &id)) {
		e->event->id = (uint64_t)id;
		return e->has_id = true;
	}
	if (strcmp(key, "stream_id") == 0)
		return e->has_stream = tsdl_take_constant(p, (int64_t)p->t->stream_id);
	return strcmp(key, "fields") == 0 && tsdl_structure(p, &e->event->fields);
}

static bool event_block(struct tsdl_parser *p)
{
	struct tsdl_trace *t = p->t;
	struct event_parts e = {0};

	if (t->events == t->events_cap) {
		uint32_t cap = t->events_cap ? t->events_cap * 2 : 64;
		struct tsdl_event *more = mg_realloc(t->event, cap * sizeof(*more));

		if (!more)
			return tsdl_refuse(p, "no memory");
		t->event = more;
		t->events_cap = cap;
	}
	e.event = &t->event[t->events++];
	*e.event = (struct tsdl_event){0};
	if (!p->has_stream || !tsdl_block(p, assign_event, &e))
		return tsdl_refuse(p, "an event that magnet does not write");
	return (e.has_id && e.has_stream && e.event->name) || tsdl_refuse(p, "half an event");
}

static bool top(struct tsdl_parser *p)
{
	if (tsdl_take_name(&p->l, "clock"))
		return clock_block(p);
	if (tsdl_take_name(&p->l, "typealias"))
		return tsdl_typealias(p);
	if (tsdl_take_name(&p->l, "trace"))
		return trace_block(p);
	if (tsdl_take_name(&p->l, "env"))
		return tsdl_block(p, assign_env, NULL);
	if (tsdl_take_name(&p->l, "stream"))
		return stream_block(p);
	if (tsdl_take_name(&p->l, "event"))
		return event_block(p);
	return tsdl_refuse(p, "something that magnet does not write");
}

const char *tsdl_parse(struct tsdl_trace *t, const char *text, size_t size)
{
	struct tsdl_parser p = {.l = {.at = text, .end = text + size}, .t = t};

	memset(t, 0, sizeof(*t));
	tsdl_next(&p.l);
	while (p.l.word != TSDL_END)
		if (!top(&p) ||
			!(tsdl_take_mark(&p.l, ';') || tsdl_refuse(&p, "a part does not end")))
			return p.why;
	return p.has_clock && p.has_stream && t->events ? NULL : "half a description";
}

static void free_struct(struct tsdl_struct *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->field[i].name);
	free(s->field);
}

void tsdl_free(struct tsdl_trace *t)
{
	free_struct(&t->packet_header);
	free_struct(&t->packet_context);
	free_struct(&t->event_header);
	free_struct(&t->event_context);
	for (uint32_t i = 0; i < t->events; i++) {
		free(t->event[i].name);
		free_struct(&t->event[i].fields);
	}
	free(t->event);
	memset(t, 0, sizeof(*t));
}

const struct tsdl_field *tsdl_find(const struct tsdl_struct *s, const char *name)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (strcmp(s->field[i].name, name) == 0)
			return &s->field[i];
	return NULL;
}
