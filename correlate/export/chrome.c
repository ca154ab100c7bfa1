/* SPDX-License-Identifier: MIT */
#include "export/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "export/arrows.h"
#include "export/json_text.h"
#include "export/text_file.h"
#include "hash.h"
#include "render/report.h"

struct seen_thread {
	UT_hash_handle hh;
	uint32_t tid, pid;
};

struct chrome {
	struct export *e;
	struct text_file file;
	struct seen_thread *threads;
	struct arrows arrows;
	uint64_t arrow; /* number of the last one */
	bool begun;     /* an event was written */
};

/* Begins an event of this phase with its name. */
static FILE *begin(struct chrome *c, char phase, const char *name)
{
	FILE *to = c->file.to;

	fprintf(to, "%s{\"ph\":\"%c\",\"name\":", c->begun ? ",\n" : "", phase);
	json_print_text(to, name, strlen(name));
	c->begun = true;
	return to;
}

/* Writes a time, or a duration, in microseconds. */
static void micros(FILE *to, const char *key, uint64_t ns)
{
	fprintf(to, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void at(struct chrome *c, uint64_t cycles)
{
	micros(c->file.to, "ts", core_ns(c->e->core, cycles));
}

static void flow_arg(FILE *to, struct fact_flow_id f)
{
	char name[32];

	if (!f.sock)
		return;
	flow_name(name, f.sock, f.rx);
	fprintf(to, ",\"flow\":\"%s\"", name);
}

static void number_arg(FILE *to, const char *key, uint64_t value)
{
	if (value != FACT_NONE)
		fprintf(to, ",\"%s\":%" PRIu64, key, value);
}

/* Names the thread, and its process, when it is first seen. */
static void thread(struct chrome *c, uint64_t pid64, uint64_t tid64)
{
	uint32_t tid = (uint32_t)tid64, pid = (uint32_t)pid64;
	struct seen_thread *t;
	FILE *to;

	HASH_FIND(hh, c->threads, &tid, sizeof(tid), t);
	if (t || !core_program(c->e->core, tid)[0])
		return;
	t = mg_calloc(1, sizeof(*t));
	if (!t)
		return;
	t->tid = tid;
	t->pid = pid;
	HASH_ADD(hh, c->threads, tid, sizeof(t->tid), t);
	if (!hash_kept(t))
		return;
	for (int i = 0; i < 2; i++) {
		const char *program = core_program(c->e->core, i ? tid : pid);

		to = begin(c, 'M', i ? "thread_name" : "process_name");
		fprintf(to, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"name\":", pid,
			tid);
		json_print_text(to, program, strlen(program));
		fputs("}}", to);
	}
}

/* Writes what begins an interval of a thread: it is complete but for its arguments. */
static FILE *interval(struct chrome *c, const char *name, const char *category, uint64_t pid,
	uint64_t tid, uint64_t from, uint64_t to_cycles)
{
	uint64_t ns = core_ns(c->e->core, from), end = core_ns(c->e->core, to_cycles);
	FILE *to;

	thread(c, pid, tid);
	to = begin(c, 'X', name);
	fprintf(to, ",\"cat\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, category, pid, tid);
	micros(to, "ts", ns);
	micros(to, "dur", end > ns ? end - ns : 0);
	return to;
}

static const char *function_name(uint16_t id)
{
	if (id == FACT_NO_FUNCTION)
		return "call";
	return id & FACT_SYSTEM_CALL ? mg_syscall_name(id & ~FACT_SYSTEM_CALL)
				     : mg_function_name(id);
}

static void on_call(void *arg, const void *fact)
{
	const struct fact_call *f = fact;
	struct chrome *c = arg;
	FILE *to;

	if (!f->begin || !f->end || !export_takes(c->e, FACT_call, fact))
		return;
	to = interval(c, function_name(f->function), "call", f->pid, f->tid, f->begin, f->end);
	fprintf(to, ",\"args\":{\"result\":%" PRId64, f->result);
	number_arg(to, "bytes", f->bytes);
	number_arg(to, "offset", f->offset);
	flow_arg(to, f->flow);
	fputs("}}", to);
	arrows_call(&c->arrows, f);
}

static void on_wait(void *arg, const void *fact)
{
	const struct fact_wait *f = fact;
	struct chrome *c = arg;
	char name[64];
	FILE *to;

	if (!f->begin || !f->end || !export_takes(c->e, FACT_wait, fact))
		return;
	if (f->why == WAIT_PREEMPTED || f->why == WAIT_THROTTLED)
		snprintf(name, sizeof(name), "%s",
			f->why == WAIT_PREEMPTED ? "preempted" : "throttled");
	else
		snprintf(name, sizeof(name), "blocked%s%.40s", f->call ? ": " : "",
			f->call ? f->call : "");
	to = interval(c, name, "wait", f->pid, f->tid, f->begin, f->end);
	fprintf(to, ",\"args\":{\"in_call\":%u", f->in_call);
	number_arg(to, "descriptor", f->descriptor);
	number_arg(to, "waker", f->waker);
	if (f->woken && f->end > f->woken)
		fprintf(to, ",\"runnable_ns\":%" PRIu64,
			core_ns(c->e->core, f->end) - core_ns(c->e->core, f->woken));
	fputs("}}", to);
}

/* Writes one end of an exchange, which is an asynchronous interval of its process. */
static void exchange_end(struct chrome *c, const struct fact_exchange *f, char phase, uint64_t time)
{
	FILE *to =
		begin(c, phase, f->role == ROLE_SERVER ? "exchange (server)" : "exchange (client)");

	fprintf(to,
		",\"cat\":\"exchange\",\"id\":\"%" PRIx64 ".%" PRIu64 "\",\"pid\":%" PRIu64
		",\"tid\":%" PRIu64,
		f->request.sock, f->ordinal, f->request_pid, f->request_tid);
	at(c, time);
	fprintf(to, ",\"args\":{\"ordinal\":%" PRIu64, f->ordinal);
	number_arg(to, "request_bytes", f->request_bytes);
	number_arg(to, "reply_bytes", f->reply_bytes);
	flow_arg(to, f->request);
	fputs("}}", to);
}

static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct chrome *c = arg;
	uint64_t from = f->request_first, to = f->reply_last;

	if (!from || !to || to < from || f->answer != ANSWERED || f->request_pid == FACT_NONE ||
		!export_takes(c->e, FACT_exchange, fact))
		return;
	exchange_end(c, f, 'b', from);
	exchange_end(c, f, 'e', to);
}

/* Writes one end of a send by timestamps, or of a stage within it, which no thread spends. */
static void timed_end(struct chrome *c, char phase, const char *name, const char *send, uint64_t ns)
{
	FILE *to = begin(c, phase, name);

	fprintf(to, ",\"cat\":\"timed_send\",\"id\":\"%s\",\"pid\":0,\"tid\":0", send);
	micros(to, "ts", ns);
}

static void on_timed_send(void *arg, const void *fact)
{
	const struct fact_timed_send *f = fact;
	uint64_t known = f->begin, until;
	struct chrome *c = arg;
	char flow[32], send[64];

	for (int i = 0; i < TIMED_STAGES && f->stage[i] != FACT_NONE; i++)
		known += f->stage[i];
	until = f->at_most != FACT_NONE ? f->begin + f->at_most : known;
	if (!f->begin || until == f->begin || !export_takes(c->e, FACT_timed_send, fact))
		return;
	flow_name(flow, f->flow.sock, f->flow.rx);
	snprintf(send, sizeof(send), "%s.%" PRIu64, flow, f->end);
	timed_end(c, 'b', flow, send, core_ns(c->e->core, f->begin));
	fprintf(c->file.to, ",\"args\":{\"flow\":\"%s\"", flow);
	number_arg(c->file.to, "end", f->end);
	fputs("}}", c->file.to);
	known = f->begin;
	for (int i = 0; i < TIMED_STAGES && f->stage[i] != FACT_NONE; i++) {
		timed_end(c, 'b', timed_stage_label(i), send, core_ns(c->e->core, known));
		fputs("}", c->file.to);
		known += f->stage[i];
		timed_end(c, 'e', timed_stage_label(i), send, core_ns(c->e->core, known));
		fputs("}", c->file.to);
	}
	timed_end(c, 'e', flow, send, core_ns(c->e->core, until));
	fputs("}", c->file.to);
}

static void on_crossing(void *arg, const void *fact)
{
	struct chrome *c = arg;

	if (export_takes(c->e, FACT_crossing, fact))
		arrows_crossing(&c->arrows, fact);
}

static void counter(struct chrome *c, const char *what, const char *unit, struct fact_flow_id flow,
	uint64_t ns, uint64_t value)
{
	char name[96], id[32];
	FILE *to;

	if (value == FACT_NONE)
		return;
	flow_name(id, flow.sock, flow.rx);
	snprintf(name, sizeof(name), "%s %s", what, id);
	to = begin(c, 'C', name);
	fprintf(to, ",\"pid\":0");
	micros(to, "ts", ns);
	fprintf(to, ",\"args\":{\"%s\":%" PRIu64 "}}", unit, value);
}

static void on_state(void *arg, const void *fact)
{
	const struct fact_state *f = fact;
	struct chrome *c = arg;
	uint64_t ns;

	if (!f->time || !f->flow.sock || !export_takes(c->e, FACT_state, fact))
		return;
	ns = core_ns(c->e->core, f->time);
	counter(c, "cwnd", "segments", f->flow, ns, f->cwnd);
	counter(c, "srtt", "us", f->flow, ns, f->srtt_us);
	counter(c, "not sent", "bytes", f->flow, ns, f->notsent);
}

/* Buffers of a socket, which events of calls and segments tell. */
static void on_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct chrome *c = arg;

	if (!a->sock || (c->e->filter && !filter_takes_event(c->e->filter, c->e->core, e, a)))
		return;
	if (e->id == MG_EVENT_tcp_send)
		counter(c, "send buffer", "bytes", annotated_flow(a), e->time_ns,
			e->tcp_send.wmem_queued);
	else if (e->id == MG_EVENT_tcp_ready)
		counter(c, "receive queue", "bytes", annotated_flow(a), e->time_ns,
			e->tcp_ready.rcv_nxt - e->tcp_ready.copied_seq);
}

static void arrow_end(struct chrome *c, char phase, const struct arrow_call *call)
{
	FILE *to = begin(c, phase, "bytes");

	fprintf(to,
		",\"cat\":\"flow\",\"id\":%" PRIu64 ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "%s",
		c->arrow, call->pid, call->tid, phase == 'f' ? ",\"bp\":\"e\"" : "");
	/* at the last moment within the receiving call, to which readers tie it then */
	micros(to, "ts", core_ns(c->e->core, call->at) - (phase == 'f'));
	fputs("}", to);
}

static void arrow(void *arg, const struct arrow_call *from, const struct arrow_call *to)
{
	struct chrome *c = arg;

	c->arrow++;
	arrow_end(c, 's', from);
	arrow_end(c, 'f', to);
}

bool chrome_begin(struct export *e)
{
	struct chrome *c = mg_calloc(1, sizeof(*c));
	struct facts *f = core_facts(e->core);

	if (!c)
		return export_refuse(e, e->to, ENOMEM);
	c->e = e;
	e->state = c;
	if (!text_file_open_output(&c->file, e)) {
		free(c);
		return false;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", c->file.to);
	facts_listen(f, FACT_call, on_call, c);
	facts_listen(f, FACT_wait, on_wait, c);
	facts_listen(f, FACT_exchange, on_exchange, c);
	facts_listen(f, FACT_timed_send, on_timed_send, c);
	facts_listen(f, FACT_crossing, on_crossing, c);
	facts_listen(f, FACT_state, on_state, c);
	core_listen(e->core, on_event, c);
	return true;
}

bool chrome_end(struct export *e, bool is_read)
{
	struct chrome *c = e->state;
	struct seen_thread *t, *next;
	bool good;

	if (is_read)
		arrows_each(&c->arrows, arrow, c);
	fputs("\n]}\n", c->file.to);
	good = text_file_close(&c->file, e, is_read);
	HASH_ITER (hh, c->threads, t, next) {
		HASH_DEL(c->threads, t);
		free(t);
	}
	arrows_free(&c->arrows);
	free(c);
	return good;
}
