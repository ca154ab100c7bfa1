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
	const struct fact_recording *c = &r->recording;

	if (r->side[CORE_APP].in_order)
		return beyond(c->app_written, c->app_events + c->app_gone);
	if (json_is_true(json_object_get(app, "written_out")))
		return beyond((uint64_t)json_integer_value(json_object_get(app, "events")),
			c->app_events + c->app_gone);
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
	const struct fact_recording *c = &r->recording;
	uint64_t read = r->side[CORE_KERNEL].events;

	if (!read)
		read = c->kernel_events + c->tracer_events - c->app_notes;
	if (c->has_end && !c->part)
		return beyond(c->kernel_written, read);
	return c->kernel_events ? 0 : beyond((uint64_t)json_integer_value(events), read);
}

/*
 * Returns the missing events. Totals do not account for events of unknown kinds that are here: they
 * are used only where no trace gives its number.
 */
static uint64_t missing_of(const struct fact_side *s, uint64_t by_totals)
{
	return (s->traces_ended && s->traces_ended >= s->traces) || s->not_here > by_totals
		       ? s->not_here
		       : by_totals;
}

static void add_side(struct missing_events *m, const struct fact_side *s)
{
	m->unknown += s->unknown_events;
	if (s->unknown_events && !m->unknown_name)
		m->unknown_name = s->unknown_name;
	if (s->traces > s->traces_ended && !s->ends_early) /* otherwise reported already */
		m->without_end += s->traces - s->traces_ended;
	m->too_many += s->too_many;
}

/*
 * Returns whether a side's trace is gone. A recording may have gone on without its application
 * side; session.json says so then.
 */
static bool is_absent(const struct report *r, enum core_side which)
{
	const struct fact_side *s = &r->side[which];

	if (which == CORE_APP && json_object_get(r->session, "app_missing"))
		return false;
	if (which == CORE_APP && !s->traces && r->recording.app_events)
		return false; /* LTTng's traces do not say how much is in them */
	return s->absent || (s->expected && !s->traces);
}

/* Collects all that is missing; what a cut-off trace lacks is reported as such. */
struct missing_events report_missing_events(const struct report *r)
{
	const struct fact_recording *c = &r->recording;
	struct missing_events m = {0};
	struct fact_loss loss;
	uintptr_t at = 0;

	if (c->cut_off)
		return m;
	m.app = missing_of(&r->side[CORE_APP], app_by_totals(r));
	m.kernel = missing_of(&r->side[CORE_KERNEL], kernel_by_totals(r));
	m.parts = c->parts_missing;
	while (core_next_loss(r->core, &at, &loss))
		if (loss.reason == MG_LOST_NOT_HERE)
			m.packets += loss.events;
	m.packets -= m.parts;
	for (int i = 0; i < CORE_SIDES; i++) {
		m.side[i] = is_absent(r, i);
		add_side(&m, &r->side[i]);
	}
	m.undescribed = c->undescribed;
	return m;
}
