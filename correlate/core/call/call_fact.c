/* SPDX-License-Identifier: MIT */
#include "call/call_fact.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "call/call_join.h"
#include "coverage/side.h"
#include "socket/socket.h"
#include "stream/urgent.h"
#include "task/threads.h"

static void fill_kernel(
	struct core *c, const struct thread *t, const struct kernel_call *k, struct fact_call *f)
{
	bool bytes = f->bytes;

	f->kernel_begin = k->enter;
	f->kernel_end = k->exit;
	if (k->pieces) {
		f->flow = flow_fact(k->piece[0].flow);
		f->offset = k->piece[0].off;
	} else { /* the sending flow if the call has no direction */
		f->flow.sock = k->cookie;
		f->flow.rx = mg_syscall_direction(k->call) == MG_DIR_RX;
		if (urgent_is_read(k)) { /* the bytes of others come with their pieces */
			struct mg_sock *s = sock_find(c, k->cookie);

			f->flow.state = s ? s->rx.state : NULL;
		}
	}
	for (uint32_t i = 0; i < k->pieces && !bytes; i++)
		f->bytes += k->piece[i].len;
	f->complete = call_is_complete(c, t, k, f->begin, f->end);
	f->events = k->events;
	f->waker_events = k->waker_events;
	if (!f->complete || !core_observes(c, MG_EVENT_sched_switch))
		return;
	f->blocked_times = k->blocked_times;
	f->locked_out = k->locked_out;
}

/* A state that no event tells of is not known, though no time was counted in it. */
static void fill_states(const struct core *c, const struct kernel_call *k, struct fact_call *f)
{
	static const struct {
		enum call_state state;
		uint16_t event;
	} needed[] = {
		{STATE_IRQ, MG_EVENT_irq_entry},
		{STATE_SOFTIRQ, MG_EVENT_softirq_entry},
		{STATE_BLOCKED, MG_EVENT_sched_switch},
		{STATE_WAKEUP, MG_EVENT_sched_switch},
		{STATE_PREEMPTED, MG_EVENT_sched_switch},
	};

	memcpy(f->state, k->state, sizeof(f->state));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!core_observes(c, needed[i].event))
			f->state[needed[i].state] = FACT_NONE;
	if (!core_knows_lock_state(c, STATE_LOCK))
		f->state[STATE_LOCK] = FACT_NONE;
	if (!core_knows_lock_state(c, STATE_RELEASE))
		f->state[STATE_RELEASE] = FACT_NONE;
}

static inline void begin(struct fact_call *f, const struct thread *t)
{
	*f = (struct fact_call){.pid = t->pid,
		.tid = t->tid,
		.offset = FACT_NONE,
		.complete = FACT_MAYBE,
		.blocked_times = FACT_NONE,
		.locked_out = FACT_NONE,
		.events = FACT_NONE,
		.waker_events = FACT_NONE,
		.logged = FACT_NONE,
		.no_system_call = FACT_NO_WORD};

	memset(f->state, 0xff, sizeof(f->state)); /* FACT_NONE */
}

/* Emits the call, and behind it what else is known by now. */
static void tell(const struct core *c, struct call_told *told)
{
	const struct mg_calibration *p = &c->trace.calibration;

	told->known = (struct call_known){.clock_error = clockmap_error(&c->clock),
		.kernel_events = c->counts.kernel_events,
		.kernel_is_whole = side_kernel_is_whole(c),
		.has_scheduler = core_observes(c, MG_EVENT_sched_switch),
		.read_cycles = p->read_cycles,
		.event_cycles = p->event_cycles,
		.event_spread = p->event_spread,
		.event_scatter = p->event_scatter,
		.system_cycles = p->system_cycles};
	emit_call(&c->facts, &told->fact);
}

void call_tell_app(struct core *c, const struct thread *t, const struct mg_event *e,
	const struct kernel_call *k, uint64_t bytes, enum fact_no_call no_call)
{
	struct call_told told;
	struct fact_call *f = &told.fact;

	if (!facts_wanted(&c->facts, FACT_call))
		return;
	begin(f, t);
	f->begin = e->call.enter;
	f->end = e->call.exit;
	f->function = (uint16_t)(e->id - MG_APP_BASE);
	f->seen_by = k ? SEEN_BOTH : SEEN_APP;
	f->kind = e->call.kind;
	f->result = e->call.ret;
	f->bytes = bytes;
	if (e->call.logged)
		f->logged = e->call.logged;
	f->no_system_call = (uint8_t)no_call;
	if (k)
		fill_kernel(c, t, k, f);
	if (k && f->complete)
		fill_states(c, k, f);
	tell(c, &told);
}

void call_tell_kernel(
	struct core *c, const struct thread *t, const struct kernel_call *k, uint64_t bytes)
{
	struct call_told told;
	struct fact_call *f = &told.fact;

	if (!facts_wanted(&c->facts, FACT_call))
		return;
	begin(f, t);
	f->begin = k->enter;
	f->end = k->exit;
	f->function = FACT_SYSTEM_CALL | k->call;
	f->seen_by = SEEN_KERNEL;
	f->kind = k->kind;
	f->result = k->ret;
	f->bytes = bytes;
	fill_kernel(c, t, k, f);
	tell(c, &told);
}
