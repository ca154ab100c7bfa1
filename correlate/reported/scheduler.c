/* SPDX-License-Identifier: MIT */
#include "reported/scheduler.h"

#include "event_table.h"
#include "reported/getters.h"

struct scheduler_figures scheduler_figures_of(const struct report *r)
{
	return (struct scheduler_figures){.r = r,
		.s = &figures_of(r->core)->sched,
		.watched = r->recording.kernel_events &&
			   core_has_observed(r->core, MG_EVENT_sched_switch),
		.coverage = report_layer_coverage(r, MG_LAYER_SCHED)};
}

/* ---- switches ---- */

bool next_scheduler_switches(
	const struct scheduler_figures *f, uintptr_t *at, struct switch_figures *to)
{
	uintptr_t all = (uintptr_t)f->s->cpus * SWITCH_KINDS;

	while (*at < all && !f->s->switches[*at].n)
		(*at)++;
	if (*at >= all)
		return false;
	to->s = &f->s->switches[*at];
	to->cpu = (int)(*at / SWITCH_KINDS);
	to->kind = (int)(*at % SWITCH_KINDS);
	to->coverage = report_time_coverage(f->r, MG_LAYER_SWITCH, to->cpu);
	to->spread = spread_of(&to->s->total_ns, standing_of(to->coverage) != WITHHELD, 1e9);
	(*at)++;
	return true;
}

struct value get_switch_cpu(const struct switch_figures *f)
{
	return value_count((uint64_t)f->cpu);
}

struct value get_switch_kind(const struct switch_figures *f)
{
	static const char *const kinds[] = {"task_to_task", "to_idle", "from_idle"};

	return value_text(kinds[f->kind]);
}

struct value get_switch_coverage(const struct switch_figures *f)
{
	return value_number(f->coverage);
}

struct value get_switch_n(const struct switch_figures *f)
{
	return value_count(f->s->n);
}

struct value get_switch_mean_ns(const struct switch_figures *f)
{
	return value_number(spread_mean(&f->spread));
}

struct value get_switch_p50_ns(const struct switch_figures *f)
{
	return value_number(spread_quantile(&f->spread, 0.5));
}

struct value get_switch_p99_ns(const struct switch_figures *f)
{
	return value_number(spread_quantile(&f->spread, 0.99));
}

struct value get_switch_highest(const struct switch_figures *f)
{
	return get_spread_highest(&f->spread);
}

struct value get_switch_at_highest_ns(const struct switch_figures *f)
{
	return get_spread_at_highest(&f->spread);
}

struct value get_switch_decide_mean_ns(const struct switch_figures *f)
{
	return value_number((double)f->s->decide_ns / (double)f->spread.d->n);
}

struct value get_switch_reload_mean_ns(const struct switch_figures *f)
{
	return value_number((double)f->s->reload_ns / (double)f->spread.d->n);
}

struct value get_switch_measured(const struct switch_figures *f)
{
	return value_count(f->spread.d->n);
}

struct value get_switch_interrupted(const struct switch_figures *f)
{
	return value_count(f->s->interrupted);
}

/* ---- waits ---- */

static void waits(
	const struct scheduler_figures *f, const struct dist *all, struct waits_figures *to)
{
	to->spread = spread_of(all, standing_of(f->coverage) != WITHHELD, f->r->hz);
	to->all = all;
	to->at_least = f->coverage < 1;
}

bool into_scheduler_wakeup_ns(const struct scheduler_figures *f, struct waits_figures *to)
{
	waits(f, &f->s->wakeup, to);
	return true;
}

bool into_scheduler_queueing_ns(const struct scheduler_figures *f, struct waits_figures *to)
{
	waits(f, &f->s->queueing, to);
	return true;
}

bool into_scheduler_run_queue_ns(const struct scheduler_figures *f, struct waits_figures *to)
{
	waits(f, &f->s->run_queue, to);
	return true;
}

bool into_scheduler_throttled_ns(const struct scheduler_figures *f, struct waits_figures *to)
{
	waits(f, &f->s->throttled, to);
	return true;
}

