/* SPDX-License-Identifier: MIT */
#include "export/records.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "export/layout.h"
#include "export/record_file.h"
#include "export/schema.h"
#include "export/strings.h"
#include "version.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are little-endian");

#define FUNCTIONS (2 * FACT_SYSTEM_CALL)
#define EVENT_IDS (MG_EVENT_mark + 1)

struct records;

struct table {
	struct record_layout layout;
	struct record_file file;
	struct records *of;
	uint16_t kind; /* enum fact; of events their number */
};

struct records {
	struct export *e;
	struct strings strings;
	struct table fact[FACTS];
	struct table
		*event; /* in the order of the table of events, then those chosen with --event */
	size_t events;
	struct table *by_id[EVENT_IDS];
	uint32_t function[FUNCTIONS]; /* numbers of their names; 0: not asked for yet */
	double cycle_ns;              /* nanoseconds of a cycle; 0: not known yet */
};

static uint8_t *put(uint8_t *to, const void *value, size_t bytes)
{
	memcpy(to, value, bytes);
	return to + bytes;
}

static uint8_t *put_text(struct records *r, uint8_t *to, const char *text, size_t length)
{
	uint32_t number = strings_number(&r->strings, text, length);

	return put(to, &number, sizeof(number));
}

static uint8_t *put_spans(const struct records *r, uint8_t *to, const uint64_t *cycles, int n)
{
	for (int i = 0; i < n; i++) {
		double ns = cycles[i] == FACT_NONE || r->cycle_ns <= 0
				    ? NAN
				    : (double)cycles[i] * r->cycle_ns;

		to = put(to, &ns, sizeof(ns));
	}
	return to;
}

static uint8_t *put_function(struct records *r, uint8_t *to, uint16_t id)
{
	uint32_t *number, none = 0;
	const char *name;

	if (id >= FUNCTIONS)
		return put(to, &none, sizeof(none));
	number = &r->function[id];
	if (!*number) {
		name = id & FACT_SYSTEM_CALL ? mg_syscall_name(id & ~FACT_SYSTEM_CALL)
					     : mg_function_name(id);
		*number = strings_number(&r->strings, name, strlen(name));
	}
	return put(to, number, sizeof(*number));
}

/* Names with commas between them, as magnet show prints sets. */
struct set_text {
	char text[4096];
	size_t used;
};

static void set_add(struct set_text *s, const char *name)
{
	int n = snprintf(
		s->text + s->used, sizeof(s->text) - s->used, "%s%s", s->used ? "," : "", name);

	if (n > 0 && s->used + (size_t)n < sizeof(s->text))
		s->used += (size_t)n;
}

static uint8_t *put_events(struct records *r, uint8_t *to, struct mg_events set)
{
	struct set_text s = {.used = 0};

	for (unsigned int id = 0; id < MG_TRACER_BASE; id++)
		if (mg_event_by_id(id) && mg_events_have(set, id))
			set_add(&s, mg_event_by_id(id)->name);
	return put_text(r, to, s.text, s.used);
}

static uint8_t *put_layers(struct records *r, uint8_t *to, uint32_t set)
{
	struct set_text s = {.used = 0};

	for (int i = 0; i < MG_LAYER_END; i++)
		if (set >> i & 1)
			set_add(&s, mg_layer_names[i]);
	return put_text(r, to, s.text, s.used);
}

static uint8_t *put_address(uint8_t *to, const struct fact_address *a)
{
	static const uint8_t none[16];
	uint8_t known = a->addr != NULL;

	to = put(to, a->addr ? a->addr : none, sizeof(none));
	to = put(to, &a->port, sizeof(a->port));
	return put(to, &known, sizeof(known));
}

/* Writes a column of a fact as layout_of_fact() lays it out. Returns where the next one goes. */
static uint8_t *put_column(
	struct records *r, uint8_t *to, const struct fact_column *c, const void *at)
{
	uint64_t ns;
	uint8_t byte;

