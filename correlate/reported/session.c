/* SPDX-License-Identifier: MIT */
#include "reported/session.h"

#include "reported/getters.h"

static bool side_of(const struct report_figures *f, enum core_side which, struct side_figures *to)
{
	*to = (struct side_figures){f->r, which, &f->r->side[which]};
	return to->side->known;
}

bool into_sides_app(const struct report_figures *f, struct side_figures *to)
{
	return side_of(f, CORE_APP, to);
}

bool into_sides_kernel(const struct report_figures *f, struct side_figures *to)
{
	return side_of(f, CORE_KERNEL, to);
}

bool into_report_session(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool into_session_sides(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

/* Returns a text of session.json. */
static struct value text(const struct report_figures *f, const char *key)
{
	return value_text(json_string_value(json_object_get(f->r->session, key)));
}

/* Returns a whole number of session.json. */
static struct value number(const struct report_figures *f, const char *key)
{
	const json_t *j = json_object_get(f->r->session, key);

	return value_if(json_is_integer(j), value_signed(json_integer_value(j)));
}

/*
 * Returns whether the recording ended in order: the kernel side if there is one, else the
 * application side.
 */
static bool ended_in_order(const struct report *r)
{
	const struct fact_side *app = &r->side[CORE_APP];

	return r->recording.has_end || (!r->side[CORE_KERNEL].known && app->known && app->in_order);
}

static bool broke_off(const struct fact_recording *c)
{
	return c->kernel_events && !c->has_end && !c->part_ended && !c->kernel_tracer;
}

static const char *kernel_tracer(const struct fact_recording *c)
{
	return !c->kernel_events  ? NULL
	       : c->kernel_tracer ? c->kernel_tracer
				  : "magnet-kernel-tracer";
}

/* clang-format off */
#define RECORDING (f->r->recording)
GET(side, from_ns, value_if(f->side->from, value_count(f->side->from)))
GET(side, until_ns, value_count(f->side->until))
GET(side, ended_in_order, value_flag(f->side->in_order))
GET(side, complete, value_flag(!f->side->begins_late && !f->side->ends_early))
GET(side, coverage, value_number(f->side->end_known ? f->side->share : NAN))
GET(side, ended, value_text(f->side->ends_early ? report_side_end(f->r, f->which) : NULL))

GET(session, command, text(f, "command"))
GET(session, duration_ns, value_number(report_duration_ns(f->r)))
GET(session, tsc_hz, value_if(f->r->hz > 0 && !RECORDING.ns_only, value_number(f->r->hz)))
GET(session, host, text(f, "host"))
GET(session, kernel, text(f, "kernel"))
GET(session, started, text(f, "started"))
GET(session, exit_status, number(f, "exit_status"))
GET(session, ended_in_order, value_flag(ended_in_order(f->r)))
GET(session, steal_ns, number(f, "steal_ns"))
GET(session, steal_share, value_number(report_steal_share(f->r)))
GET(session, broke_off_ns, value_if(broke_off(&RECORDING), value_count(RECORDING.kernel_last)))
GET(session, kernel_tracer, value_text(kernel_tracer(&RECORDING)))
GET(session, cut_off, value_text(RECORDING.cut_off))
/* clang-format on */
