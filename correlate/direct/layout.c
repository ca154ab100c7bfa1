/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <stdlib.h>

#include "alloc.h"

#define PAYLOAD_MAX 65536 /* limit for an event of fixed size; longer events have sequences */

/* ---- positions ---- */

/*
 * Returns the size of a structure with fixed size, 0 and a false `ok` for any other. All structures
 * before events must have one.
 */
static uint32_t struct_size(const struct tsdl_struct *s, bool *ok)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct tsdl_field *f = &s->field[i];

		if (f->kind == TSDL_STRING || f->kind == TSDL_SEQUENCE)
			*ok = false;
		sum += (uint64_t)f->integer.size * (f->kind == TSDL_INTEGER ? 1 : f->count);
	}
	if (sum > PAYLOAD_MAX)
		*ok = false;
	return *ok ? (uint32_t)sum : 0;
}

/* Returns the position of a named integer relative to `base`; for an array of bytes, its start. */
static struct spot spot_of(const struct tsdl_struct *s, const char *name, uint32_t base)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct tsdl_field *f = &s->field[i];

		if (strcmp(f->name, name) == 0)
			return (struct spot){base, f->integer.size, f->integer.is_signed};
		base += f->integer.size * (f->kind == TSDL_INTEGER ? 1 : f->count);
	}
	return (struct spot){0};
}

/* Returns whether the field is an unsigned integer of `size` bytes, with or without a clock. */
static bool has(const struct tsdl_struct *s, const char *name, uint8_t size, bool is_clock)
{
	const struct tsdl_field *f = tsdl_find(s, name);

	return f && f->kind == TSDL_INTEGER && f->integer.size == size && !f->integer.is_signed &&
	       f->integer.is_clock == is_clock;
}

static uint32_t clocks(const struct tsdl_struct *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->count; i++)
		n += s->field[i].integer.is_clock;
	return n;
}

static bool has_uuid(const struct tsdl_struct *s)
{
	const struct tsdl_field *f = tsdl_find(s, "uuid");

	return f && f->kind == TSDL_ARRAY && f->integer.size == 1 && f->count == 16;
}

static bool is_number_if_there(const struct tsdl_struct *s, const char *name)
{
	return !tsdl_find(s, name) || has(s, name, 4, false);
}

static const char *find_places(struct layout *l)
{
	const struct tsdl_struct *header = &l->tsdl.packet_header, *event = &l->tsdl.event_header;
	const struct tsdl_struct *packet = &l->tsdl.packet_context;
	const struct tsdl_struct *thread = &l->tsdl.event_context;
	const struct tsdl_field *cpu = tsdl_find(packet, "cpu_id");
	bool ok = true;
	uint32_t size = struct_size(header, &ok);

	l->packet_head = size + struct_size(packet, &ok);
	l->event_head = struct_size(event, &ok) + struct_size(thread, &ok);
	/* fields that have a meaning for babeltrace2 and that magnet's traces do not use */
	if (!ok || tsdl_find(header, "stream_instance_id") || clocks(header) || clocks(thread))
		return "packets or events begin otherwise";
	if (!has(header, "magic", 4, false) || !has_uuid(header) ||
		!has(header, "stream_id", 4, false))
		return "packets begin otherwise";
	if (!has(packet, "timestamp_begin", 8, true) || !has(packet, "timestamp_end", 8, true) ||
		!has(packet, "content_size", 8, false) || !has(packet, "packet_size", 8, false) ||
		(cpu && cpu->kind != TSDL_INTEGER) || clocks(packet) != 2)
		return "packets are described otherwise";
	if (!has(event, "id", 2, false) || !has(event, "timestamp", 8, true) ||
		clocks(event) != 1 || !is_number_if_there(thread, "tid") ||
		!is_number_if_there(thread, "pid"))
		return "events begin otherwise";
	l->magic = spot_of(header, "magic", 0);
	l->uuid = spot_of(header, "uuid", 0);
	l->stream_id = spot_of(header, "stream_id", 0);
	l->begin = spot_of(packet, "timestamp_begin", size);
	l->end = spot_of(packet, "timestamp_end", size);
	l->content = spot_of(packet, "content_size", size);
	l->packet = spot_of(packet, "packet_size", size);
	if (has(packet, "packet_seq_num", 8, false))
		l->seq = spot_of(packet, "packet_seq_num", size);
	l->cpu = spot_of(packet, "cpu_id", size);
	l->is_app = l->tsdl.domain[0] == 'a';
	ok = true;
	l->id = spot_of(event, "id", 0);
	l->time = spot_of(event, "timestamp", 0);
	l->tid = spot_of(thread, "tid", struct_size(event, &ok));
	l->pid = spot_of(thread, "pid", struct_size(event, &ok));
	l->has_ids = l->tid.size == 4 && l->pid.size == 4 && l->pid.at == l->tid.at + 4;
	return NULL;
}

/* ---- events ---- */

static bool move_of(
	const struct mg_field_desc *to, const struct tsdl_field *from, uint32_t at, struct move *m)
{
	*m = (struct move){at, to->offset, to->size, from->integer.size, MOVE_BYTES};
	switch (to->class) {
	case MG_CLASS_TEXT:
		m->kind = MOVE_TEXT;
		m->width = from->count < UINT16_MAX ? (uint16_t)from->count : UINT16_MAX;
		return from->kind == TSDL_TEXT;
	case MG_CLASS_BYTES:
		if (from->count < m->size)
			m->size = (uint16_t)from->count;
		return from->kind == TSDL_ARRAY;
	default:
		if (from->integer.size != to->size)
			m->kind = from->integer.is_signed ? MOVE_SIGNED : MOVE_UNSIGNED;
		return from->kind == TSDL_INTEGER;
	}
}

