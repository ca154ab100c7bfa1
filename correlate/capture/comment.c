/* SPDX-License-Identifier: MIT */
#include "capture/comment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "event_table.h"
#include "printable.h"
#include "render/report.h"

#define CALLS_SHOWN 3

struct text {
	char *out;
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->out + t->used, COMMENT_MOST - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= COMMENT_MOST)
		t->used = COMMENT_MOST - 1;
}

static const char *function_name(uint16_t function)
{
	if (function == FACT_NO_FUNCTION)
		return "a call";
	return function & FACT_SYSTEM_CALL ? mg_syscall_name(function & ~FACT_SYSTEM_CALL)
					   : mg_function_name(function);
}

static void add_program(struct text *to, const char *program, uint32_t pid)
{
	char name[64];

	mg_escape(name, sizeof(name), program);
	add(to, "; %s%sprocess %" PRIu32, name, name[0] ? ", " : "", pid);
}

/* Adds how long before the packet the call began, or how long after it the call returned. */
static void add_distance(
	struct text *to, const struct traffic_call *c, const struct comment_bytes *b)
{
	uint64_t from = b->rx ? b->time_ns : c->begin_ns, until = b->rx ? c->end_ns : b->time_ns;

	if (b->time_ns && until >= from)
		add(to, ", %s %.3f us %s", b->rx ? "returned" : "begun",
			(double)(until - from) / 1e3, b->rx ? "later" : "earlier");
}

static void add_calls(struct text *to, const struct traffic *t, const struct comment_bytes *b)
{
	size_t count;
	const struct traffic_call *c =
		traffic_calls(t, b->sock, b->rx, b->offset, b->offset + b->len, &count);

	for (size_t i = 0; i < count && i < CALLS_SHOWN; i++) {
		add_program(to, c[i].program, c[i].pid);
		add(to, ", thread %" PRIu32 ", %s() of bytes %" PRIu64 "-%" PRIu64, c[i].tid,
			function_name(c[i].function), c[i].offset, c[i].offset + c[i].bytes - 1);
		add_distance(to, &c[i], b);
	}
	if (count > CALLS_SHOWN)
		add(to, "; %zu more calls", count - CALLS_SHOWN);
	if (!count) {
		const struct traffic_sock *s = traffic_sock(t, b->sock);

		if (s && s->pid)
			add_program(to, s->program, s->pid);
		add(to, "; no call that moved them is recorded");
	}
}

void comment_write(char out[COMMENT_MOST], const struct traffic *t, const struct comment_bytes *b)
{
	const struct traffic_sock *s = traffic_sock(t, b->sock);
	struct text to = {out, 0};
	char flow[32];

	flow_name(flow, b->sock, b->rx);
	add(&to, "magnet: flow %s", flow);
	if (b->len && b->offset != FACT_NONE) {
		add(&to, ", bytes %" PRIu64 "-%" PRIu64, b->offset, b->offset + b->len - 1);
		add_calls(&to, t, b);
		return;
	}
	add(&to, b->len ? ", which of its bytes is not known" : ", no payload");
	if (s && s->pid)
		add_program(&to, s->program, s->pid);
}
