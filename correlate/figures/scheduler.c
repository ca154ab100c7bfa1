/* SPDX-License-Identifier: MIT */
#include "figures/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static enum switch_kind kind_of(uint64_t prev_tid, uint64_t next_tid)
{
	return !next_tid ? SWITCH_TO_IDLE : !prev_tid ? SWITCH_FROM_IDLE : SWITCH_TASK_TASK;
}

/*
 * Returns the statistics of one kind of switch on a CPU; NULL without memory or without such a CPU.
 */
static struct switch_stats *stats_of(struct sched_stats *s, int cpu, enum switch_kind kind)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	if (cpu >= s->cpus) {
		size_t had = (size_t)s->cpus * SWITCH_KINDS,
		       want = ((size_t)cpu + 1) * SWITCH_KINDS;
		struct switch_stats *more = mg_realloc(s->switches, want * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + had, 0, (want - had) * sizeof(*more));
		s->switches = more;
		s->cpus = cpu + 1;
	}
	return &s->switches[cpu * SWITCH_KINDS + (int)kind];
}

static void on_switch(void *arg, const void *fact)
{
	const struct fact_switch *f = fact;
	struct switch_stats *k = stats_of(arg, f->cpu, kind_of(f->from, f->to));

	if (k)
		k->n++;
}

static void on_switch_cost(void *arg, const void *fact)
{
	const struct fact_switch_cost *f = fact;
	struct switch_stats *k = stats_of(arg, f->cpu, kind_of(f->from, f->to));

	if (!k)
		return;
	if (f->interrupts) { /* an interrupt's time does not belong to the switch */
		k->interrupted++;
		return;
	}
	dist_add(&k->total_ns, f->decide + f->reload, 1);
	k->decide_ns += f->decide;
	k->reload_ns += f->reload;
}

static void on_wait(void *arg, const void *fact)
{
	const struct fact_wait *f = fact;
	struct sched_stats *s = arg;
	bool could_run = f->why == WAIT_PREEMPTED || f->why == WAIT_THROTTLED;
	uint64_t runnable = f->woken ? f->woken : could_run ? f->begin : 0;

	blocked_add(&s->blocked, f);
	if (f->queued)
		dist_add(&s->queueing, f->queued - f->woken, 1);
	if (!f->end)
		return;
	if (runnable && f->end >= runnable)
		dist_add(&s->run_queue, f->end - runnable, 1);
	if (f->why == WAIT_THROTTLED && runnable && f->end >= runnable)
		dist_add(&s->throttled, f->end - runnable, 1);
	if (f->woken && f->end >= f->woken)
		dist_add(&s->wakeup, f->end - f->woken, 1);
	s->migrations += f->cpu_before >= 0 && f->cpu_before != f->cpu_after;
}

void sched_listen(struct sched_stats *s, struct core *c)
{
	facts_listen(core_facts(c), FACT_wait, on_wait, s);
	facts_listen(core_facts(c), FACT_switch, on_switch, s);
	facts_listen(core_facts(c), FACT_switch_cost, on_switch_cost, s);
}

void sched_free(struct sched_stats *s)
{
	for (int i = 0; i < s->cpus * SWITCH_KINDS; i++)
		dist_free(&s->switches[i].total_ns);
	free(s->switches);
	dist_free(&s->wakeup);
	dist_free(&s->queueing);
	dist_free(&s->run_queue);
	dist_free(&s->throttled);
	blocked_stats_free(&s->blocked);
	memset(s, 0, sizeof(*s));
}
