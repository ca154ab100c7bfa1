/* SPDX-License-Identifier: MIT */
#include "trace/recording.h"

#include <math.h>
#include <stdio.h>

#include "clock/clockmap.h"
#include "clock/cpu_offsets.h"
#include "event_table.h"
#include "task/threads.h"

/* Returns a text, NULL if it is empty. */
static const char *text(const char *s)
{
	return s[0] ? s : NULL;
}

static void fill_counts(const struct core *c, struct fact_recording *to)
{
	to->first = c->times.first_ns;
	to->last = c->times.last_ns;
	to->begin = c->times.start_ns;
	to->end = c->times.stop_ns;
	to->kernel_last = c->times.kernel_until_ns;
	to->wall_clock = c->times.wall_clock_ns ? c->times.wall_clock_ns : FACT_NONE;
	to->app_events = c->counts.app_events;
	to->kernel_events = c->counts.kernel_events;
	to->tracer_events = c->counts.tracer_events;
	to->app_notes = c->counts.app_notes;
	to->lost_app = c->counts.lost_app;
	to->lost_kernel = c->counts.lost_kernel;
	to->app_gone = c->counts.app_gone;
	to->app_written = c->trace.app_end.events;
	to->kernel_written = c->trace.end.events;
	to->listen_drops = c->requests.listen_drops;
	to->synack_retries = c->requests.synack_retries;
	to->unjoined = c->checks.unjoined;
	to->state_mismatches = c->checks.state_mismatch;
	to->marks_left_out = c->marked.marks_more;
}

static void fill_trace(const struct core *c, struct fact_recording *to)
{
	to->has_end = c->trace.has_end;
	to->kernel_tracer = text(c->trace.kernel_tracer);
	to->cut_off = text(c->trace.cut_off);
	to->undescribed = text(c->trace.undescribed);
	to->part = c->rotated.part;
	to->first_part = c->rotated.first_part;
	to->first_app_part = c->rotated.first_app_part;
	to->parts_missing = c->rotated.parts_missing;
	to->part_ended = c->rotated.part_ended;
	to->calibrated = c->trace.has_calibration;
	to->event_cycles = c->trace.calibration.event_cycles;
	to->event_spread = c->trace.calibration.event_spread;
	to->event_scatter = c->trace.calibration.event_scatter;
	to->read_cycles = c->trace.calibration.read_cycles;
	to->system_cycles = c->trace.calibration.system_cycles;
}

static void fill_clock(const struct core *c, struct fact_recording *to)
{
	bool known = c->clock.n >= 2, guessed = c->due.clock_source == CLOCK_GUESSED;

	to->clock = (uint8_t)c->due.clock_source;
	to->clock_bounded = c->due.guess_bounded;
	to->ns_only = c->clock.ns_only;
	to->clock_points = c->clock.n;
	to->clock_longest = c->clock.longest_ns;
	to->clock_gaps = c->clock.gaps;
	to->clock_error = clockmap_error(&c->clock);
	to->clock_error_over = known && guessed ? clockmap_error_over(&c->clock, c->times.first_ns,
							  c->times.last_ns)
						: NAN;
	to->clock_rate_error = known ? clockmap_rate_error(&c->clock, guessed) : NAN;
	to->cpus_compared = c->offsets.known;
	to->cpus_error = c->offsets.known ? cpu_offsets_error(&c->offsets) : NAN;
	to->hz = clockmap_hz(&c->clock);
}

void core_recording(const struct core *c, struct fact_recording *to)
{
	*to = (struct fact_recording){0};
	fill_counts(c, to);
	fill_trace(c, to);
	fill_clock(c, to);
}

void core_side(const struct core *c, enum core_side which, struct fact_side *to)
{
	const struct core_span *s = &c->side[which];

	*to = (struct fact_side){.side = (uint8_t)which,
		.from = s->from_ns,
		.until = s->until_ns,
		.known = s->known,
		.begins_late = s->begins_late,
		.ends_early = s->ends_early,
		.in_order = s->in_order,
		.end_known = side_end_known(c, which),
		.share = side_share(c, which),
		.tells_end = s->tells_end,
		.why = s->why,
		.expected = s->expected,
		.absent = s->absent,
		.traces = s->traces,
		.traces_ended = s->ended,
		.events = s->read,
		.not_here = s->not_here,
		.too_many = s->too_many,
		.unknown_events = s->unknown,
		.unknown_name = s->unknown_name};
}

