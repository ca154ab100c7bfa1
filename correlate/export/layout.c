/* SPDX-License-Identifier: MIT */
#include "export/layout.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"

/* how each type of a fact's column is stored; ADDRESS, FLOW and SPANS are several columns */
static const struct stored {
	const char *type, *dtype, *unit;
	uint8_t bytes, unknown;
} stored[] = {
	[FACT_TYPE_TIME] = {"TIME", "<u8", "ns", 8, UNKNOWN_ZERO},
	[FACT_TYPE_SPAN] = {"SPAN", "<f8", "ns", 8, UNKNOWN_NAN},
	[FACT_TYPE_COUNT] = {"COUNT", "<u8", NULL, 8, UNKNOWN_MAX},
	[FACT_TYPE_SIGNED] = {"SIGNED", "<i8", NULL, 8, UNKNOWN_NEVER},
	[FACT_TYPE_CPU] = {"CPU", "<i4", NULL, 4, UNKNOWN_MINUS},
	[FACT_TYPE_FLAG] = {"FLAG", "u1", NULL, 1, UNKNOWN_NEVER},
	[FACT_TYPE_MAYBE] = {"MAYBE", "u1", NULL, 1, UNKNOWN_MAYBE},
	[FACT_TYPE_FLOW] = {"FLOW", "<u8", NULL, 8, UNKNOWN_ZERO},
	[FACT_TYPE_FUNCTION] = {"FUNCTION", "<u4", NULL, 4, UNKNOWN_ZERO},
	[FACT_TYPE_TEXT] = {"TEXT", "<u4", NULL, 4, UNKNOWN_ZERO},
	[FACT_TYPE_ADDRESS] = {"ADDRESS", "V16", NULL, 16, UNKNOWN_NEVER},
	[FACT_TYPE_NS] = {"NS", "<u8", "ns", 8, UNKNOWN_ZERO},
	[FACT_TYPE_NUMBER] = {"NUMBER", "<f8", NULL, 8, UNKNOWN_NAN},
	[FACT_TYPE_EVENTS] = {"EVENTS", "<u4", NULL, 4, UNKNOWN_ZERO},
	[FACT_TYPE_LAYERS] = {"LAYERS", "<u4", NULL, 4, UNKNOWN_ZERO},
	[FACT_TYPE_WORD] = {"WORD", "u1", NULL, 1, UNKNOWN_MAX},
	[FACT_TYPE_SPANS] = {"SPAN", "<f8", "ns", 8, UNKNOWN_NAN},
};

/* Adds a column behind the others. The layout has room. */
static struct record_column *add(struct record_layout *l, const struct stored *as, const char *doc)
{
	struct record_column *c = &l->column[l->columns++];

	c->type = as->type;
	c->dtype = as->dtype;
	c->unit = as->unit;
	c->doc = doc;
	c->bytes = as->bytes;
	c->unknown = as->unknown;
	c->offset = l->bytes;
	l->bytes += as->bytes;
	return c;
}

static void add_named(struct record_layout *l, const struct stored *as, const char *name,
	const char *more, const char *doc)
{
	struct record_column *c = add(l, as, doc);

	snprintf(c->name, sizeof(c->name), "%.40s%.20s", name, more);
}

static const struct stored direction = {"FLAG", "u1", NULL, 1, UNKNOWN_NEVER};

static void add_fact_column(struct record_layout *l, const struct fact_column *c)
{
	static const struct stored port = {"PORT", "<u2", NULL, 2, UNKNOWN_NEVER};
	const struct stored *as = &stored[c->type];

	switch (c->type) {
	case FACT_TYPE_FLOW:
		add_named(l, as, c->name, "", c->doc);
		add_named(l, &direction, c->name, "_rx",
			"1: its receiving direction, 0: the sending one");
		break;
	case FACT_TYPE_ADDRESS:
		add_named(l, as, c->name, "_addr", c->doc);
		add_named(l, &port, c->name, "_port", "its port");
		add_named(l, &stored[FACT_TYPE_FLAG], c->name, "_known",
			"0: address and port are not known");
		break;
	case FACT_TYPE_SPANS:
		for (int w = 0; w < c->count; w++) {
			char more[32];

			snprintf(more, sizeof(more), "_%.30s", c->words[w]);
			add_named(l, as, c->name, more, c->doc);
		}
		break;
	default:
		add_named(l, as, c->name, "", c->doc);
		if (c->type == FACT_TYPE_WORD) {
			l->column[l->columns - 1].words = c->words;
			l->column[l->columns - 1].word_count = c->count;
		}
	}
}

bool layout_of_fact(struct record_layout *l, enum fact kind)
{
	const struct fact_desc *fact = &fact_table[kind];
	size_t columns = 0;

	memset(l, 0, sizeof(*l));
	for (int i = 0; i < fact->columns; i++)
		columns += fact->column[i].type == FACT_TYPE_SPANS ? fact->column[i].count : 3u;
	l->column = mg_calloc(columns, sizeof(*l->column));
	if (!l->column)
		return false;
	snprintf(l->name, sizeof(l->name), "%.60s", fact->name);
	l->doc = fact->doc;
	for (int i = 0; i < fact->columns; i++)
		add_fact_column(l, &fact->column[i]);
	return true;
}

