/* SPDX-License-Identifier: MIT */

#include "clock/cpu_offsets.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define CPUS_MAX 65536 /* higher CPU numbers in a trace are not believed */

static bool excludes_0(const struct cpu_offset *p)
{
	return p->known && (p->low > 0 || p->high < 0);
}

/* Returns the error of a reading of this CPU after the correction. */
static double error_of(const struct cpu_offset *p)
{
	if (excludes_0(p))
		return (double)(p->high - p->low) / 2;
	return p->high > -p->low ? (double)p->high : (double)-p->low;
}

/* Returns the error of an interval between any two CPUs. */
static double error_of_all(const struct cpu_offsets *o)
{
	double worst = 0, second = 0;

	/* the error of the reference CPU is 0 */
	for (uint32_t i = 0; i < o->cap; i++) {
		double e = o->cpu[i].known ? error_of(&o->cpu[i]) : 0;

		if (e > worst) {
			second = worst;
			worst = e;
		} else if (e > second) {
			second = e;
		}
	}
	return worst + second;
}

void cpu_offsets_add(struct cpu_offsets *o, uint32_t cpu, int64_t low, int64_t high)
{
	struct cpu_offset *p;

	if (low > high || cpu >= CPUS_MAX)
		return;
	if (cpu >= o->cap) {
		uint32_t cap = cpu + 16;

		p = mg_realloc(o->cpu, cap * sizeof(*p));
		if (!p)
			return;
		memset(p + o->cap, 0, (cap - o->cap) * sizeof(*p));
		o->cpu = p;
		o->cap = cap;
	}
	p = &o->cpu[cpu];
	if (!p->known) {
		*p = (struct cpu_offset){low, high, true};
		o->known++;
	} else if (low <= p->high && high >= p->low) {
		p->low = low > p->low ? low : p->low;
		p->high = high < p->high ? high : p->high;
	} else {
		p->low = low < p->low ? low : p->low;
		p->high = high > p->high ? high : p->high;
	}
	o->error = error_of_all(o);
	o->certain = false;
	for (uint32_t i = 0; i < o->cap; i++)
		o->certain |= excludes_0(&o->cpu[i]);
}

int64_t cpu_offsets_look_up(const struct cpu_offsets *o, int cpu)
{
	const struct cpu_offset *p = cpu >= 0 && (uint32_t)cpu < o->cap ? &o->cpu[cpu] : NULL;

	return p && excludes_0(p) ? p->low + (p->high - p->low) / 2 : 0;
}

void cpu_offsets_free(struct cpu_offsets *o)
{
	free(o->cpu);
	memset(o, 0, sizeof(*o));
}
