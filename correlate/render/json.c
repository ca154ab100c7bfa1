/* SPDX-License-Identifier: MIT */
/* Writes the report as one JSON object; docs/magnet-report.1 lists its fields. */
#include <math.h>
#include <string.h>

#include "event_table.h"
#include "reported/json.h"
#include "report.h"
#include "version.h"

/* Returns null for what cannot be observed, never 0. */
static json_t *number(double v)
{
	return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

json_t *json_text(const char *s)
{
	char ascii[256];
	size_t i;

	for (i = 0; s[i] && i + 1 < sizeof(ascii); i++)
		ascii[i] = s[i] & 0x80 ? '?' : s[i];
	ascii[i] = 0;
	return json_string(s) ?: json_string(ascii);
}

/* Returns a program's name; null if it is not known. */
json_t *json_comm(const char *comm)
{
	return comm[0] ? json_text(comm) : json_null();
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *copy(const json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	return v ? json_deep_copy(v) : json_null();
}

/* Returns the time that a side covers; null if it was not recorded by magnet. */
static json_t *side(const struct report *r, enum core_side which)
{
	const struct core_span *s = &r->core->side[which];

	if (!s->known)
		return json_null();
	return json_pack("{s:o, s:I, s:b, s:b, s:o, s:o}", "from_ns",
		s->from_ns ? count(s->from_ns) : json_null(), "until_ns", (json_int_t)s->until_ns,
		"ended_in_order", s->in_order, "complete", !s->begins_late && !s->ends_early,
		"coverage",
		number(side_end_known(r->core, which) ? side_share(r->core, which) : NAN), "ended",
		s->ends_early ? json_text(report_side_end(r, which)) : json_null());
}

/*
 * Returns whether the recording ended in order: the kernel side if there is one, else the
 * application side.
 */
static bool ended_in_order(const struct core *c)
{
	const struct core_span *app = &c->side[CORE_APP];

	return c->has_end || (!c->side[CORE_KERNEL].known && app->known && app->in_order);
}

json_t *json_session(const struct report *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "command", copy(r->session, "command"));
	json_object_set_new(j, "duration_ns", number(report_duration_ns(r)));
	json_object_set_new(
		j, "tsc_hz", r->hz > 0 && !r->core->clock.ns_only ? json_real(r->hz) : json_null());
	json_object_set_new(j, "host", copy(r->session, "host"));
	json_object_set_new(j, "kernel", copy(r->session, "kernel"));
	json_object_set_new(j, "started", copy(r->session, "started"));
	json_object_set_new(j, "exit_status", copy(r->session, "exit_status"));
	json_object_set_new(j, "ended_in_order", json_boolean(ended_in_order(r->core)));
	json_object_set_new(j, "steal_ns", copy(r->session, "steal_ns"));
	json_object_set_new(j, "steal_share", number(report_steal_share(r)));
	json_object_set_new(j, "broke_off_ns",
		r->core->kernel_events && !r->core->has_end && !r->core->part_ended &&
				!r->core->kernel_tracer[0]
			? count(r->core->kernel_until_ns)
			: json_null());
	json_object_set_new(j, "kernel_tracer",
		!r->core->kernel_events     ? json_null()
		: r->core->kernel_tracer[0] ? json_text(r->core->kernel_tracer)
					    : json_string("magnet-kernel-tracer"));
	json_object_set_new(j, "sides",
		json_pack("{s:o, s:o}", "app", side(r, CORE_APP), "kernel", side(r, CORE_KERNEL)));
	json_object_set_new(
		j, "cut_off", r->core->cut_off[0] ? json_text(r->core->cut_off) : json_null());
	return j;
}

static json_t *layer_names(uint32_t layers)
{
	json_t *names = json_array();

	for (int i = 0; i < MG_LAYER_END; i++)
		if (layers & 1u << i)
			json_array_append_new(names, json_string(mg_layer_names[i]));
	return names;
}

static json_t *gap(const struct gap *g)
{
	const char *reason = g->reason == MG_LOST_PAUSED        ? "paused"
			     : g->reason == MG_LOST_NOT_KEPT    ? "not_kept"
			     : g->reason == MG_LOST_NOT_COVERED ? "not_covered"
			     : g->reason == MG_LOST_NOT_HERE    ? "not_here"
								: "lost";
	bool counted = g->reason != MG_LOST_NOT_KEPT && g->reason != MG_LOST_NOT_COVERED &&
		       g->reason != MG_LOST_NOT_HERE;

	return json_pack("{s:o, s:s, s:o, s:o, s:I, s:I, s:o}", "producer", json_text(g->producer),
		"reason", reason, "cpu", g->cpu < 0 ? json_null() : json_integer(g->cpu), "count",
		counted ? count(g->count) : json_null(), "from_ns", (json_int_t)g->from_ns, "to_ns",
		(json_int_t)g->to_ns, "layers", layer_names(g->layers));
}

static json_t *missing(const struct report *r)
{
	struct missing_events m = report_missing_events(r);

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:b, s:b}", "app",
		(json_int_t)m.app, "kernel", (json_int_t)m.kernel, "packets", (json_int_t)m.packets,
		"parts", (json_int_t)m.parts, "traces_without_end", (json_int_t)m.without_end,
		"unknown_events", (json_int_t)m.unknown, "undescribed",
		m.undescribed ? json_text(m.undescribed) : json_null(), "too_many_events",
		(json_int_t)m.too_many, "app_side", m.side[CORE_APP], "kernel_side",
		m.side[CORE_KERNEL]);
}

