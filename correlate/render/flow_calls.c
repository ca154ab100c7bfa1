/* SPDX-License-Identifier: MIT */
#include "flow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "byte_life.h"
#include "event_table.h"
#include "reported/json.h"
#include "text.h"

void flow_calls_init(struct flow_calls *f, struct core *core, const char *flow)
{
	memset(f, 0, sizeof(*f));
	f->core = core;
	flow_parse(flow, &f->cookie, &f->rx);
}

static struct call_stats *of(struct call_stats **all, uint16_t id)
{
	struct call_key key = {.id = id};
	struct call_stats *s = NULL;

	HASH_FIND(hh, *all, &key, sizeof(key), s);
	if (s)
		return s;
	s = mg_calloc(1, sizeof(*s));
	if (s) {
		s->key = key;
		HASH_ADD(hh, *all, key, sizeof(s->key), s);
		s = hash_kept(s);
	}
	return s;
}

static void add(struct call_stats *s, int64_t ret, uint64_t bytes, uint64_t cycles)
{
	if (!s)
		return;
	s->n++;
	s->failed += ret < 0;
	s->bytes += bytes;
	dist_add(&s->total, cycles, 1);
}

static void on_app_call(struct flow_calls *f, const struct mg_event *e)
{
	uint16_t fn = (uint16_t)(e->id - MG_APP_BASE);
	enum mg_direction dir = mg_function_direction(fn);

	if (dir == MG_DIR_TX || dir == MG_DIR_RX)
		add(of(&f->calls, fn), e->call.ret, core_app_call_bytes(e),
			e->call.exit - e->call.enter);
}

static void on_system_call(struct flow_calls *f, const struct mg_event *e)
{
	struct ended_call k;

	if (mg_syscall_direction(e->sys_exit.call) == MG_DIR_OTHER)
		return;
	if (!core_ended_call(f->core, e->tid, e->cycles, &k))
		return;
	add(of(&f->system, CALL_KERNEL_ONLY | k.call), k.ret, k.bytes, k.exit - k.enter);
}

void flow_calls_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct flow_calls *f = arg;

	if (!a->sock || annotated_flow(a).sock != f->cookie || a->rx != f->rx)
		return;
	if (MG_IS_CALL(e->id))
		on_app_call(f, e);
	else if (e->id == MG_EVENT_sys_exit)
		on_system_call(f, e);
}

static void free_all(struct call_stats **all)
{
	struct call_stats *s, *tmp;

	HASH_ITER (hh, *all, s, tmp) {
		HASH_DEL(*all, s);
		dist_free(&s->total);
		free(s);
	}
}

void flow_calls_free(struct flow_calls *f)
{
	free_all(&f->calls);
	free_all(&f->system);
}

static int more_calls(const struct call_stats *a, const struct call_stats *b)
{
	return a->n != b->n ? (a->n < b->n ? 1 : -1) : a->key.id - b->key.id;
}

static void call_row(struct table *t, const struct call_on_flow_figures *f)
{
	struct spread_figures total;

	into_call_on_flow_total_ns(f, &total);
	table_row(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s", get_call_on_flow_name(f).text,
		text_value(get_call_on_flow_n(f), IN_CALLS),
		text_value(get_call_on_flow_failed(f), IN_CALLS),
		text_value(get_call_on_flow_bytes(f), IN_BYTES),
		text_value(get_spread_p50(&total), IN_NS), text_spread_high(&total),
		get_call_on_flow_kernel_only(f).flag ? LABEL(call_on_flow, kernel_only) : "");
}

void flow_calls_text(const struct report *r, struct flow_calls *f, FILE *to, bool colour)
{
	struct call_stats **all = f->calls ? &f->calls : &f->system, *s;
	struct fact_flow flow;
	struct table t;

	if (*all) {
		HASH_SORT(*all, more_calls);
		table_begin(&t, "lrrrrrl");
		table_row(&t, "Calls on this flow\t%s\t%s\t%s\ttotal %s\t%s\t",
			LABEL(call_on_flow, n), LABEL(call_on_flow, failed),
			LABEL(call_on_flow, bytes), LABEL(spread, p50), LABEL(spread, p99));
		for (s = *all; s; s = s->hh.next)
			call_row(&t, &(struct call_on_flow_figures){r, s});
		fprintf(to, "\n");
		table_print(&t, to, 0, colour);
	}
	if (core_flow(r->core, f->cookie, f->rx, &flow) && flow.peer_sock)
		fprintf(to, "\nThe other end is flow %s of this recording.\n",
			flow_id((struct fact_flow_id){.sock = flow.peer_sock, .rx = !f->rx}));
}

bool into_call_on_flow_total_ns(const struct call_on_flow_figures *f, struct spread_figures *to)
{
	*to = spread_of(&f->s->total, true, f->r->hz);
	return true;
}

/* clang-format off */
GET(call_on_flow, name, value_text(call_name(f->s)))
GET(call_on_flow, kernel_only, value_flag(call_is_kernel_only(f->s)))
GET(call_on_flow, n, value_count(f->s->n))
GET(call_on_flow, failed, value_count(f->s->failed))
GET(call_on_flow, bytes, value_count(f->s->bytes))
/* clang-format on */

json_t *flow_calls_json(const struct report *r, const struct flow_calls *f)
{
	json_t *list = json_array();
	const struct call_stats *s;

	for (s = f->calls ? f->calls : f->system; s; s = s->hh.next) {
		struct call_on_flow_figures of = {r, s};

		json_array_append_new(list, json_of_call_on_flow(&of));
	}
	return list;
}