	switch ((enum fact_type)c->type) {
	case FACT_TYPE_TIME:
		ns = *(const fact_TIME *)at;
		ns = ns && core_has_clock(r->e->core) ? core_ns(r->e->core, ns) : 0;
		return put(to, &ns, sizeof(ns));
	case FACT_TYPE_SPAN:
		return put_spans(r, to, at, 1);
	case FACT_TYPE_SPANS:
		return put_spans(r, to, at, c->count);
	case FACT_TYPE_COUNT:
	case FACT_TYPE_SIGNED:
	case FACT_TYPE_NS:
	case FACT_TYPE_NUMBER:
		return put(to, at, 8);
	case FACT_TYPE_CPU:
		return put(to, at, sizeof(fact_CPU));
	case FACT_TYPE_FLAG:
	case FACT_TYPE_MAYBE:
		return put(to, at, 1);
	case FACT_TYPE_WORD:
		byte = *(const uint8_t *)at;
		if (byte >= c->count)
			byte = FACT_NO_WORD;
		return put(to, &byte, 1);
	case FACT_TYPE_FLOW: {
		const struct fact_flow_id *f = at;

		byte = f->sock && f->rx;
		return put(put(to, &f->sock, sizeof(f->sock)), &byte, 1);
	}
	case FACT_TYPE_FUNCTION:
		return put_function(r, to, *(const fact_FUNCTION *)at);
	case FACT_TYPE_TEXT: {
		const char *text = *(const fact_TEXT *)at;

		return put_text(r, to, text ? text : "", text ? strlen(text) : 0);
	}
	case FACT_TYPE_ADDRESS:
		return put_address(to, at);
	case FACT_TYPE_EVENTS:
		return put_events(r, to, *(const fact_EVENTS *)at);
	case FACT_TYPE_LAYERS:
		return put_layers(r, to, *(const fact_LAYERS *)at);
	}
	return to;
}

static void on_fact(void *arg, const void *fact)
{
	struct table *t = arg;
	struct records *r = t->of;
	const struct fact_desc *desc = &fact_table[t->kind];
	uint8_t *to;

	if (!export_takes(r->e, (enum fact)t->kind, fact))
		return;
	to = record_file_next(&t->file);
	if (!to)
		return;
	if (r->cycle_ns <= 0 && core_hz(r->e->core) > 0)
		r->cycle_ns = 1e9 / core_hz(r->e->core);
	for (int i = 0; i < desc->columns; i++)
		to = put_column(
			r, to, &desc->column[i], (const char *)fact + desc->column[i].offset);
}

static struct record_event_head head_of(const struct mg_event *e, const struct annotation *a)
{
	struct record_event_head head = {.time = e->time_ns,
		.cycles = a->cycles,
		.offset = a->has_offset ? a->offset : FACT_NONE,
		.length = a->has_offset ? a->length : FACT_NONE,
		.sender_offset = FACT_NONE,
		.pid = e->pid,
		.tid = e->tid,
		.cpu = e->cpu};

	if (a->sock) {
		head.flow = annotated_flow(a).sock;
		head.flow_rx = a->rx;
	}
	if (a->from) {
		head.sender = annotated_sender(a).sock;
		head.sender_rx = annotated_sender(a).rx;
		head.sender_offset = a->from_offset;
	}
	return head;
}

static void put_fields(struct records *r, uint8_t *to, const struct mg_event *e)
{
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	const uint8_t *payload = (const uint8_t *)&e->sys_enter;

	for (int i = 0; i < d->field_count; i++) {
		const struct mg_field_desc *f = &d->fields[i];
		const uint8_t *at = payload + f->offset;

		if (layout_has_in_head(d, f))
			continue;
		if (f->class == MG_CLASS_TEXT)
			to = put_text(r, to, (const char *)at, strnlen((const char *)at, f->size));
		else
			to = put(to, at, f->size);
	}
}

static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct records *r = arg;
	bool is_other = e->id == MG_EVENT_other;
	struct table *t = is_other            ? &r->event[r->events - 1]
			  : e->id < EVENT_IDS ? r->by_id[e->id]
					      : NULL;
	struct record_event_head head;
	uint8_t *to;

	if (!t || (r->e->filter && !filter_takes_event(r->e->filter, r->e->core, e, a)))
		return;
	to = record_file_next(&t->file);
	if (!to)
		return;
	head = head_of(e, a);
	to = put(to, &head, sizeof(head));
	if (is_other) {
		to = put_text(r, to, e->other.name, strlen(e->other.name));
		put_text(r, to, e->other.text ? e->other.text : "",
			e->other.text ? strlen(e->other.text) : 0);
	} else {
		put_fields(r, to, e);
	}
}

/* Calls `fn` for each table until it returns false. */
static bool each_table(
	struct records *r, bool (*fn)(struct records *r, struct table *t, void *arg), void *arg)
{
	for (int i = 0; i < FACTS; i++)
		if (!fn(r, &r->fact[i], arg))
			return false;
	for (size_t i = 0; i < r->events; i++)
		if (!fn(r, &r->event[i], arg))
			return false;
	return true;
}

static bool open_table(struct records *r, struct table *t, void *unused)
{
	(void)unused;
	t->of = r;
	if (record_file_open(&t->file, r->e->to, t->layout.name, t->layout.bytes))
		return true;
	return export_refuse(r->e, t->file.path, errno);
}

static bool free_table(struct records *r, struct table *t, void *is_kept)
{
	(void)r;
	record_file_close(&t->file, *(const bool *)is_kept);
	free(t->layout.column);
	return true;
}

static void free_all(struct records *r, bool is_kept)
{
	each_table(r, free_table, &is_kept);
	if (!is_kept)
		rmdir(r->e->to);
	strings_free(&r->strings);
	free(r->event);
	free(r);
}

