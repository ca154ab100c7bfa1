/* SPDX-License-Identifier: MIT */
/* Notes from when until when each side of a recording was recorded. */
#include "trace/sides.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "clock/clockmap.h"
#include "coverage/gap.h"
#include "coverage/hook.h"
#include "coverage/side.h"
#include "socket/socket.h"
#include "trace/loss.h"

static struct core_span *side_of(struct core *c, const struct mg_event *e)
{
	bool is_app = MG_IS_APP(e->id) || e->id == MG_EVENT_app_begin ||
		      e->id == MG_EVENT_app_until || e->id == MG_EVENT_app_end;

	return &c->side[is_app ? CORE_APP : CORE_KERNEL];
}

/*
 * Begins the first part of the application side, or the next; nothing was kept between two parts
 * that do not follow each other.
 */
static void part_begins(struct core *c, struct core_span *s, const struct mg_app_begin *p)
{
	if (!s->from_ns) {
		s->from_ns = p->from_ns;
		c->rotated.first_app_part = p->number;
	} else if (p->number > c->rotated.app_part + 1) {
		loss_of_app_parts(c, s->until_ns, p, p->number - c->rotated.app_part - 1);
	}
	if (p->number > c->rotated.app_part + 1 && p->events > c->counts.app_events)
		c->counts.app_gone = p->events - c->counts.app_events;
	c->rotated.app_part = p->number;
	if (p->from_ns > s->until_ns)
		s->until_ns = p->from_ns;
}

/*
 * Notes when all hooks were attached, which is when the tracer first reads the clock after listing
 * them. `magnet record` keeps its command waiting until then, and writes down the recording's
 * begin; where a tracer was started by hand, the program may have called before.
 */
static void kernel_is_attached(struct core *c, struct core_span *s, uint64_t time_ns)
{
	if (s->whole_ns || !c->probes.hook_count)
		return;
	s->whole_ns = time_ns;
	s->preceded = !c->times.start_ns && c->side[CORE_APP].call_ns;
	if (s->preceded && s->from_ns < time_ns)
		s->from_ns = time_ns;
}

void side_on_event(struct core *c, const struct mg_event *e)
{
	struct core_span *s = side_of(c, e);

	/* a loss is reported on another side, and perhaps late */
	if (e->id == MG_EVENT_lost || e->id == MG_EVENT_contents)
		return;
	/* a reading of the clock behind the kernel side's end is the application side's */
	if (e->time_ns > s->until_ns && e->id != MG_EVENT_app_begin &&
		!(e->id == MG_EVENT_clock_sync && s->in_order))
		s->until_ns = e->time_ns;
	if (MG_IS_APP(e->id))
		s->call_ns = e->time_ns;
	switch (e->id) {
	case MG_EVENT_app_begin:
		s->tells_end = true;
		part_begins(c, s, &e->app_begin);
		break;
	case MG_EVENT_app_end:
		s->in_order = true;
		c->trace.app_end = e->app_end;
		memcpy(s->why, e->app_end.why, sizeof(e->app_end.why));
		break;
	case MG_EVENT_chunk: /* the first one read; a later one continues */
		if (!s->from_ns)
			s->from_ns = e->chunk.from_ns;
		break;
	case MG_EVENT_clock_sync:
		kernel_is_attached(c, s, e->time_ns);
		break;
	case MG_EVENT_trace_end:
		s->in_order = true;
		memcpy(s->why, e->trace_end.why, sizeof(e->trace_end.why));
		break;
	default:
		break;
	}
}

/*
 * Returns whether the side is magnet's own and would record its end, which other tracers' traces do
 * not.
 */
static bool is_own(const struct core *c, enum core_side which)
{
	if (which == CORE_APP)
		return c->side[which].tells_end;
	return (c->counts.kernel_events || c->probes.hook_count || c->trace.has_end) &&
	       !c->trace.kernel_tracer[0];
}

/* Marks the bytes that a connection moved after the side's end: they have no timestamps. */
static void flow_outlasts(struct flow *f, uint64_t until, uint64_t end)
{
	uint64_t from = f->active.first;

	if (from && from < until && end > until)
		f->missing.time_share = (double)(end - until) / (double)(end - from);
}

static void flows_outlast(struct core *c, uint64_t until_ns, uint64_t end_ns)
{
	uint64_t until = clockmap_cycles(&c->clock, until_ns),
		 end = clockmap_cycles(&c->clock, end_ns);
	struct mg_sock *s = NULL;

	while ((s = sock_next_live(c, s))) {
		if (s->state == MG_TCP_CLOSE || s->listed.closed_ns)
			continue;
		flow_outlasts(&s->tx, until, end);
		flow_outlasts(&s->rx, until, end);
	}
}

#define NOTICED_NS 200000000ull

/*
 * Returns whether the recording was ended from the kernel side, as magnet ctl stop does: the other
 * side goes on for as long as it takes to notice.
 */
static bool ends_with_it(const struct core_span *s, uint64_t end)
{
	return strcmp(s->why, MG_ENDED_BY_CTL) == 0 && s->until_ns + NOTICED_NS > end;
}

/* Returns whether the program went on after the tracer had ended in order, as with --duration. */
static bool is_outlasted(const struct core *c, const struct core_span *s, uint64_t end)
{
	return s == &c->side[CORE_KERNEL] && !c->times.start_ns && s->in_order &&
	       c->side[CORE_APP].call_ns > s->until_ns && !ends_with_it(s, end);
}

static bool begins_late(const struct core *c, const struct core_span *s)
{
	return c->times.stop_ns ? s->from_ns > c->times.start_ns : s->preceded;
}

static bool ends_early(const struct core *c, const struct core_span *s, uint64_t end)
{
	if (!s->in_order)
		return !c->rotated.part_ended || side_ends_before(c, s, end);
	return s->outlasted || (s->why[0] && !ends_with_it(s, end) && side_ends_before(c, s, end));
}

void sides_finish(struct core *c)
{
	uint64_t end = side_recording_end(c);

	for (int i = 0; i < CORE_SIDES; i++) {
		struct core_span *s = &c->side[i];

		if (!is_own(c, i) || !s->until_ns)
			continue;
		s->known = true;
		s->begins_late = begins_late(c, s);
		s->outlasted = is_outlasted(c, s, end);
		s->ends_early = ends_early(c, s, end);
		if (s->begins_late)
			gap_not_covered(c, i, core_begin_ns(c), s->from_ns);
		if (!s->ends_early || !side_ends_before(c, s, end))
			continue;
		gap_not_covered(c, i, s->until_ns, end);
		if (i == CORE_KERNEL)
			flows_outlast(c, s->until_ns, end);
	}
	hook_finish(c, c->side[CORE_KERNEL].until_ns);
	if (end > c->times.last_ns)
		c->times.last_ns = end;
}
