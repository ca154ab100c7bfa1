/* SPDX-License-Identifier: MIT */
/* The scheduler's own figures: switches, their duration, and waits for a CPU. */
#include "task/sched.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "sums/dist.h"

static enum switch_kind kind_of(uint32_t prev_tid, uint32_t next_tid)
{
	return !next_tid ? SWITCH_TO_IDLE : !prev_tid ? SWITCH_FROM_IDLE : SWITCH_TASK_TASK;
}

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

void sched_on_switch(struct sched_stats *s, const struct mg_event *e)
{
	const struct mg_sched_switch *p = &e->sched_switch;
	struct switch_stats *k = stats_of(s, e->cpu, kind_of(p->prev_tid, p->next_tid));

	if (k)
		k->n++;
}

void sched_on_cost(struct sched_stats *s, const struct mg_event *e)
{
	const struct mg_sched_cost *p = &e->sched_cost;
	struct switch_stats *k = stats_of(s, e->cpu, kind_of(p->prev_tid, p->next_tid));

	if (!k)
		return;
	if (p->irqs) { /* their time is not the switch's */
		k->interrupted++;
		return;
	}
	dist_add(&k->total_ns, (uint64_t)p->decide_ns + p->reload_ns, 1);
	k->decide_ns += p->decide_ns;
	k->reload_ns += p->reload_ns;
}

void sched_free(struct sched_stats *s)
{
	for (int i = 0; i < s->cpus * SWITCH_KINDS; i++)
		dist_free(&s->switches[i].total_ns);
	free(s->switches);
	dist_free(&s->wakeup);
	dist_free(&s->queueing);
	dist_free(&s->run_queue);
	memset(s, 0, sizeof(*s));
}