json_t *json_loss(const struct report *r)
{
	json_t *gaps = json_array();

	for (uint32_t i = 0; i < r->core->gap_count; i++)
		json_array_append_new(gaps, gap(&r->core->gaps[i]));
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "app", (json_int_t)r->core->lost_app,
		"kernel", (json_int_t)r->core->lost_kernel, "gaps", gaps, "time_coverage",
		json_time_coverage(r), "missing", missing(r));
}

json_t *json_flow(const struct report *r, const struct flow *f)
{
	struct flow_figures of = flow_figures_of(r, f);

	return json_of_flow(&of);
}

json_t *json_other_events(const struct report *r)
{
	const struct other_stats *o, *tmp;
	json_t *all = json_array();

	HASH_ITER (hh, r->core->others, o, tmp) {
		json_array_append_new(all,
			json_pack("{s:o, s:I}", "name", json_text(o->name), "n", (json_int_t)o->n));
	}
	return all;
}

json_t *json_hooks(const struct report *r)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < r->core->hook_count; i++) {
		const struct hook_info *h = &r->core->hooks[i];

		json_array_append_new(
			all, json_pack("{s:o, s:o, s:i, s:o}", "layer", json_text(h->layer), "hook",
				     json_text(h->what), "status", (int)h->status, "netns",
				     h->netns ? json_integer(h->netns) : json_null()));
	}
	return all;
}

json_t *json_unseen(const struct report *r)
{
	const struct unseen *u, *tmp;
	json_t *all = json_array();

	HASH_ITER (hh, r->core->unseen, u, tmp) {
		json_array_append_new(all,
			json_pack("{s:o, s:I, s:I, s:I}", "comm", json_comm(u->comm), "processes",
				(json_int_t)u->processes, "calls", (json_int_t)u->calls,
				"io_uring_enter", (json_int_t)u->io_uring));
	}
	return all;
}

static json_t *span(const struct span *s)
{
	char flow[32];

	if (!s->sock)
		return json_null();
	flow_name(flow, s->sock, s->rx);
	return json_pack("{s:s, s:I, s:I}", "flow", flow, "offset", (json_int_t)s->off, "length",
		(json_int_t)s->len);
}

json_t *json_marks(const struct report *r)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < r->core->marks_n; i++) {
		const struct mark *m = &r->core->marks[i];

		json_array_append_new(
			all, json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
				     json_text(m->name), "id", (json_int_t)m->id, "value",
				     (json_int_t)m->value, "tid", (json_int_t)m->tid, "pid",
				     (json_int_t)m->pid, "time_ns",
				     number((double)clockmap_ns(&r->core->clock, m->t)), "received",
				     span(&m->received), "sent", span(&m->sent)));
	}
	return all;
}

json_t *report_json(const struct report *r, const char *only)
{
	struct report_figures of = report_figures_of(r, only);
	json_t *j = json_of_report(&of);

	report_figures_free(&of);
	return j;
}
