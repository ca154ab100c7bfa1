/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "event_table.h"
#include "field_text.h"
#include "report.h"
#include "show_words.h"
#include "table.h"

#define NAME_MAX_SHOWN 120 /* bytes */

/* Prints a number, by its name where it has one. */
static void number(
	struct show *s, const struct mg_event *e, const struct mg_field_desc *f, uint64_t u)
{
	struct line *to = &s->line;
	bool is_signed = f->class == MG_CLASS_INT;
	int64_t value = is_signed && f->size == 4 ? (int64_t)(int32_t)u : (int64_t)u;
	const char *name = mg_enum_name(f->names, value);
	char words[SHOW_WORDS];

	if (name) {
		line_text(to, name);
	} else if (!s->tsv && show_words(s->core, e, f, value, words)) {
		line_text(to, words);
	} else if (f->names == &mg_names_e_option) {
		line_unsigned(to, (uint32_t)u >> 16);
		line_char(to, '/');
		line_unsigned(to, (uint32_t)u & 0xffff);
	} else if (f->class == MG_CLASS_HEX) {
		line_hex(to, u);
	} else if (is_signed) {
		line_signed(to, value);
	} else {
		line_unsigned(to, u);
	}
}

/* Returns an integer; one memcpy() of any size would stall the read that follows it. */
static uint64_t integer(const uint8_t *p, uint8_t size)
{
	uint64_t u = 0;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&u16, p, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, p, sizeof(u32));
		return u32;
	default:
		memcpy(&u, p, size < sizeof(u) ? size : sizeof(u));
		return u;
	}
}

static void field(struct show *s, const struct mg_event *e, const struct mg_field_desc *f,
	const uint8_t *payload)
{
	const uint8_t *p = payload + f->offset;
	char address[INET6_ADDRSTRLEN];

	switch (f->class) {
	case MG_CLASS_TEXT:
		line_words(&s->line, (const char *)p, strnlen((const char *)p, f->size));
		break;
	case MG_CLASS_BYTES:
		line_text(&s->line, inet_ntop(AF_INET6, p, address, sizeof(address)));
		break;
	default:
		number(s, e, f, integer(p, f->size));
	}
}

/* `entry` tells by its return value which function is called. */
static bool is_function(const struct mg_event *e, const struct mg_field_desc *f)
{
	return e->id == MG_APP_BASE + MG_FN_entry && strcmp(f->name, "ret") == 0;
}

/* Returns whether a field has a column of its own. */
static bool has_column(const struct mg_event *e, const char *name)
{
	/* the first letter says no for most, which a call of strcmp() would not say faster */
	return (name[0] == 's' && strcmp(name, "sock") == 0) ||
	       (MG_IS_APP(e->id) && (strcmp(name, "tid") == 0 || strcmp(name, "pid") == 0));
}

static void fields(struct show *s, const struct mg_event *e)
{
	struct line *to = &s->line;
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	const uint8_t *payload = (const uint8_t *)&e->sys_enter;
	bool first = true;

	if (!d) {
		line_text(to, e->other.text ? e->other.text : "");
		return;
	}
	for (int i = 0; i < d->field_count; i++) {
		const char *name = d->fields[i].name;

		if (has_column(e, name))
			continue;
		if (!first)
			line_char(to, ' ');
		first = false;
		line_text(to, name);
		line_char(to, '=');
		if (is_function(e, &d->fields[i]))
			line_text(to, mg_function_name((unsigned int)e->call.ret));
		else
			field(s, e, &d->fields[i], payload);
	}
}

static uint64_t end_of(const struct annotation *a, uint32_t i)
{
	return annotated_bytes(a, i).offset + annotated_bytes(a, i).length;
}

/* Prints the byte ranges of a call that are not contiguous, as another thread's came in between. */
static void ranges(struct line *to, const struct annotation *a)
{
	bool together = true;

	for (uint32_t i = 1; i < a->pieces; i++)
		together = together && annotated_bytes(a, i).offset == end_of(a, i - 1);
	for (uint32_t i = 0; !together && i < a->pieces; i++) {
		line_text(to, i ? "," : " ranges=");
		line_unsigned(to, annotated_bytes(a, i).offset);
		line_char(to, '+');
		line_unsigned(to, annotated_bytes(a, i).length);
	}
}

/* Prints which bytes of which sender a received message is. */
static void sender(struct line *to, const struct annotation *a)
{
	if (!a->from)
		return;
	line_text(to, " from=");
	line_text(to, flow_id(annotated_sender(a)));
	line_char(to, '@');
	line_unsigned(to, a->from_offset);
}

/* Returns whether an event says only what was there before: a socket, its ends, its state. */
static bool announces(unsigned int id)
{
	return mg_events_have(
		MG_EVENTS(sock_new, sock_addr, sock_open, sock_state, tcp_algorithm), id);
}

