/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "event_table.h"
#include "field_text.h"
#include "report.h"
#include "table.h"
#include "tcp_names.h"

#define NAME_MAX_SHOWN 120 /* bytes */

static void field(FILE *to, const struct mg_field_desc *f, const uint8_t *payload)
{
	const uint8_t *p = payload + f->offset;
	char address[INET6_ADDRSTRLEN];
	uint64_t u = 0;

	if (f->class != MG_CLASS_TEXT && f->class != MG_CLASS_BYTES)
		memcpy(&u, p, f->size);
	switch (f->class) {
	case MG_CLASS_HEX:
		fprintf(to, "0x%" PRIx64, u);
		break;
	case MG_CLASS_INT:
		fprintf(to, "%" PRId64, f->size == 4 ? (int64_t)(int32_t)u : (int64_t)u);
		break;
	case MG_CLASS_TEXT:
		field_text_words(to, (const char *)p, strnlen((const char *)p, f->size));
		break;
	case MG_CLASS_BYTES:
		fputs(inet_ntop(AF_INET6, p, address, sizeof(address)), to);
		break;
	default:
		fprintf(to, "%" PRIu64, u);
	}
}

/* Prints a socket option: by name if it shapes traffic, else by level and number. */
static void socket_option(FILE *to, uint32_t option)
{
	static const struct {
		uint16_t level, option;
		const char *name;
	} known[] = {
		{SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF"},
		{SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF"},
		{SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR"},
		{SOL_SOCKET, SO_KEEPALIVE, "SO_KEEPALIVE"},
		{SOL_SOCKET, SO_LINGER, "SO_LINGER"},
		{SOL_SOCKET, SO_ERROR, "SO_ERROR"},
		{SOL_SOCKET, SO_ZEROCOPY, "SO_ZEROCOPY"},
		{IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY"},
		{IPPROTO_TCP, TCP_CORK, "TCP_CORK"},
		{IPPROTO_TCP, TCP_QUICKACK, "TCP_QUICKACK"},
		{IPPROTO_TCP, TCP_NOTSENT_LOWAT, "TCP_NOTSENT_LOWAT"},
		{IPPROTO_TCP, TCP_CONGESTION, "TCP_CONGESTION"},
		{IPPROTO_TCP, TCP_ULP, "TCP_ULP"},
		{IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, "TCP_ZEROCOPY_RECEIVE"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (option == ((uint32_t)known[i].level << 16 | known[i].option)) {
			fputs(known[i].name, to);
			return;
		}
	fprintf(to, "%u/%u", option >> 16, option & 0xffff);
}

/* Prints a field whose number has a name. Returns whether it did. */
static bool named_field(
	FILE *to, const struct mg_event *e, const struct mg_field_desc *f, const uint8_t *payload)
{
	const char *name = f->name;

	if (strcmp(name, "kind") == 0) {
		fputs(mg_kind_name(payload[f->offset]), to);
		return true;
	}
	if (e->id == MG_APP_BASE + MG_FN_entry && strcmp(name, "ret") == 0) {
		fputs(mg_function_name((unsigned int)e->call.ret), to);
		return true;
	}
	if (strcmp(name, "option") == 0 &&
		(MG_IS_APP(e->id) ? e->call.option : e->sys_enter.option)) {
		socket_option(to, MG_IS_APP(e->id) ? e->call.option : e->sys_enter.option);
		return true;
	}
	if (e->id == MG_EVENT_tcp_reset && strcmp(name, "reason") == 0) {
		fputs(mg_reset_name(e->tcp_reset.reason), to);
		return true;
	}
	if (e->id == MG_EVENT_tcp_cong && (strcmp(name, "old") == 0 || strcmp(name, "now") == 0)) {
		fputs(mg_ca_state_name(name[0] == 'o' ? e->tcp_cong.old : e->tcp_cong.now), to);
		return true;
	}
	if (strcmp(name, "ca_state") == 0) {
		fputs(mg_ca_state_name(e->tcp_limits.ca_state), to);
		return true;
	}
	if (strcmp(name, "call") == 0) {
		fputs(mg_syscall_name(
			      e->id == MG_EVENT_sys_enter ? e->sys_enter.call : e->sys_exit.call),
			to);
		return true;
	}
	return false;
}

static void fields(FILE *to, const struct mg_event *e)
{
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
		if (!named_field(to, e, &d->fields[i], payload))
			field(to, &d->fields[i], payload);
	}
}

/* Prints the byte ranges of a call that are not contiguous, as another thread's came in between. */
static void ranges(FILE *to, const struct annotation *a)
{
	bool together = true;

	for (uint32_t i = 1; i < a->pieces; i++)
		together = together && a->piece[i].off == a->piece[i - 1].off + a->piece[i - 1].len;
	for (uint32_t i = 0; !together && i < a->pieces; i++)
		fprintf(to, "%s%" PRIu64 "+%" PRIu64, i ? "," : " ranges=", a->piece[i].off,
			a->piece[i].len);
}

/* Prints which bytes of which sender a received message is. */
static void sender(FILE *to, const struct annotation *a)
{
	if (a->from)
		fprintf(to, " from=%s@%" PRIu64, flow_id(a->from), a->from_offset);
}

static bool wanted(struct show *s, const struct mg_event *e, const char *flow)
{
	double at;

	if (s->flow && strcmp(s->flow, flow) != 0)
		return false;
	s->flow_seen = true;
	at = (double)(e->time_ns - s->first_ns) / 1e9;
	return at >= s->from_s && (s->to_s < 0 || at <= s->to_s);
}

/* Writes the event's flow; events of the tracer itself and of the scheduler have none. */
static void flow_text(char out[32], const struct annotation *a)
{
	if (a->sock)
		flow_name(out, a->sock->cookie, a->rx);
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
	fields(to, e);
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
	fields(to, e);
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
	if (!wanted(s, e, flow))
		return;
	(s->tsv ? tsv : people)(s, e, a, name, flow);
	s->failed = ferror(s->to);
}
