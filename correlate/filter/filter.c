/* SPDX-License-Identifier: MIT */
#include "filter/filter.h"

#include <string.h>

#include "event_table.h"
#include "filter/found.h"

bool filter_chooses_sockets(const struct filter *f)
{
	return f->port.n || f->peer.n || f->kinds || f->directions;
}

bool filter_chooses_threads(const struct filter *f)
{
	return f->process.n || f->thread.n;
}

bool filter_has_window(const struct filter *f)
{
	return f->from_ns || f->to_ns;
}

bool filter_is_set(const struct filter *f)
{
	return filter_chooses_sockets(f) || filter_chooses_threads(f) || filter_has_window(f);
}

/* ---- time ---- */

/* Returns whether a time of CLOCK_MONOTONIC is in the window; what began before is at its begin. */
static bool in_window(const struct filter *f, uint64_t first_ns, uint64_t ns)
{
	uint64_t at = ns > first_ns ? ns - first_ns : 0;

	return at >= f->from_ns && (!f->to_ns || at < f->to_ns);
}

/* Returns the time of the first event, which a reader knows as soon as there is one. */
static uint64_t first_of(const struct filter *f, const struct core *c)
{
	struct fact_recording r;

	if (!f->found->first_ns) {
		core_recording(c, &r);
		f->found->first_ns = r.first;
	}
	return f->found->first_ns;
}

bool filter_takes_time(const struct filter *f, struct core *c, uint64_t now)
{
	return !filter_has_window(f) || in_window(f, first_of(f, c), core_ns(c, now));
}

/* ---- threads and sockets ---- */

bool filter_takes_thread(const struct filter *f, uint32_t pid, uint32_t tid)
{
	bool process = !f->process.n, thread = !f->thread.n;

	if (!process)
		process = found_has(f->found, FOUND_PROCESS, pid) ||
			  (!pid && found_has(f->found, FOUND_THREAD, tid));
	for (uint32_t i = 0; i < f->thread.n && !thread; i++)
		thread = f->thread.tid[i] == tid;
	return process && thread;
}

/* By port, peer, protocol and direction alone. */
static bool takes_ends(const struct filter *f, struct fact_flow_id flow)
{
	if (f->directions && !(f->directions >> flow.rx & 1))
		return false;
	return !filter_chooses_sockets(f) ||
	       (flow.sock && found_has(f->found, FOUND_SOCKET, flow.sock));
}

bool filter_takes_flow(const struct filter *f, struct fact_flow_id flow)
{
	return takes_ends(f, flow) &&
	       (!filter_chooses_threads(f) ||
		       (flow.sock && found_has(f->found, FOUND_USED, flow.sock)));
}

/* ---- events ---- */

static bool takes_name(const struct filter_events *w, const struct mg_event *e)
{
	if (e->id != MG_EVENT_other)
		return w->id[e->id / 64] >> (e->id % 64) & 1;
	for (uint32_t i = 0; i < w->names; i++)
		if (strcmp(w->name[i], e->other.name) == 0)
			return true;
	return false;
}

static bool takes_layer(const struct filter *f, const struct mg_event *e)
{
	const struct mg_event_desc *d = mg_event_by_id(e->id);

	return f->layers >> (d ? d->layer : MG_LAYER_EVENT) & 1;
}

/* Returns whether the event names a thread that was chosen beside the one that it happened in. */
static bool names_thread(const struct filter *f, const struct mg_event *e)
{
	switch (e->id) {
	case MG_EVENT_sched_switch:
		return filter_takes_thread(f, 0, e->sched_switch.prev_tid) ||
		       filter_takes_thread(f, 0, e->sched_switch.next_tid);
	case MG_EVENT_sched_cost:
		return filter_takes_thread(f, 0, e->sched_cost.prev_tid) ||
		       filter_takes_thread(f, 0, e->sched_cost.next_tid);
	case MG_EVENT_sched_waking:
	case MG_EVENT_sched_wakeup:
	case MG_EVENT_sched_wakeup_new:
		return filter_takes_thread(f, e->sched_waking.wakee_pid, e->sched_waking.wakee_tid);
	case MG_EVENT_sched_migrate:
		return filter_takes_thread(f, 0, e->sched_migrate.moved_tid);
	case MG_EVENT_sched_task:
		return filter_takes_thread(f, 0, e->sched_task.task_tid);
	case MG_EVENT_task_fork:
		return filter_takes_thread(f, e->task_fork.child_pid, e->task_fork.child_tid);
	default:
		return false;
	}
}

/* Returns whether an event is a thread's own doing, whatever socket it concerns. */
static bool is_of_thread(const struct mg_event *e)
{
	return MG_IS_APP(e->id) || e->id == MG_EVENT_sys_enter || e->id == MG_EVENT_sys_exit;
}

