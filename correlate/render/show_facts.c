/* SPDX-License-Identifier: MIT */
#include "show_facts.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

#include "event_table.h"
#include "report.h"

const char *fact_type_name(enum fact_type type)
{
	static const char *const names[] = {
		[FACT_TYPE_TIME] = "u64",
		[FACT_TYPE_SPAN] = "f64",
		[FACT_TYPE_COUNT] = "u64",
		[FACT_TYPE_SIGNED] = "i64",
		[FACT_TYPE_CPU] = "u64",
		[FACT_TYPE_FLAG] = "bool",
		[FACT_TYPE_MAYBE] = "bool",
		[FACT_TYPE_FLOW] = "text",
		[FACT_TYPE_FUNCTION] = "text",
		[FACT_TYPE_TEXT] = "text",
		[FACT_TYPE_ADDRESS] = "text",
		[FACT_TYPE_NS] = "u64",
		[FACT_TYPE_NUMBER] = "f64",
		[FACT_TYPE_EVENTS] = "text",
		[FACT_TYPE_LAYERS] = "text",
		[FACT_TYPE_WORD] = "text",
		[FACT_TYPE_SPANS] = NULL,
	};

	return names[type];
}

bool fact_has_flow(const struct fact_desc *fact)
{
	for (int i = 0; i < fact->columns; i++)
		if (fact->column[i].type == FACT_TYPE_FLOW)
			return true;
	return false;
}

static void separate(struct show_facts *s)
{
	line_char(&s->line, s->csv ? ',' : '\t');
}

static void end_row(struct show_facts *s)
{
	if (s->csv)
		line_char(&s->line, '\r');
	line_end(&s->line);
}

/* Prints the name of a column, or of its part for one of several words. */
static void name(struct show_facts *s, bool is_first, const struct fact_column *c, const char *word,
	bool is_time)
{
	if (!is_first)
		separate(s);
	line_text(&s->line, c->name);
	if (word) {
		line_char(&s->line, '_');
		line_text(&s->line, word);
	}
	if (is_time)
		line_text(&s->line, "_ns");
	if (!s->csv) {
		line_char(&s->line, ':');
		line_text(&s->line, fact_type_name(word ? FACT_TYPE_SPAN : c->type));
	}
}

void show_facts_header(struct show_facts *s)
{
	const struct fact_desc *fact = s->fact;

	if (s->has_header)
		return;
	s->has_header = true;
	s->line.to = s->to;
	for (int i = 0; i < fact->columns; i++) {
		const struct fact_column *c = &fact->column[i];
		bool is_time = c->type == FACT_TYPE_TIME || c->type == FACT_TYPE_NS ||
			       c->type == FACT_TYPE_SPAN;

		if (c->type != FACT_TYPE_SPANS)
			name(s, i == 0, c, NULL, is_time);
		for (int w = 0; c->type == FACT_TYPE_SPANS && w < c->count; w++)
			name(s, i == 0 && w == 0, c, c->words[w], true);
	}
	end_row(s);
}

static void span(struct show_facts *s, uint64_t cycles)
{
	double hz = core_hz(s->core);

	if (cycles != FACT_NONE && hz > 0)
		line_tenths(&s->line, (double)cycles * 1e9 / hz);
}

static void time_of(struct show_facts *s, uint64_t cycles)
{
	if (cycles && core_has_clock(s->core))
		line_unsigned(&s->line, core_ns(s->core, cycles));
}

static void flow(struct show_facts *s, const struct fact_flow_id *f)
{
	char name[32];

	if (!f->sock)
		return;
	flow_name(name, f->sock, f->rx);
	line_text(&s->line, name);
}

static void address(struct show_facts *s, const struct fact_address *a)
{
	char text[64];

	if (!a->addr)
		return;
	address_text(text, a->addr, a->port);
	line_text(&s->line, text);
}

/* Prints a text; CSV has a quotation mark within quotation marks twice. */
static void text(struct show_facts *s, const char *t)
{
	if (!t || !*t)
		return;
	if (!s->csv) {
		line_words(&s->line, t, strlen(t));
		return;
	}
	line_char(&s->line, '"');
	while (*t) {
		size_t n = strcspn(t, "\"");

		line_words(&s->line, t, n);
		if (t[n] == '"') {
			line_text(&s->line, "\"\"");
			n++;
		}
		t += n;
	}
	line_char(&s->line, '"');
}

/* Begins and ends a list of names with commas between them. */
static void quote(struct show_facts *s)
{
	if (s->csv)
		line_char(&s->line, '"');
}

