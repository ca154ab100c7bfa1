/* SPDX-License-Identifier: MIT */
#include "task/repeated.h"

#include "alloc.h"
#include "event_table.h"
#include "clock/clockmap.h"

/* The last switch on a CPU. */
struct last_switch {
	uint64_t time;
	uint32_t prev, next;
};

/*
 * Two tracers that run at the same time each record a switch between a thread of one and a thread
 * of the other.
 */
#define SAME_SWITCH_NS 20000

bool switch_is_repeated(struct core *c, const struct mg_event *e)
{
	const struct mg_sched_switch *p = &e->sched_switch;
	struct last_switch *l, was;

	if (c->side[CORE_KERNEL].traces < 2 || e->cpu < 0 || e->cpu >= CPUS_MAX)
		return false;
	if (!c->tasks.switched)
		c->tasks.switched = mg_calloc(CPUS_MAX, sizeof(struct last_switch));
	if (!c->tasks.switched)
		return false;
	l = &c->tasks.switched[e->cpu];
	was = *l;
	*l = (struct last_switch){e->cycles, p->prev_tid, p->next_tid};
	return was.prev == p->prev_tid && was.next == p->next_tid && e->cycles >= was.time &&
	       was.prev != was.next &&
	       e->cycles - was.time <= clockmap_span(&c->clock, SAME_SWITCH_NS);
}
