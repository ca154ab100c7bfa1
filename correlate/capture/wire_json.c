/* SPDX-License-Identifier: MIT */
#include "capture/wire_json.h"

#include <math.h>

#include "capture/annotate_print.h"
#include "reported/json.h"
#include "reported/rows.h"

static bool time_of(const struct wire_time *t, struct crossing_time_figures *to)
{
	*to = (struct crossing_time_figures){&t->dist, t->half};
	return true;
}

bool into_wire_flow_device_ns(const struct wire_flow_figures *f, struct crossing_time_figures *to)
{
	return time_of(&f->f->device, to);
}

bool into_wire_flow_call_ns(const struct wire_flow_figures *f, struct crossing_time_figures *to)
{
	return time_of(&f->f->call, to);
}

bool into_wire_flow_total_ns(const struct wire_flow_figures *f, struct crossing_time_figures *to)
{
	return time_of(&f->f->total, to);
}

bool into_flow_wire(const struct flow_figures *f, struct wire_flow_figures *to)
{
	to->f = f->r->wire ? wire_flow(f->r->wire, f->f->flow) : NULL;
	return to->f;
}

bool into_wire_clock(const struct wire_figures *f, struct wire_figures *to)
{
	*to = *f;
	return true;
}

bool next_wire_flows(const struct wire_figures *f, uintptr_t *at, struct wire_flow_figures *to)
{
	const struct wire_flow *last = (const struct wire_flow *)*at;

	to->f = last ? last->hh.next : f->w->flows;
	*at = (uintptr_t)to->f;
	return to->f;
}

/* Returns the flow's name. */
static const char *name_of(const struct wire_flow *f)
{
	return flow_id((struct fact_flow_id){.sock = f->key.sock, .rx = f->key.rx});
}

static struct value quantile(const struct dist *d, double q)
{
	bool known = d->n && (q <= 0.5 || dist_quantile_supported(d, q));

	return value_number(known ? dist_quantile(d, q) : NAN);
}

/* clang-format off */
GET(crossing_time, mean, value_if(f->d->n, value_number(dist_mean(f->d))))
GET(crossing_time, p50, quantile(f->d, 0.5))
GET(crossing_time, p99, quantile(f->d, 0.99))
GET(crossing_time, half_width, value_if(f->d->n, value_number(f->half)))
GET(crossing_time, bytes, value_count(f->d->weight))

GET(wire_clock, ahead_ns, value_if(f->clock->known, value_number(f->clock->ahead_ns)))
GET(wire_clock, half_width_ns, value_if(f->clock->known, value_number(f->clock->half_ns)))
GET(wire_clock, skew, value_if(f->clock->known, value_number(f->clock->rate_ppm / 1e6)))
GET(wire_clock, skew_half_width, value_if(f->clock->known, value_number(f->clock->rate_error_ppm / 1e6)))
GET(wire_clock, sent, value_count(f->clock->sent))
GET(wire_clock, received, value_count(f->clock->received))

GET(wire_flow, flow, value_text(name_of(f->f)))
GET(wire_flow, packets, value_count(f->f->packets))
GET(wire_flow, bytes, value_count(f->f->bytes))
GET(wire_flow, wire_bytes, value_count(f->f->wire_bytes))
GET(wire_flow, size_mean, value_if(f->f->units.n, value_number(unit_mean_size(&f->f->units))))
GET(wire_flow, size_cov, value_if(f->f->units.n > 1, value_number(unit_cov_size(&f->f->units))))
GET(wire_flow, spacing_mean_ns, value_if(f->f->units.gaps.n, value_number(unit_mean_gap(&f->f->units))))
GET(wire_flow, spacing_cov, value_if(f->f->units.gaps.n > 1, value_number(unit_cov_gap(&f->f->units))))

GET(wire, capture, value_text(f->w->path))
GET(wire, packets, value_count(f->w->packets))
GET(wire, found, value_count(f->w->found))
/* clang-format on */

MG_DEFINE_SCOPES(MG_WIRE_SCOPES)

json_t *wire_json(const struct wire *w)
{
	struct annotate_relation relation;
	struct wire_figures of = {w, &relation};

	annotate_relation(&w->annotate, &relation);
	return json_of_wire(&of);
}