bool core_next_hook(const struct core *c, uintptr_t *at, struct fact_hook *to)
{
	const struct hook_info *h;

	if (*at >= c->probes.hook_count)
		return false;
	h = &c->probes.hooks[(*at)++];
	*to = (struct fact_hook){.layer = h->layer,
		.hook = h->what,
		.status = h->status,
		.netns = h->netns,
		.event = h->event};
	return true;
}

bool core_next_bypass(const struct core *c, uintptr_t *at, struct fact_bypass *to)
{
	const struct unseen *last = (const struct unseen *)*at,
			    *u = last ? last->hh.next : c->unseen;

	*at = (uintptr_t)u;
	if (u)
		*to = (struct fact_bypass){.program = text(u->comm),
			.processes = u->processes,
			.calls = u->calls,
			.io_uring = u->io_uring};
	return u;
}

bool core_next_chosen(const struct core *c, uintptr_t *at, struct fact_chosen *to)
{
	const struct other_stats *last = (const struct other_stats *)*at,
				 *o = last ? last->hh.next : c->others;

	*at = (uintptr_t)o;
	if (o)
		*to = (struct fact_chosen){.name = o->name, .events = o->n};
	return o;
}

const struct mg_calibration *core_calibration(const struct core *c)
{
	return &c->trace.calibration;
}

uint64_t core_kernel_events(const struct core *c)
{
	return c->counts.kernel_events;
}

uint64_t core_cycles(struct core *c, uint64_t ns)
{
	return clockmap_cycles(&c->clock, ns);
}

uint64_t core_ns(struct core *c, uint64_t cycles)
{
	return clockmap_ns(&c->clock, cycles);
}

double core_hz(const struct core *c)
{
	return clockmap_hz(&c->clock);
}

bool core_has_clock(const struct core *c)
{
	return c->clock.ns_only || clockmap_valid(&c->clock);
}

double core_clock_join_error(const struct core *c)
{
	return clockmap_error(&c->clock);
}

void core_know_wall_clock(struct core *c, int64_t offset_ns)
{
	c->times.wall_clock_ns = offset_ns > 0 ? (uint64_t)offset_ns : 0;
}

void core_know_no_rate(struct core *c)
{
	clockmap_use_ns(&c->clock);
}

void core_know_cut_off(struct core *c, const char *why)
{
	snprintf(c->trace.cut_off, sizeof(c->trace.cut_off), "%.255s", why);
}

void core_know_undescribed(struct core *c, const char *dir)
{
	snprintf(c->trace.undescribed, sizeof(c->trace.undescribed), "%.255s", dir);
}

void recording_tell(struct core *c)
{
	struct fact_recording recording;
	struct fact_bypass bypass;
	struct fact_chosen chosen;
	struct fact_dump dump;
	struct fact_side side;
	struct fact_hook hook;
	uintptr_t at = 0;

	core_recording(c, &recording);
	emit_recording(&c->facts, &recording);
	for (int i = 0; i < CORE_SIDES; i++) {
		core_side(c, i, &side);
		emit_side(&c->facts, &side);
	}
	while (core_next_hook(c, &at, &hook)) {
		if (!hook.netns)
			hook.netns = FACT_NONE;
		if (!hook.event)
			hook.event = FACT_NONE;
		emit_hook(&c->facts, &hook);
	}
	for (at = 0; core_next_bypass(c, &at, &bypass);)
		emit_bypass(&c->facts, &bypass);
	for (at = 0; core_next_chosen(c, &at, &chosen);)
		emit_chosen(&c->facts, &chosen);
	for (at = 0; core_next_dump(c, &at, &dump);)
		emit_dump(&c->facts, &dump);
}
