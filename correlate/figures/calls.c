/* SPDX-License-Identifier: MIT */
#include "figures/calls.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "event_table.h"

/* Returns the row of a function and kind of socket; NULL without memory. */
static struct call_stats *row_of(struct call_table *t, uint16_t id, uint8_t kind)
{
	struct call_key key = {.id = id, .kind = kind};
	struct call_stats *s = NULL;

	HASH_FIND(hh, t->calls, &key, sizeof(key), s);
	if (s)
		return s;
	s = mg_calloc(1, sizeof(*s));
	if (s) {
		s->key = key;
		HASH_ADD(hh, t->calls, key, sizeof(s->key), s);
		s = hash_kept(s);
	}
	return s;
}

/*
 * Returns 2u of one call's overhead (GUM, JCGM 100, section 5). It adds up the uncertainties of
 * both timestamps, of each event's cost by itself, of the calibration that all events share, and of
 * what tracing system calls costs without any event. The calibration measures the system call's own
 * two events; other hooks cost between half and one and a half of that (tests/bench).
 */
static double twice_u(const struct call_known *k, double n)
{
	double u_ts = k->clock_error / 2, other = n > 2 ? n - 2 : 0;
	double scatter = (double)k->event_scatter, system = (double)k->system_cycles;
	double others = other * (double)k->event_cycles / 2, all = n * (double)k->event_spread;

	return 2 * sqrt(2 * u_ts * u_ts + n * scatter * scatter + all * all + others * others / 3 +
			   system * system);
}

/* Adds the call's overhead less tracing, D^ = D - sum n c, where D counts only time on the CPU. */
static void add_overhead(
	const struct call_known *k, struct call_stats *s, const struct fact_call *f)
{
	uint64_t overhead = 0, probes = f->events * k->event_cycles;
	uint64_t readings = k->read_cycles;
	struct dist *d = f->blocked_times ? &s->overhead_blocked : &s->overhead;
	double *u = f->blocked_times ? &s->uncertainty_blocked : &s->uncertainty;

	for (int i = 0; i < STATES; i++)
		if (STATE_IS_OVERHEAD(i) && f->state[i] != FACT_NONE)
			overhead += f->state[i];
	if (readings > overhead)
		readings = overhead;
	if (probes > overhead - readings)
		probes = overhead - readings;
	s->reading_cycles += readings;
	s->probe_cycles += probes;
	dist_add(d, overhead - readings - probes, 1);
	*u += (twice_u(k, (double)f->events) - *u) / (double)d->n;
}

#define NO(...)
#define ADD(name, n)              s->name += n;
#define ADD_SPAN(name, key, span) s->name += span;

/* Adds what a call with both sides spent where. */
static void add_joined(const struct call_known *k, struct call_stats *s, const struct fact_call *f)
{
	for (int i = 0; i < STATES; i++)
		if (f->state[i] != FACT_NONE)
			s->state[i] += f->state[i];
	s->waker_events += f->waker_events;
	/* without the scheduler's events, waiting looks like working */
	if (!k->has_scheduler)
		return;
	MG_CALL_SUMS(NO, NO, ADD_SPAN)
	add_overhead(k, s, f);
}

/* Counts an application call without its system call, by the reason and by the time it came. */
static void add_alone(const struct call_known *k, struct call_stats *s, const struct fact_call *f)
{
	if (f->no_system_call == NO_CALL_LOST)
		s->missing++;
	if (f->no_system_call != NO_CALL_NONE)
		return;
	if (!k->kernel_is_whole)
		s->before++;
	if (k->kernel_events) {
		s->alone = s->alone_at == k->kernel_events ? s->alone + 1 : 1;
		s->alone_at = k->kernel_events;
	}
}

static void on_call(void *arg, const void *fact)
{
	const struct call_told *told = fact;
	const struct fact_call *f = &told->fact;
	struct call_table *t = arg;
	struct call_stats *s;

	if (f->logged != FACT_NONE)
		dist_add(&t->logged, f->logged, 1);
	s = row_of(t, f->function, f->kind);
	if (!s)
		return;
	MG_CALL_SUMS(ADD, NO, NO)
	dist_add(&s->total, f->end - f->begin, 1);
	if (f->seen_by == SEEN_APP)
		add_alone(&told->known, s, f);
	if (f->complete != 1)
		return;
	MG_CALL_SUMS(NO, ADD, NO)
	if (f->seen_by == SEEN_BOTH)
		add_joined(&told->known, s, f);
}

void call_table_listen(struct call_table *t, struct core *c)
{
	t->core = c;
	facts_listen(core_facts(c), FACT_call, on_call, t);
}

/* Moves the calls without a system call to `missing` if the kernel side began late or broke off. */
void call_table_finish(struct call_table *t)
{
	struct call_stats *k, *tmp;
	struct fact_side kernel;

	core_side(t->core, CORE_KERNEL, &kernel);
	HASH_ITER (hh, t->calls, k, tmp) {
		if (kernel.begins_late)
			k->missing += k->before;
		if (kernel.ends_early && !kernel.in_order &&
			k->alone_at == core_kernel_events(t->core))
			k->missing += k->alone;
	}
}

void call_table_free(struct call_table *t)
{
	struct call_stats *k, *tmp;

	HASH_ITER (hh, t->calls, k, tmp) {
		HASH_DEL(t->calls, k);
		dist_free(&k->total);
		dist_free(&k->overhead);
		dist_free(&k->overhead_blocked);
		free(k);
	}
	dist_free(&t->logged);
}