static void events(struct show_facts *s, struct mg_events set)
{
	const char *comma = "";

	quote(s);
	for (unsigned int id = 0; id < MG_TRACER_BASE; id++) {
		const struct mg_event_desc *e = mg_event_by_id(id);

		if (e && mg_events_have(set, id)) { /* a full ring is said to lose every id, also
						       those of no event */
			line_text(&s->line, comma);
			line_text(&s->line, e->name);
			comma = ",";
		}
	}
	quote(s);
}

static void layers(struct show_facts *s, uint32_t set)
{
	const char *comma = "";

	quote(s);
	for (int i = 0; i < MG_LAYER_END; i++)
		if (set >> i & 1) {
			line_text(&s->line, comma);
			line_text(&s->line, mg_layer_names[i]);
			comma = ",";
		}
	quote(s);
}

static void value(struct show_facts *s, const struct fact_column *c, const void *at)
{
	uint64_t u = 0;
	uint8_t b = 0;

	if (c->type == FACT_TYPE_FLAG || c->type == FACT_TYPE_MAYBE || c->type == FACT_TYPE_WORD)
		memcpy(&b, at, sizeof(b));
	switch ((enum fact_type)c->type) {
	case FACT_TYPE_TIME:
		time_of(s, *(const fact_TIME *)at);
		break;
	case FACT_TYPE_SPAN:
		span(s, *(const fact_SPAN *)at);
		break;
	case FACT_TYPE_COUNT:
		u = *(const fact_COUNT *)at;
		if (u != FACT_NONE)
			line_unsigned(&s->line, u);
		break;
	case FACT_TYPE_SIGNED:
		line_signed(&s->line, *(const fact_SIGNED *)at);
		break;
	case FACT_TYPE_CPU:
		if (*(const fact_CPU *)at >= 0)
			line_signed(&s->line, *(const fact_CPU *)at);
		break;
	case FACT_TYPE_FLAG:
	case FACT_TYPE_MAYBE:
		if (b != FACT_MAYBE)
			line_unsigned(&s->line, b);
		break;
	case FACT_TYPE_FLOW:
		flow(s, at);
		break;
	case FACT_TYPE_FUNCTION: {
		fact_FUNCTION id = *(const fact_FUNCTION *)at;

		if (id == FACT_NO_FUNCTION)
			break;
		line_text(&s->line, id & FACT_SYSTEM_CALL ? mg_syscall_name(id & ~FACT_SYSTEM_CALL)
							  : mg_function_name(id));
		break;
	}
	case FACT_TYPE_TEXT:
		text(s, *(const fact_TEXT *)at);
		break;
	case FACT_TYPE_ADDRESS:
		address(s, at);
		break;
	case FACT_TYPE_NS:
		u = *(const fact_NS *)at;
		if (u)
			line_unsigned(&s->line, u);
		break;
	case FACT_TYPE_NUMBER:
		if (!isnan(*(const fact_NUMBER *)at))
			line_number(&s->line, *(const fact_NUMBER *)at);
		break;
	case FACT_TYPE_EVENTS:
		events(s, *(const fact_EVENTS *)at);
		break;
	case FACT_TYPE_LAYERS:
		layers(s, *(const fact_LAYERS *)at);
		break;
	case FACT_TYPE_WORD:
		if (b < c->count && c->words[b])
			line_text(&s->line, c->words[b]);
		break;
	case FACT_TYPE_SPANS:
		for (int w = 0; w < c->count; w++) {
			if (w)
				separate(s);
			span(s, ((const fact_SPAN *)at)[w]);
		}
		break;
	}
}

/* Returns true if any column of the fact names the flow that was asked for. */
static bool is_wanted(struct show_facts *s, const void *fact)
{
	char name[32];

	for (int i = 0; i < s->fact->columns; i++) {
		const struct fact_column *c = &s->fact->column[i];
		const struct fact_flow_id *f = (const void *)((const char *)fact + c->offset);

		if (c->type != FACT_TYPE_FLOW || !f->sock)
			continue;
		flow_name(name, f->sock, f->rx);
		if (strcmp(name, s->flow) == 0)
			return true;
		if (s->fact == &fact_table[FACT_flow])
			return false; /* its peer is another row */
	}
	return false;
}

static void print(void *arg, const void *fact)
{
	struct show_facts *s = arg;

	if (s->flow && !is_wanted(s, fact))
		return;
	if (s->filter &&
		!filter_takes_fact(s->filter, s->core, (enum fact)(s->fact - fact_table), fact))
		return;
	show_facts_header(s);
	s->line.to = s->to;
	for (int i = 0; i < s->fact->columns; i++) {
		const struct fact_column *c = &s->fact->column[i];

		if (i)
			separate(s);
		value(s, c, (const char *)fact + c->offset);
	}
	end_row(s);
}

void show_facts_listen(struct show_facts *s)
{
	facts_listen(core_facts(s->core), (enum fact)(s->fact - fact_table), print, s);
}