static bool lay_out(struct records *r)
{
	size_t n;
	const struct mg_event_desc *events = mg_event_table(&n);

	for (int i = 0; i < FACTS; i++) {
		r->fact[i].kind = (uint16_t)i;
		if (!layout_of_fact(&r->fact[i].layout, (enum fact)i))
			return false;
	}
	r->event = mg_calloc(n + 1, sizeof(*r->event));
	if (!r->event)
		return false;
	r->events = n + 1;
	for (size_t i = 0; i < n; i++) {
		r->event[i].kind = events[i].id;
		if (!layout_of_event(&r->event[i].layout, &events[i]))
			return false;
		if (events[i].id < EVENT_IDS)
			r->by_id[events[i].id] = &r->event[i];
	}
	r->event[n].kind = MG_EVENT_other;
	return layout_of_other(&r->event[n].layout);
}

bool records_begin(struct export *e)
{
	struct records *r = mg_calloc(1, sizeof(*r));

	if (!r)
		return export_refuse(e, e->to, ENOMEM);
	r->e = e;
	e->state = r;
	if (!export_directory(e)) {
		free(r);
		return false;
	}
	if (!lay_out(r)) {
		free_all(r, false);
		return export_refuse(e, e->to, ENOMEM);
	}
	if (!each_table(r, open_table, NULL)) {
		free_all(r, false);
		return false;
	}
	for (int i = 0; i < FACTS; i++)
		facts_listen(core_facts(e->core), (enum fact)i, on_fact, &r->fact[i]);
	core_listen(e->core, on_event, r);
	return true;
}

static bool describe(struct records *r, struct table *t, void *list)
{
	bool is_fact = t->layout.name[0] != 'e' || !strchr(t->layout.name, '/');
	json_t *j = schema_of_layout(&t->layout);

	if (!j)
		return false;
	json_object_set_new(j, "kind", json_string(is_fact ? "fact" : "event"));
	json_object_set_new(j, "file", json_string(record_file_name(&t->file)));
	json_object_set_new(j, "rows", json_integer((json_int_t)t->file.rows));
	json_object_set_new(j, "filtered",
		json_boolean(r->e->filter &&
			     (!is_fact || !filter_lacks(r->e->filter, (enum fact)t->kind))));
	return json_array_append_new(list, j) == 0;
}

static bool finish_table(struct records *r, struct table *t, void *unused)
{
	(void)unused;
	if (record_file_finish(&t->file))
		return true;
	return export_refuse(r->e, t->file.path, errno);
}

/* Opens a file of the directory to write text to. */
static FILE *open_text(struct records *r, const char *name, char path[PATH_MAX])
{
	FILE *to = NULL;

	if (snprintf(path, PATH_MAX, "%s/%s", r->e->to, name) < PATH_MAX)
		to = fopen(path, "wxe");
	if (!to)
		export_refuse(r->e, path, errno);
	return to;
}

static bool close_text(struct records *r, FILE *to, const char *path)
{
	bool good = !ferror(to);

	if (fclose(to) == 0 && good)
		return true;
	export_refuse(r->e, path, errno ? errno : EIO);
	unlink(path);
	return false;
}

/* Writes strings.json, and has the path of it in `path`. */
static bool write_strings(struct records *r, char path[PATH_MAX])
{
	FILE *to = open_text(r, "strings.json", path);

	if (!to)
		return false;
	strings_json(&r->strings, to);
	return close_text(r, to, path);
}

/* Writes schema.json, the last file: a directory without it is not complete. */
static bool write_schema(struct records *r)
{
	json_t *tables = json_array(),
	       *schema = json_pack("{s:i, s:s, s:f, s:s, s:o}", "schema", 1, "magnet",
		       MAGNET_VERSION, "cycles_per_second", core_hz(r->e->core), "strings",
		       "strings.json", "tables", tables);
	struct fact_recording about;
	char path[PATH_MAX];
	bool good = schema && each_table(r, describe, tables);
	FILE *to = good ? open_text(r, "schema.json", path) : NULL;

	json_object_set_new(
		schema, "session", *r->e->session ? json_deep_copy(*r->e->session) : json_null());
	core_recording(r->e->core, &about);
	json_object_set_new(schema, "utc_offset_ns",
		about.wall_clock == FACT_NONE ? json_null()
					      : json_integer((json_int_t)about.wall_clock));
	good = to && schema_print(schema, to);
	if (to)
		good = close_text(r, to, path) && good;
	json_decref(schema);
	return good;
}

bool records_end(struct export *e, bool is_read)
{
	struct records *r = e->state;
	char strings[PATH_MAX];
	bool good = is_read && each_table(r, finish_table, NULL) && write_strings(r, strings);

	if (good && !write_schema(r)) {
		unlink(strings);
		good = false;
	}
	free_all(r, good);
	return good;
}