bool filter_takes_event(const struct filter *f, struct core *c, const struct mg_event *e,
	const struct annotation *a)
{
	struct fact_flow_id flow = a->sock ? annotated_flow(a) : (struct fact_flow_id){0};

	if (f->event.n && !takes_name(&f->event, e))
		return false;
	if (f->layers && !takes_layer(f, e))
		return false;
	if (filter_has_window(f) && !in_window(f, first_of(f, c), e->time_ns))
		return false;
	if (!takes_ends(f, flow))
		return false;
	if (!filter_chooses_threads(f))
		return true;
	if (flow.sock && !is_of_thread(e))
		return found_has(f->found, FOUND_USED, flow.sock);
	return filter_takes_thread(f, e->pid, e->tid) || names_thread(f, e);
}

/* ---- facts ---- */

static uint64_t number_at(const void *fact, uint16_t offset)
{
	uint64_t n;

	memcpy(&n, (const char *)fact + offset, sizeof(n));
	return n;
}

static struct fact_flow_id flow_at(const void *fact, uint16_t offset)
{
	return *(const struct fact_flow_id *)(const void *)((const char *)fact + offset);
}

/* Returns when it began, ns; 0 if that is not known. */
static uint64_t begin_of(const struct telling *t, struct core *c, const void *fact)
{
	for (uint32_t i = 0; i < t->times; i++) {
		uint64_t at = number_at(fact, t->time[i]);

		if (at)
			return t->is_ns ? at : core_ns(c, at);
	}
	return 0;
}

/*
 * A flow lasts: it is in each window that its life touches. A call may begin before its first
 * event, as one does that waits for bytes.
 */
static bool takes_life(const struct filter *f, struct core *c, const struct fact_flow *flow)
{
	bool call_first = flow->first_call && flow->first_call < flow->first;
	uint64_t first = core_ns(c, call_first ? flow->first_call : flow->first);
	uint64_t first_ns = first_of(f, c), last = core_ns(c, flow->last);

	return last >= first_ns + f->from_ns && (!f->to_ns || first < first_ns + f->to_ns);
}

static bool takes_time(const struct filter *f, struct core *c, enum fact kind,
	const struct telling *t, const void *fact)
{
	uint64_t begin;

	if (!filter_has_window(f) || !t->times)
		return true;
	if (kind == FACT_flow)
		return takes_life(f, c, fact);
	begin = begin_of(t, c, fact);
	return begin && in_window(f, first_of(f, c), begin);
}

static bool takes_sockets(const struct filter *f, const struct telling *t, const void *fact,
	bool (*takes)(const struct filter *f, struct fact_flow_id flow))
{
	for (uint32_t i = 0; i < t->flows; i++)
		if (takes(f, flow_at(fact, t->flow[i])))
			return true;
	return false;
}

/* FACT_NONE stands for a process or thread that is not known; it is in no list. */
static uint32_t id_at(const void *fact, const uint16_t *offset, uint32_t i, uint32_t n)
{
	uint64_t id = i < n ? number_at(fact, offset[i]) : 0;

	return id > UINT32_MAX ? 0 : (uint32_t)id;
}

static bool takes_threads(const struct filter *f, const struct telling *t, const void *fact)
{
	uint32_t n = t->pids > t->tids ? t->pids : t->tids;

	for (uint32_t i = 0; i < n; i++)
		if (filter_takes_thread(
			    f, id_at(fact, t->pid, i, t->pids), id_at(fact, t->tid, i, t->tids)))
			return true;
	return false;
}

bool filter_takes_fact(const struct filter *f, struct core *c, enum fact kind, const void *fact)
{
	const struct telling *t = &f->found->telling[kind];

	if (!takes_time(f, c, kind, t, fact))
		return false;
	if (filter_chooses_sockets(f) && !takes_sockets(f, t, fact, takes_ends))
		return false;
	if (!filter_chooses_threads(f))
		return true;
	return t->pids || t->tids ? takes_threads(f, t, fact)
				  : takes_sockets(f, t, fact, filter_takes_flow);
}

bool filter_takes_fact_time(
	const struct filter *f, struct core *c, enum fact kind, const void *fact)
{
	const struct telling *t = &f->found->telling[kind];

	return takes_time(f, c, kind, t, fact);
}

const char *filter_lacks(const struct filter *f, enum fact kind)
{
	const struct telling *t = &f->found->telling[kind];

	if (filter_chooses_sockets(f) && !t->flows)
		return "sockets";
	return filter_chooses_threads(f) && !t->flows && !t->pids && !t->tids ? "threads" : NULL;
}
