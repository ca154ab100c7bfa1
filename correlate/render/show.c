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
	const struct show *s, const struct mg_event *e, const struct mg_field_desc *f, uint64_t u)
{
	FILE *to = s->to;
	bool is_signed = f->class == MG_CLASS_INT;
	int64_t value = is_signed && f->size == 4 ? (int64_t)(int32_t)u : (int64_t)u;
	const char *name = mg_enum_name(f->names, value);
	char words[SHOW_WORDS];

	if (name)
		fputs(name, to);
	else if (!s->tsv && show_words(s->core, e, f, value, words))
		fputs(words, to);
	else if (f->names == &mg_names_e_option)
		fprintf(to, "%u/%u", (uint32_t)u >> 16, (uint32_t)u & 0xffff);
	else if (f->class == MG_CLASS_HEX)
		fprintf(to, "0x%" PRIx64, u);
	else if (is_signed)
		fprintf(to, "%" PRId64, value);
	else
		fprintf(to, "%" PRIu64, u);
}

static void field(const struct show *s, const struct mg_event *e, const struct mg_field_desc *f,
	const uint8_t *payload)
{
	FILE *to = s->to;
	const uint8_t *p = payload + f->offset;
	char address[INET6_ADDRSTRLEN];
	uint64_t u = 0;

	switch (f->class) {
	case MG_CLASS_TEXT:
		field_text_words(to, (const char *)p, strnlen((const char *)p, f->size));
		break;
	case MG_CLASS_BYTES:
		fputs(inet_ntop(AF_INET6, p, address, sizeof(address)), to);
		break;
	default:
		memcpy(&u, p, f->size);
		number(s, e, f, u);
	}
}

/* `entry` tells by its return value which function is called. */
static bool is_function(const struct mg_event *e, const struct mg_field_desc *f)
{
	return e->id == MG_APP_BASE + MG_FN_entry && strcmp(f->name, "ret") == 0;
}

static void fields(const struct show *s, const struct mg_event *e)
{
	FILE *to = s->to;
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	const uint8_t *payload = (const uint8_t *)&e->sys_enter;
	bool first = true;

	if (!d) {
		fputs(e->other.text ? e->other.text : "", to);
		return;
	}
	for (int i = 0; i < d->field_count; i++) {
		const char *name = d->fields[i].name;

		/* these have columns of their own */
		if (strcmp(name, "sock") == 0 ||
			(MG_IS_APP(e->id) &&
				(strcmp(name, "tid") == 0 || strcmp(name, "pid") == 0)))
			continue;
		fprintf(to, "%s%s=", first ? "" : " ", name);
		first = false;
		if (is_function(e, &d->fields[i]))
			fputs(mg_function_name((unsigned int)e->call.ret), to);
		else
			field(s, e, &d->fields[i], payload);
	}
}

static uint64_t end_of(const struct annotation *a, uint32_t i)
{
	return annotated_bytes(a, i).offset + annotated_bytes(a, i).length;
}

/* Prints the byte ranges of a call that are not contiguous, as another thread's came in between. */
static void ranges(FILE *to, const struct annotation *a)
{
	bool together = true;

	for (uint32_t i = 1; i < a->pieces; i++)
		together = together && annotated_bytes(a, i).offset == end_of(a, i - 1);
	for (uint32_t i = 0; !together && i < a->pieces; i++)
		fprintf(to, "%s%" PRIu64 "+%" PRIu64,
			i ? "," : " ranges=", annotated_bytes(a, i).offset,
			annotated_bytes(a, i).length);
}

/* Prints which bytes of which sender a received message is. */
static void sender(FILE *to, const struct annotation *a)
{
	if (a->from)
		fprintf(to, " from=%s@%" PRIu64, flow_id(annotated_sender(a)), a->from_offset);
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

static bool wanted(
	struct show *s, const struct mg_event *e, const struct annotation *a, const char *flow)
{
	if (s->flow && strcmp(s->flow, flow) != 0)
		return false;
	s->flow_seen = true;
	if (s->filter && !filter_takes_event(s->filter, s->core, e, a))
		return false;
	return s->tsv || s->setup || !is_setup(s, e, a);
}

/* Writes the event's flow; events of the tracer itself and of the scheduler have none. */
static void flow_text(char out[32], const struct annotation *a)
{
	if (a->sock)
		flow_name(out, annotated_flow(a).sock, a->rx);
	else
		out[0] = 0;
}

static void tsv(struct show *s, const struct mg_event *e, const struct annotation *a,
	const char *name, const char *flow)
{
	FILE *to = s->to;

	fprintf(to, "%" PRIu64 "\t", e->time_ns);
	if (a->cycles)
		fprintf(to, "%" PRIu64, a->cycles);
	fputc('\t', to);
	if (e->cpu >= 0)
		fprintf(to, "%d", e->cpu);
	fprintf(to, "\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t", e->pid, e->tid, name, flow);
	if (a->has_offset)
		fprintf(to, "%" PRIu64 "\t%" PRIu64 "\t", a->offset, a->length);
	else
		fputs("\t\t", to);
	fields(s, e);
	ranges(to, a);
	sender(to, a);
	fputc('\n', to);
}

static void people(struct show *s, const struct mg_event *e, const struct annotation *a,
	const char *name, const char *flow)
{
	FILE *to = s->to;
	char range[48] = "";

	if (a->has_offset)
		snprintf(range, sizeof(range), "%" PRIu64 "+%" PRIu64, a->offset, a->length);
	fprintf(to, "%14.9f ", (double)(e->time_ns - s->first_ns) / 1e9);
	if (e->cpu >= 0)
		fprintf(to, "%3d ", e->cpu);
	else
		fputs("    ", to);
	fprintf(to, "%7" PRIu32 "  %-15s %-12s %-22s ", e->tid, name, flow, range);
	fields(s, e);
	ranges(to, a);
	sender(to, a);
	fputc('\n', to);
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
	char flow[32];

	if (!name || s->failed)
		return;
	if (!s->first_ns)
		s->first_ns = e->time_ns;
	flow_text(flow, a);
	show_header(s);
	if (!wanted(s, e, a, flow))
		return;
	(s->tsv ? tsv : people)(s, e, a, name, flow);
	s->failed = ferror(s->to);
}
