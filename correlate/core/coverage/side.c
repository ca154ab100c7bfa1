/* SPDX-License-Identifier: MIT */
/* Computes the time that each side of a recording covers, against the time of the recording. */
#include "coverage/side.h"

#include <stdio.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "flow.h"
#include "clock/clockmap.h"

/* Twice the time between two clock readings, which a live side writes. */
#define QUIET_NS 200000000ull

void core_expect_contents(struct core *c, enum core_side which)
{
	c->side[which].traces++;
}

void core_expect_side(struct core *c, enum core_side which)
{
	c->side[which].expected = true;
}

void core_miss_side(struct core *c, enum core_side which)
{
	c->side[which].absent = true;
}

void core_read_trace(struct core *c, enum core_side which, uint64_t events, uint64_t contents)
{
	struct core_span *s = &c->side[which];

	s->read += events;
	if (!contents)
		return;
	s->ended++;
	if (contents > events)
		s->not_here += contents - events;
	else
		s->too_many += events - contents;
}

void core_unknown_events(struct core *c, enum core_side which, uint64_t events, const char *name)
{
	struct core_span *s = &c->side[which];

	/* one name that does not depend on the order of the traces */
	if (events && (!s->unknown || strncmp(name, s->unknown_name, 32) < 0))
		snprintf(s->unknown_name, sizeof(s->unknown_name), "%.32s", name);
	s->unknown += events;
}

void core_know_times(struct core *c, uint64_t start_ns, uint64_t stop_ns)
{
	c->times.start_ns = start_ns;
	c->times.stop_ns = stop_ns;
}

bool side_is_over(struct core *c, enum core_side which, uint64_t t)
{
	const struct core_span *s = &c->side[which];

	return s->in_order && t > clockmap_cycles(&c->clock, s->until_ns);
}

bool side_misses(struct core *c, enum core_side which, uint64_t from, uint64_t to)
{
	uint64_t begin = c->side[which].from_ns;

	return (begin && from < clockmap_cycles(&c->clock, begin)) || side_is_over(c, which, to);
}

bool side_kernel_is_whole(const struct core *c)
{
	/* a trace without a list of hooks does not tell when they were attached */
	return c->counts.kernel_events && (c->side[CORE_KERNEL].whole_ns || !c->probes.hook_count);
}

uint64_t side_recording_end(const struct core *c)
{
	uint64_t end = c->times.stop_ns;

	for (int i = 0; i < CORE_SIDES && !c->times.stop_ns; i++)
		if (c->side[i].until_ns > end)
			end = c->side[i].until_ns;
	return end;
}

bool side_ends_before(const struct core *c, const struct core_span *s, uint64_t end)
{
	return s->until_ns + (c->times.stop_ns || s->outlasted ? 0 : QUIET_NS) < end;
}

bool side_end_known(const struct core *c, enum core_side which)
{
	const struct core_span *s = &c->side[which];

	return !s->ends_early || side_ends_before(c, s, side_recording_end(c));
}

uint64_t core_begin_ns(const struct core *c)
{
	return c->times.start_ns ? c->times.start_ns : c->times.first_ns;
}

double side_share(const struct core *c, enum core_side which)
{
	const struct core_span *s = &c->side[which];
	uint64_t end = side_recording_end(c), from = core_begin_ns(c);
	uint64_t missed = 0;

	if (!s->known || end <= from)
		return 1;
	if (s->begins_late)
		missed += s->from_ns - from;
	if (s->ends_early && side_ends_before(c, s, end))
		missed += end - (s->until_ns > from ? s->until_ns : from);
	return missed < end - from ? 1 - (double)missed / (double)(end - from) : 0;
}