void part_waits_spread(const struct waits_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

struct value get_waits_max(const struct waits_figures *f)
{
	return value_number(f->all->n ? spread_ns(&f->spread, (double)f->all->max) : NAN);
}

struct value get_waits_max_at_least(const struct waits_figures *f)
{
	return value_flag(f->at_least);
}

struct value get_waits_n(const struct waits_figures *f)
{
	return value_count(f->all->n);
}

/* ---- blocks ---- */

bool next_scheduler_blocked(
	const struct scheduler_figures *f, uintptr_t *at, struct blocked_figures *to)
{
	const struct blocked_row *row =
		blocked_next(&f->s->blocked, (const struct blocked_row *)*at);

	if (!row || standing_of(f->coverage) == WITHHELD)
		return false;
	*at = (uintptr_t)row;
	*to = (struct blocked_figures){.r = f->r, .row = row};
	to->spread = spread_of(&row->time, true, f->r->hz);
	if (row->key.port)
		address_text(to->remote, row->key.addr, row->key.port);
	return true;
}

static const char *blocked_in(const struct blocked_row *row)
{
	static const char *const in[] = {"system_call", "page_fault", "kernel", "stopped"};

	return row->key.in < sizeof(in) / sizeof(in[0]) ? in[row->key.in] : NULL;
}

/* clang-format off */
GET(blocked, program, value_text(f->row->program))
GET(blocked, pid, value_count(f->row->key.pid))
GET(blocked, in, value_text(blocked_in(f->row)))
GET(blocked, call, value_text(f->row->key.call))
GET(blocked, remote, value_text(f->remote[0] ? f->remote : NULL))
GET(blocked, io, value_if(f->row->key.io != FACT_MAYBE, value_flag(f->row->key.io)))
GET(blocked, n, value_count(f->row->time.n))
GET(blocked, total_ns, value_number(spread_ns(&f->spread, (double)f->row->time.sum)))
GET(blocked, p50_ns, value_number(spread_quantile(&f->spread, 0.5)))
GET(blocked, p99_ns, value_number(spread_quantile(&f->spread, 0.99)))
GET(blocked, highest, get_spread_highest(&f->spread))
GET(blocked, at_highest_ns, get_spread_at_highest(&f->spread))
GET(blocked, undivided_n, value_count(f->row->undivided_n))
GET(blocked, undivided_ns, value_number(spread_ns(&f->spread, (double)f->row->undivided)))
GET(blocked, max_ns, value_number(spread_ns(&f->spread, (double)f->row->time.max)))
/* clang-format on */

struct value get_scheduler_no_blocked_in(const struct scheduler_figures *f)
{
	const struct blocked_stats *b = &f->s->blocked;

	if (!b->n || b->unknown < b->n)
		return value_unknown();
	return value_text(f->r->recording.kernel_tracer
				  ? "the kernel's tracer does not record it"
				  : "recorded by an older magnet, or on a kernel that does not "
				    "tell (arm64 before Linux 5.15)");
}

struct value get_scheduler_blocked_total_ns(const struct scheduler_figures *f)
{
	return value_number(report_ns(f->r, (double)f->s->blocked.sum));
}

struct value get_scheduler_blocked_undivided_ns(const struct scheduler_figures *f)
{
	return value_number(report_ns(f->r, (double)f->s->blocked.undivided));
}

struct value get_scheduler_blocked_rest_ns(const struct scheduler_figures *f)
{
	return value_number(report_ns(f->r, (double)f->s->blocked.rest));
}

/* ---- all of it ---- */

bool known_scheduler_watched(const struct scheduler_figures *f)
{
	return f->watched;
}

bool known_scheduler_shown(const struct scheduler_figures *f)
{
	return f->watched && standing_of(f->coverage) != WITHHELD;
}

bool known_scheduler_throttling(const struct scheduler_figures *f)
{
	return known_scheduler_shown(f) && !f->r->recording.kernel_tracer;
}

/* Returns true if the count is known: with lost events, zero may mean "not seen". */
bool known_scheduler_migrations(const struct scheduler_figures *f)
{
	return f->watched && (f->s->migrations || f->coverage >= 1);
}

struct value get_scheduler_no_durations(const struct scheduler_figures *f)
{
	return value_text(report_no_switch_cost(f->r));
}

struct value get_scheduler_run_queue_total_ns(const struct scheduler_figures *f)
{
	return value_number(report_ns(f->r, (double)f->s->run_queue.sum));
}

struct value get_scheduler_throttled_total_ns(const struct scheduler_figures *f)
{
	return value_number(report_ns(f->r, (double)f->s->throttled.sum));
}

struct value get_scheduler_throttled_at_least(const struct scheduler_figures *f)
{
	return value_flag(f->coverage < 1 || core_throttles_run_queues(f->r->core));
}

struct value get_scheduler_migrations(const struct scheduler_figures *f)
{
	return value_count(f->s->migrations);
}

struct value get_scheduler_coverage(const struct scheduler_figures *f)
{
	return value_number(f->coverage);
}

struct value get_scheduler_standing(const struct scheduler_figures *f)
{
	return value_text(standing_name(standing_of(f->coverage)));
}

struct value get_scheduler_at_least(const struct scheduler_figures *f)
{
	return value_flag(f->coverage < 1);
}