/* Returns whether it is a call in a recording without a kernel side, whose calls have no flows. */
static bool is_only_side(const struct show *s, const struct mg_event *e)
{
	return MG_IS_APP(e->id) && s->core && !core_kernel_events(s->core);
}

/*
 * Returns whether an event is of the recording's set-up: about the recording itself, but for what
 * is missing in it, or before the first event of a flow. What was asked for by name
 * is not.
 */
static bool is_setup(struct show *s, const struct mg_event *e, const struct annotation *a)
{
	const struct mg_event_desc *d = mg_event_by_id(e->id);

	if (s->filter && (s->filter->event.n || s->filter->layers))
		return false;
	if (e->id == MG_EVENT_lost || e->id == MG_EVENT_change || e->id == MG_EVENT_dump ||
		e->id == MG_EVENT_other)
		return false;
	if (is_only_side(s, e) || (a->sock && !announces(e->id)))
		s->begun = true;
	return !s->begun || (d && d->layer == MG_LAYER_TRACER);
}

/* Returns whether the event is of the flow that was asked for, if one was. */
static bool is_of_flow(const struct show *s, const struct annotation *a)
{
	char flow[32] = ""; /* events of the tracer itself and of the scheduler have none */

	if (!s->flow)
		return true;
	if (a->sock)
		flow_name(flow, annotated_flow(a).sock, a->rx);
	return strcmp(s->flow, flow) == 0;
}

static bool wanted(struct show *s, const struct mg_event *e, const struct annotation *a)
{
	if (!is_of_flow(s, a))
		return false;
	s->flow_seen = true;
	if (s->filter && !filter_takes_event(s->filter, s->core, e, a))
		return false;
	return s->tsv || s->setup || !is_setup(s, e, a);
}

static void tsv_flow(struct line *to, const struct annotation *a)
{
	uint64_t sock = a->sock ? annotated_flow(a).sock : 0;
	char name[32];

	if (sock >= FLOW_CONNECTION) { /* more than a number */
		flow_name(name, sock, a->rx);
		line_text(to, name);
	} else if (sock) {
		line_unsigned(to, sock);
		line_text(to, a->rx ? "/rx" : "/tx");
	}
}

static void tsv(
	struct show *s, const struct mg_event *e, const struct annotation *a, const char *name)
{
	struct line *to = &s->line;

	line_unsigned(to, e->time_ns);
	line_char(to, '\t');
	if (a->cycles)
		line_unsigned(to, a->cycles);
	line_char(to, '\t');
	if (e->cpu >= 0)
		line_signed(to, e->cpu);
	line_char(to, '\t');
	line_unsigned(to, e->pid);
	line_char(to, '\t');
	line_unsigned(to, e->tid);
	line_char(to, '\t');
	line_text(to, name);
	line_char(to, '\t');
	tsv_flow(to, a);
	line_char(to, '\t');
	if (a->has_offset)
		line_unsigned(to, a->offset);
	line_char(to, '\t');
	if (a->has_offset)
		line_unsigned(to, a->length);
	line_char(to, '\t');
}

static void people(
	struct show *s, const struct mg_event *e, const struct annotation *a, const char *name)
{
	char range[48] = "", cpu[16] = "", flow[32] = "", text[256];

	if (a->has_offset)
		snprintf(range, sizeof(range), "%" PRIu64 "+%" PRIu64, a->offset, a->length);
	if (e->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", e->cpu);
	if (a->sock)
		flow_name(flow, annotated_flow(a).sock, a->rx);
	snprintf(text, sizeof(text), "%14.9f %3s %7" PRIu32 "  %-15.120s %-12s %-22s ",
		(double)(e->time_ns - s->first_ns) / 1e9, cpu, e->tid, name, flow, range);
	line_text(&s->line, text);
}

void show_header(struct show *s)
{
	if (s->has_header)
		return;
	s->has_header = true;
	if (s->tsv)
		fputs("time_ns\tcycles\tcpu\tpid\ttid\tevent\tflow\toffset\tlength\tfields\n",
			s->to);
	else
		fprintf(s->to, "%14s %3s %7s  %-15s %-12s %-22s %s\n", "time", "cpu", "tid",
			"event", "flow", "bytes", "fields");
}

void show_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct show *s = arg;
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	const char *name = d                         ? d->name
			   : e->id == MG_EVENT_other ? text_plain(e->other.name, NAME_MAX_SHOWN)
						     : NULL;

	if (!name || s->failed)
		return;
	if (!s->first_ns)
		s->first_ns = e->time_ns;
	show_header(s);
	if (!wanted(s, e, a))
		return;
	s->line.to = s->to;
	(s->tsv ? tsv : people)(s, e, a, name);
	fields(s, e);
	ranges(&s->line, a);
	sender(&s->line, a);
	line_end(&s->line);
	s->failed = ferror(s->to);
}