/* Appends a copy step, or extends the previous one if both ends are contiguous. */
static void add_move(struct event_class *k, const struct move *m)
{
	struct move *last = k->moves ? &k->move[k->moves - 1] : NULL;

	if (last && last->kind == MOVE_BYTES && m->kind == MOVE_BYTES &&
		last->from + last->size == m->from && last->to + last->size == m->to)
		last->size = (uint16_t)(last->size + m->size);
	else
		k->move[k->moves++] = *m;
}

/* Finds the fields to copy. A field that the trace lacks, as an older version wrote it, stays 0. */
static const char *find_moves(struct event_class *k)
{
	uint32_t written = 0;

	k->move = mg_calloc(k->desc->field_count, sizeof(*k->move));
	if (!k->move)
		return "no memory";
	for (int i = 0; i < k->desc->field_count; i++) {
		const struct mg_field_desc *to = &k->desc->fields[i];
		const struct tsdl_field *from = tsdl_find(&k->described->fields, to->name);
		struct move m;

		if (!from || !move_of(to, from, spot_of(&k->described->fields, to->name, 0).at, &m))
			continue;
		if (to->class == MG_CLASS_BYTES &&
			(from->integer.size != 1 || from->integer.is_signed))
			return "an address that magnet does not write";
		if (m.kind != MOVE_TEXT)
			written += m.size;
		add_move(k, &m);
	}
	/* the core reads the first eight bytes of any payload as a socket's number */
	if (written < k->desc->size || k->desc->size < 8)
		k->clear = k->desc->size < 8 ? 8 : k->desc->size;
	return NULL;
}

/* Finds whether an event can be decoded by one copy of its fields and one of its thread's ids. */
static void find_plain(const struct layout *l, struct event_class *k)
{
	const struct move *m = k->move;
	uint16_t id = k->desc->id;

	/* what is shorter than eight bytes is cleared by the copy itself */
	k->is_plain = l->has_ids && k->moves == 1 && (!k->clear || k->size == k->desc->size) &&
		      m->kind == MOVE_BYTES && !m->from && !m->to && m->size == k->size &&
		      id != MG_EVENT_mark && id != MG_EVENT_contents;
	k->id = id;
	k->mask = k->size < sizeof(k->mask) ? (1ull << 8 * k->size) - 1 : UINT64_MAX;
	k->ids_at = l->tid.at;
	if (MG_IS_CALL(id))
		k->ids_at = l->event_head + offsetof(struct mg_call, tid);
}

static const char *make_class(
	const struct layout *l, struct event_class *k, const struct tsdl_event *e)
{
	bool is_fixed = true;
	const char *why;

	k->described = e;
	k->desc = mg_event_by_name(e->name);
	/*
	 * names without ':' are magnet's own; those this version does not know are not the user's
	 */
	k->is_chosen = !k->desc && strchr(e->name, ':') && strncmp(e->name, "magnet:", 7) != 0;
	if (clocks(&e->fields))
		return "the clock's readings within events";
	k->size = struct_size(&e->fields, &is_fixed);
	k->is_fixed = is_fixed;
	if (!k->desc)
		return NULL;
	why = is_fixed ? find_moves(k) : "an event that has no fixed size";
	if (!why)
		find_plain(l, k);
	return why;
}

static const char *make_classes(struct layout *l)
{
	const struct tsdl_trace *t = &l->tsdl;

	for (uint32_t i = 0; i < t->events; i++)
		if (t->event[i].id >= l->classes)
			l->classes = (uint32_t)t->event[i].id + 1;
	l->class = mg_calloc(l->classes + 1, sizeof(struct event_class *));
	if (!l->class)
		return "no memory";
	for (uint32_t i = 0; i < t->events; i++) {
		struct event_class *k = mg_calloc(1, sizeof(*k));
		const char *why;

		if (!k || l->class[t->event[i].id]) {
			free(k);
			return "two events of one number";
		}
		l->class[t->event[i].id] = k;
		why = make_class(l, k, &t->event[i]);
		if (why)
			return why;
	}
	return NULL;
}

/*
 * Returns whether magnet wrote the trace. LTTng's sessions report losses in another way, and its
 * tracers have events with our names.
 */
static bool is_ours(const struct tsdl_trace *t)
{
	return t->domain[0] != 'u' && (strcmp(t->tracer, "magnet-kernel-tracer") == 0 ||
					      strcmp(t->tracer, "libmagnet") == 0);
}

const char *layout_make(struct layout *l, const char *metadata, size_t size)
{
	const char *why;

	memset(l, 0, sizeof(*l));
	why = tsdl_parse(&l->tsdl, metadata, size);
	if (why)
		return why;
	if (!is_ours(&l->tsdl))
		return "it is another tracer's";
	why = find_places(l);
	return why ? why : make_classes(l);
}

void layout_free(struct layout *l)
{
	for (uint32_t i = 0; i < l->classes && l->class; i++) {
		if (l->class[i])
			free(l->class[i] -> move);
		free(l->class[i]);
	}
	free(l->class);
	tsdl_free(&l->tsdl);
	memset(l, 0, sizeof(*l));
}
