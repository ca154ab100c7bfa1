/* SPDX-License-Identifier: MIT */
#include "export/ulm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "event_table.h"
#include "export/text_file.h"
#include "field_text.h"
#include "render/report.h"

struct ulm {
	struct export *e;
	struct text_file file;
	uint64_t wall_clock; /* time since 1970 at which CLOCK_MONOTONIC was 0, ns */
	uint64_t second;     /* since 1970, of `date` */
	char date[32];       /* that second */
};

/* Returns whether an event is of a call on a socket or of a packet on its way. */
static bool is_wanted(const struct mg_event_desc *d, const struct annotation *a)
{
	static const uint32_t layers = 1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SOCKET |
				       1u << MG_LAYER_TCP | 1u << MG_LAYER_IP |
				       1u << MG_LAYER_NETFILTER | 1u << MG_LAYER_DEVICE |
				       1u << MG_LAYER_GRO;

	return d->layer == MG_LAYER_APP || (a->sock && layers >> d->layer & 1);
}

/* Returns whether the time of day is known, which a trace's metadata says before its first event.
 */
static bool knows_time(struct ulm *u)
{
	struct fact_recording about;

	if (!u->wall_clock) {
		core_recording(u->e->core, &about);
		u->wall_clock = about.wall_clock;
	}
	return u->wall_clock != FACT_NONE;
}

/* Prints the time in UTC, to the microsecond. */
static void date(struct ulm *u, uint64_t mono_ns)
{
	uint64_t ns = mono_ns + u->wall_clock, second = ns / 1000000000;
	time_t t = (time_t)second;
	struct tm utc;

	if (second != u->second || !u->date[0]) {
		strftime(u->date, sizeof(u->date), "%Y%m%d%H%M%S", gmtime_r(&t, &utc));
		u->second = second;
	}
	fprintf(u->file.to, "DATE=%s.%06" PRIu64, u->date, ns % 1000000000 / 1000);
}

/* Prints a value, with underscores for characters that would end it or begin another. */
static void words(const struct ulm *u, const char *name, const char *value)
{
	fprintf(u->file.to, " %s=", name);
	while (*value) {
		size_t n = strcspn(value, "\"=");

		field_text_words(u->file.to, value, n);
		value += n;
		if (*value) {
			fputc('_', u->file.to);
			value++;
		}
	}
}

/* Prints the program of a call's thread; of what the kernel did by itself, kernel. */
static void program(const struct ulm *u, const struct mg_event *e, const struct mg_event_desc *d)
{
	bool is_call = d->layer == MG_LAYER_APP || d->layer == MG_LAYER_SYSCALL;
	const char *name = is_call ? core_program(u->e->core, e->tid) : "kernel";

	words(u, "PROG", name[0] ? name : "unknown");
}

static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct ulm *u = arg;
	const struct mg_event_desc *d = mg_event_by_id(e->id);
	const char *host = json_string_value(json_object_get(*u->e->session, "host"));
	FILE *to = u->file.to;
	char flow[32];

	if (!d || !is_wanted(d, a) ||
		(u->e->filter && !filter_takes_event(u->e->filter, u->e->core, e, a)))
		return;
	if (!knows_time(u))
		return;
	date(u, e->time_ns);
	words(u, "HOST", host && host[0] ? host : "unknown");
	program(u, e, d);
	fprintf(to, " LVL=%s",
		mg_events_have(MG_EVENTS(drop, tcp_retransmit), e->id) ? "Warning" : "Usage");
	words(u, "NL.EVNT", d->name);
	fprintf(to, " NS=%" PRIu64 " PID=%" PRIu32 " TID=%" PRIu32, e->time_ns, e->pid, e->tid);
	if (e->cpu >= 0)
		fprintf(to, " CPU=%d", e->cpu);
	if (a->sock) {
		flow_name(flow, annotated_flow(a).sock, a->rx);
		fprintf(to, " FLOW=%s", flow);
	}
	if (a->has_offset)
		fprintf(to, " OFFSET=%" PRIu64 " LENGTH=%" PRIu64, a->offset, a->length);
	if (MG_IS_CALL(e->id))
		fprintf(to, " RESULT=%" PRId64, (int64_t)e->call.ret);
	fputc('\n', to);
}

bool ulm_begin(struct export *e)
{
	struct ulm *u = mg_calloc(1, sizeof(*u));

	if (!u)
		return export_refuse(e, e->to, ENOMEM);
	u->e = e;
	e->state = u;
	if (!text_file_open_output(&u->file, e)) {
		free(u);
		return false;
	}
	core_listen(e->core, on_event, u);
	return true;
}

bool ulm_end(struct export *e, bool is_read)
{
	struct ulm *u = e->state;
	bool good = text_file_close(&u->file, e, is_read && u->wall_clock != FACT_NONE);

	if (good && is_read && u->wall_clock == FACT_NONE) {
		snprintf(e->why, sizeof(e->why),
			"ulm has times of day, and the trace does not say how its clock relates to "
			"them");
		good = false;
	}
	free(u);
	return good;
}
