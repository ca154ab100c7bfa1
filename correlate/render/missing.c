/* SPDX-License-Identifier: MIT */
/* Finds what the recorders wrote and the recording on disk lacks. */
#include "report.h"

static uint64_t beyond(uint64_t written, uint64_t read)
{
	return written > read ? written - read : 0;
}

static uint64_t app_by_totals(const struct report *r)
{
	const json_t *app = json_object_get(r->session, "app");
	const struct core *c = r->core;

	if (c->side[CORE_APP].in_order)
		return beyond(c->trace.app_end.events, c->counts.app_events + c->counts.app_gone);
	if (json_is_true(json_object_get(app, "written_out")))
		return beyond((uint64_t)json_integer_value(json_object_get(app, "events")),
			c->counts.app_events + c->counts.app_gone);
	return 0;
}

/*
 * Returns the kernel events missing by the recording's totals. A part with events counts as
 * complete, as it may be kept without the others by intent.
 */
static uint64_t kernel_by_totals(const struct report *r)
{
	const json_t *events =
		json_object_get(json_object_get(r->session, "kernel_side"), "events");
	const struct core *c = r->core;
	uint64_t read = c->side[CORE_KERNEL].read;

	if (!read)
		read = c->counts.kernel_events + c->counts.tracer_events - c->counts.app_notes;
	if (c->trace.has_end && !c->rotated.part)
		return beyond(c->trace.end.events, read);
	return c->counts.kernel_events ? 0 : beyond((uint64_t)json_integer_value(events), read);
}

/*
 * Returns the missing events. Totals do not account for events of unknown kinds that are here: they
 * are used only where no trace gives its number.
 */
static uint64_t missing_of(const struct core_span *s, uint64_t by_totals)
{
	return (s->told && s->told >= s->traces) || s->not_here > by_totals ? s->not_here
									    : by_totals;
}

static void add_side(struct missing_events *m, const struct core_span *s)
{
	m->unknown += s->unknown;
	if (s->unknown && !m->unknown_name)
		m->unknown_name = s->unknown_name;
	if (s->traces > s->told && !s->ends_early) /* otherwise reported already */
		m->without_end += s->traces - s->told;
	m->too_many += s->too_many;
}

/*
 * Returns whether a side's trace is gone. A recording may have gone on without its application
 * side; session.json says so then.
 */
static bool is_absent(const struct report *r, enum core_side which)
{
	const struct core_span *s = &r->core->side[which];

	if (which == CORE_APP && json_object_get(r->session, "app_missing"))
		return false;
	return s->absent || (s->expected && !s->traces);
}

/* Collects all that is missing; what a cut-off trace lacks is reported as such. */
struct missing_events report_missing_events(const struct report *r)
{
	const struct core *c = r->core;
	struct missing_events m = {0};

	if (c->trace.cut_off[0])
		return m;
	m.app = missing_of(&c->side[CORE_APP], app_by_totals(r));
	m.kernel = missing_of(&c->side[CORE_KERNEL], kernel_by_totals(r));
	m.parts = c->rotated.parts_missing;
	for (uint32_t i = 0; i < c->losses.gap_count; i++)
		if (c->losses.gaps[i].reason == MG_LOST_NOT_HERE)
			m.packets += c->losses.gaps[i].count;
	m.packets -= m.parts;
	for (int i = 0; i < CORE_SIDES; i++) {
		m.side[i] = is_absent(r, i);
		add_side(&m, &c->side[i]);
	}
	m.undescribed = c->trace.undescribed[0] ? c->trace.undescribed : NULL;
	return m;
}
