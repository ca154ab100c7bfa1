/* SPDX-License-Identifier: MIT */
#include "task/call_fact.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "socket/socket.h"
#include "task/call_join.h"
#include "task/threads.h"

/* Returns the flow of the call's bytes; the sending one if the call has no direction. */
static struct fact_flow_id flow_of(uint64_t cookie, enum mg_direction dir)
{
	return (struct fact_flow_id){.sock = cookie, .rx = dir == MG_DIR_RX};
}

static void fill_kernel(
	struct core *c, const struct thread *t, const struct kernel_call *k, struct fact_call *f)
{
	f->kernel_begin = k->enter;
	f->kernel_end = k->exit;
	f->flow = flow_of(k->cookie, mg_syscall_direction(k->call));
	if (k->pieces)
		f->offset = k->piece[0].off;
	f->complete = call_is_complete(c, t, k, f->begin, f->end);
	f->events = k->events;
	f->waker_events = k->waker_events;
	if (!f->complete || !core_observes(c, MG_EVENT_sched_switch))
		return;
	f->blocked_times = k->blocked_times;
	f->locked_out = k->locked_out;
}

static struct fact_call unknown(const struct thread *t)
{
	struct fact_call f = {.pid = t->pid,
		.tid = t->tid,
		.offset = FACT_NONE,
		.complete = FACT_MAYBE,
		.blocked_times = FACT_NONE,
		.locked_out = FACT_NONE,
		.events = FACT_NONE,
		.waker_events = FACT_NONE,
		.logged = 0};

	memset(f.state, 0xff, sizeof(f.state)); /* FACT_NONE */
	return f;
}

void call_tell_app(struct core *c, const struct thread *t, const struct mg_event *e,
	const struct kernel_call *k, uint64_t bytes, enum fact_no_call no_call)
{
	struct fact_call f;

	if (!facts_wanted(&c->facts, FACT_call))
		return;
	f = unknown(t);
	f.begin = e->call.enter;
	f.end = e->call.exit;
	f.function = (uint16_t)(e->id - MG_APP_BASE);
	f.seen_by = k ? SEEN_BOTH : SEEN_APP;
	f.kind = e->call.kind;
	f.result = e->call.ret;
	f.bytes = bytes;
	f.logged = e->call.logged;
	f.no_system_call = (uint8_t)no_call;
	if (k)
		fill_kernel(c, t, k, &f);
	if (k && f.complete) {
		memcpy(f.state, k->state, sizeof(f.state));
		for (int i = STATE_LOCK; i <= STATE_RELEASE; i += STATE_RELEASE - STATE_LOCK)
			if (!core_knows_lock_state(c, (enum call_state)i))
				f.state[i] = FACT_NONE;
	}
	emit_call(&c->facts, &f);
}

void call_tell_kernel(
	struct core *c, const struct thread *t, const struct kernel_call *k, uint64_t bytes)
{
	struct fact_call f;

	if (!facts_wanted(&c->facts, FACT_call))
		return;
	f = unknown(t);
	f.begin = k->enter;
	f.end = k->exit;
	f.function = FACT_SYSTEM_CALL | k->call;
	f.seen_by = SEEN_KERNEL;
	f.kind = k->kind;
	f.result = k->ret;
	f.bytes = bytes;
	fill_kernel(c, t, k, &f);
	emit_call(&c->facts, &f);
}
