/* SPDX-License-Identifier: MIT */
/* Coverage: the share of a figure's subject that was recorded, and whether the figure is shown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "report.h"

enum standing standing_of(double coverage)
{
	return coverage < 0.90 ? WITHHELD : coverage < 0.99 ? STARRED : WHOLE;
}

const char *standing_name(enum standing s)
{
	static const char *const names[] = {
		[WHOLE] = "whole", [STARRED] = "starred", [WITHHELD] = "withheld"};

	return names[s];
}

bool flow_misses(const struct flow *f, struct mg_events events)
{
	return mg_events_meet(f->missing.events, events);
}

const char *report_side_end(const struct report *r, enum core_side which)
{
	const struct core_span *s = &r->core->side[which];
	const char *by = json_string_value(json_object_get(
		json_object_get(r->session, which == CORE_APP ? "app" : "kernel_side"), "ended"));

	if (by)
		return by;
	if (s->in_order)
		return s->why;
	return which == CORE_APP
		       ? "the collector was killed, or could not write, or the rest is gone"
		       : "the tracer was killed, or could not write, or the rest is gone";
}

bool report_sees_packets_only(const struct report *r)
{
	uint32_t layers = 0;

	for (uint32_t i = 0; i < r->core->probes.hook_count; i++)
		for (int l = 0; l < MG_LAYER_END; l++)
			if (strcmp(r->core->probes.hooks[i].layer, mg_layer_names[l]) == 0)
				layers |= 1u << l;
	return mg_layers_see_packets_only(layers);
}

double report_app_coverage(const struct report *r)
{
	double all = (double)r->core->counts.app_events + (double)r->core->counts.lost_app;

	return all > 0 ? (double)r->core->counts.app_events / all * side_share(r->core, CORE_APP)
		       : NAN;
}

double call_coverage(const struct report *r, const struct call_stats *s)
{
	double of = (double)(call_is_kernel_only(s) ? s->n : s->joined + s->missing);
	double app =
		call_is_kernel_only(s) ? side_share(r->core, CORE_KERNEL) : report_app_coverage(r);

	return of > 0 && (call_is_kernel_only(s) || s->joined) ? (double)s->complete / of * app
							       : NAN;
}

/* ---- of time ---- */

struct span_ns {
	uint64_t from, to;
};

static int earlier(const void *a, const void *b)
{
	uint64_t x = ((const struct span_ns *)a)->from, y = ((const struct span_ns *)b)->from;

	return x < y ? -1 : x > y;
}

int report_cpus(const struct report *r)
{
	int n = (int)json_integer_value(json_object_get(r->session, "cpus"));

	if (n > CPUS_MAX)
		n = CPUS_MAX;
	if (figures_of(r->core)->sched.cpus > n)
		n = figures_of(r->core)->sched.cpus;
	for (uint32_t i = 0; i < r->core->losses.gap_count; i++)
		if (r->core->losses.gaps[i].cpu >= n)
			n = r->core->losses.gaps[i].cpu + 1;
	return n ? n : 1;
}

bool report_has_gap(const struct report *r, int layer)
{
	for (uint32_t i = 0; i < r->core->losses.gap_count; i++)
		if (r->core->losses.gaps[i].layers >> layer & 1)
			return true;
	return false;
}

double report_time_coverage(const struct report *r, int layer, int cpu)
{
	const struct core *c = r->core;
	struct span_ns *gap = mg_calloc(c->losses.gap_count + 1, sizeof(*gap));
	uint64_t begin = core_begin_ns(c), missing = 0, until = begin, total;
	size_t n = 0;

	for (uint32_t i = 0; gap && i < c->losses.gap_count; i++) {
		const struct gap *g = &c->losses.gaps[i];

		if (g->layers >> layer & 1 && (g->cpu < 0 || g->cpu == cpu))
			gap[n++] = (struct span_ns){g->from_ns, g->to_ns};
	}
	if (gap)
		qsort(gap, n, sizeof(*gap), earlier);
	total = c->times.last_ns > begin ? c->times.last_ns - begin : 0;
	for (size_t i = 0; i < n; i++) { /* losses of different producers may overlap */
		uint64_t from = gap[i].from > until ? gap[i].from : until;
		uint64_t to = gap[i].to < c->times.last_ns ? gap[i].to : c->times.last_ns;

		if (to <= from)
			continue;
		missing += to - from;
		until = to;
	}
	free(gap);
	if (!total)
		return NAN;
	return missing < total ? 1 - (double)missing / (double)total : 0;
}

double report_layer_coverage(const struct report *r, int layer)
{
	int cpus = report_cpus(r);
	double sum = 0;

	if (!report_has_gap(r, layer))
		return 1;
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += report_time_coverage(r, layer, cpu);
	return sum / cpus;
}
