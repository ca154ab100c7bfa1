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

bool flow_misses(const struct fact_flow *f, struct mg_events events)
{
	return mg_events_meet(f->missing_events, events);
}

const char *report_side_end(const struct report *r, enum core_side which)
{
	const struct fact_side *s = &r->side[which];
	const char *by = json_string_value(json_object_get(
		json_object_get(r->session, which == CORE_APP ? "app" : "kernel_side"), "ended"));

	if (by)
		return by;
	if (s->in_order)
		return s->why[0] ? s->why : "the recording was stopped, and the program went on";
	return which == CORE_APP ? "the collector was killed or could not write, or its trace was "
				   "cut off"
				 : "the tracer was killed or could not write, or its trace was cut "
				   "off";
}

bool report_sees_packets_only(const struct report *r)
{
	struct fact_hook hook;
	uint32_t layers = 0;
	uintptr_t at = 0;

	while (core_next_hook(r->core, &at, &hook))
		for (int l = 0; l < MG_LAYER_END; l++)
			if (strcmp(hook.layer, mg_layer_names[l]) == 0)
				layers |= 1u << l;
	return mg_layers_see_packets_only(layers);
}

double report_app_coverage(const struct report *r)
{
	double all = (double)r->recording.app_events + (double)r->recording.lost_app;

	return all > 0 ? (double)r->recording.app_events / all * r->side[CORE_APP].share : NAN;
}

double call_coverage(const struct report *r, const struct call_stats *s)
{
	double of = (double)(call_is_kernel_only(s) ? s->n : s->joined + s->missing);
	double app = call_is_kernel_only(s) ? r->side[CORE_KERNEL].share : report_app_coverage(r);

	/* without a joined one, calls of this kind may not be followed into the kernel at all */
	if (of <= 0 || !(call_is_kernel_only(s) || s->joined || r->side[CORE_KERNEL].begins_late))
		return NAN;
	return (double)s->complete / of * app;
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

size_t report_loss_count(const struct report *r)
{
	struct fact_loss loss;
	uintptr_t at = 0;
	size_t n = 0;

	while (core_next_loss(r->core, &at, &loss))
		n++;
	return n;
}

int report_cpus(const struct report *r)
{
	int n = (int)json_integer_value(json_object_get(r->session, "cpus"));
	struct fact_loss loss;
	uintptr_t at = 0;

	if (n > CPUS_MAX)
		n = CPUS_MAX;
	if (figures_of(r->core)->sched.cpus > n)
		n = figures_of(r->core)->sched.cpus;
	while (core_next_loss(r->core, &at, &loss))
		if (loss.cpu >= n)
			n = loss.cpu + 1;
	return n ? n : 1;
}

bool report_has_gap(const struct report *r, int layer)
{
	struct fact_loss loss;
	uintptr_t at = 0;

	while (core_next_loss(r->core, &at, &loss))
		if (loss.layers >> layer & 1)
			return true;
	return false;
}

double report_time_coverage(const struct report *r, int layer, int cpu)
{
	uint64_t begin = core_begin_ns(r->core), missing = 0, until = begin, total;
	const struct fact_recording *c = &r->recording;
	struct span_ns *gap = mg_calloc(report_loss_count(r) + 1, sizeof(*gap));
	struct fact_loss loss;
	uintptr_t at = 0;
	size_t n = 0;

	while (gap && core_next_loss(r->core, &at, &loss))
		if (loss.layers >> layer & 1 && (loss.cpu < 0 || loss.cpu == cpu))
			gap[n++] = (struct span_ns){loss.begin, loss.end};
	if (gap)
		qsort(gap, n, sizeof(*gap), earlier);
	total = c->last > begin ? c->last - begin : 0;
	for (size_t i = 0; i < n; i++) { /* losses of different producers may overlap */
		uint64_t from = gap[i].from > until ? gap[i].from : until;
		uint64_t to = gap[i].to < c->last ? gap[i].to : c->last;

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