/* clang-format off */
#define HEAD_COLUMNS(H) \
	H(time, TIME, "time; of a call, its end") \
	H(cycles, COUNT, "the same on the cycle counter; 0: the counter has no constant rate") \
	H(flow, FLOW, "number of the socket of its flow") \
	H(offset, COUNT, "offset in the flow of the bytes that it concerns") \
	H(length, COUNT, "their number") \
	H(sender, FLOW, "a received message: number of the socket that sent it, if recorded") \
	H(sender_offset, COUNT, "offset of the message's first byte there") \
	H(pid, ID, "process; of an event of the kernel, that which was current on the CPU") \
	H(tid, ID, "its thread") \
	H(cpu, CPU, "CPU") \
	H(flow_rx, FLAG, "1: its receiving direction, 0: the sending one") \
	H(sender_rx, FLAG, "the same of the sender's")
/* clang-format on */

static bool begin_event(struct record_layout *l, const char *name, const char *doc, size_t fields)
{
	static const struct stored id = {"ID", "<u4", NULL, 4, UNKNOWN_NEVER};
	const struct stored *const as[] = {
#define STORED_TIME            &stored[FACT_TYPE_TIME]
#define STORED_COUNT           &stored[FACT_TYPE_COUNT]
#define STORED_FLOW            &stored[FACT_TYPE_FLOW]
#define STORED_CPU             &stored[FACT_TYPE_CPU]
#define STORED_FLAG            &stored[FACT_TYPE_FLAG]
#define STORED_ID              &id
#define AS(member, type, text) STORED_##type,
		HEAD_COLUMNS(AS)};
#define NAME(member, type, text) #member,
	static const char *const names[] = {HEAD_COLUMNS(NAME)};
#define DOC(member, type, text) text,
	static const char *const docs[] = {HEAD_COLUMNS(DOC)};
	const size_t head = sizeof(names) / sizeof(names[0]);

	memset(l, 0, sizeof(*l));
	l->column = mg_calloc(head + fields, sizeof(*l->column));
	if (!l->column)
		return false;
	snprintf(l->name, sizeof(l->name), "event/%.60s", name);
	l->doc = doc;
	for (size_t i = 0; i < head; i++)
		add_named(l, as[i], names[i], "", docs[i]);
	l->column[1].unknown = UNKNOWN_ZERO; /* cycles */
	return true;
}

bool layout_has_in_head(const struct mg_event_desc *event, const struct mg_field_desc *field)
{
	return strcmp(field->name, "sock") == 0 ||
	       (event->id >= MG_APP_BASE &&
		       (strcmp(field->name, "tid") == 0 || strcmp(field->name, "pid") == 0));
}

uint8_t layout_field_bytes(const struct mg_field_desc *field)
{
	return field->class == MG_CLASS_TEXT ? 4 : field->size;
}

static bool has_column(const struct record_layout *l, const char *name)
{
	for (uint32_t i = 0; i < l->columns; i++)
		if (strcmp(l->column[i].name, name) == 0)
			return true;
	return false;
}

static void add_field(struct record_layout *l, const struct mg_field_desc *f)
{
	static const char *const integer[2][9] = {
		{[1] = "u1", [2] = "<u2", [4] = "<u4", [8] = "<u8"},
		{[1] = "i1", [2] = "<i2", [4] = "<i4", [8] = "<i8"},
	};
	struct stored as = {"UINT", NULL, NULL, layout_field_bytes(f), UNKNOWN_NEVER};
	struct record_column *c;

	if (f->class == MG_CLASS_TEXT) {
		as = stored[FACT_TYPE_TEXT];
	} else if (f->class == MG_CLASS_BYTES) {
		as.type = "BYTES";
		as.dtype = "V16";
	} else {
		as.type = f->class == MG_CLASS_INT   ? "INT"
			  : f->class == MG_CLASS_HEX ? "HEX"
						     : "UINT";
		as.dtype = integer[f->class == MG_CLASS_INT][f->size];
	}
	c = add(l, &as, f->doc);
	/* some fields have the name of a column that each event has */
	l->columns--;
	snprintf(c->name, sizeof(c->name), "%s%.40s", has_column(l, f->name) ? "field_" : "",
		f->name);
	l->columns++;
	if (f->names && f->names->count)
		c->names = f->names;
}

bool layout_of_event(struct record_layout *l, const struct mg_event_desc *event)
{
	if (!begin_event(l, event->name, event->doc, event->field_count))
		return false;
	for (int i = 0; i < event->field_count; i++)
		if (!layout_has_in_head(event, &event->fields[i]))
			add_field(l, &event->fields[i]);
	return true;
}

bool layout_of_other(struct record_layout *l)
{
	if (!begin_event(l, "other", "An event that was chosen with --event.", 2))
		return false;
	add_named(l, &stored[FACT_TYPE_TEXT], "name", "", "its name");
	add_named(l, &stored[FACT_TYPE_TEXT], "text", "", "its fields");
	return true;
}
