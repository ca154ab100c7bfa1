/* SPDX-License-Identifier: MIT */
#include "reported/loss.h"

#include "event_table.h"
#include "reported/getters.h"

bool into_report_loss(const struct report_figures *f, struct report_figures *to)
{
	*to = *f;
	return true;
}

bool next_loss_gaps(const struct report_figures *f, uintptr_t *at, struct gap_figures *to)
{
	return core_next_loss(f->r->core, at, &to->g);
}

struct value next_gap_layers(const struct gap_figures *f, uintptr_t *at)
{
	while (*at < MG_LAYER_END && !(f->g.layers & 1u << *at))
		(*at)++;
	return value_text(*at < MG_LAYER_END ? mg_layer_names[(*at)++] : NULL);
}

/* Finds the next layer and CPU where the share is below 1; `at` counts the CPUs of all layers. */
bool next_loss_time_coverage(
	const struct report_figures *f, uintptr_t *at, struct time_coverage_figures *to)
{
	uintptr_t cpus = (uintptr_t)report_cpus(f->r);

	for (; *at < cpus * MG_LAYER_END; (*at)++) {
		*to = (struct time_coverage_figures){
			.layer = (int)(*at / cpus), .cpu = (int)(*at % cpus), .share = 1};
		if (report_has_gap(f->r, to->layer))
			to->share = report_time_coverage(f->r, to->layer, to->cpu);
		if (to->share < 1) {
			(*at)++;
			return true;
		}
	}
	return false;
}

bool into_loss_missing(const struct report_figures *f, struct missing_events *to)
{
	*to = report_missing_events(f->r);
	return true;
}

static const char *reason(const struct fact_loss *g)
{
	return g->reason == MG_LOST_PAUSED        ? "paused"
	       : g->reason == MG_LOST_NOT_KEPT    ? "not_kept"
	       : g->reason == MG_LOST_NOT_COVERED ? "not_covered"
	       : g->reason == MG_LOST_NOT_HERE    ? "not_here"
	       : g->reason == MG_LOST_LAYER_OFF   ? "layer_off"
						  : "lost";
}

static bool is_counted(const struct fact_loss *g)
{
	return g->reason != MG_LOST_NOT_KEPT && g->reason != MG_LOST_NOT_COVERED &&
	       g->reason != MG_LOST_NOT_HERE && g->reason != MG_LOST_LAYER_OFF;
}

/* clang-format off */
GET(loss, app, value_count(f->r->recording.lost_app))
GET(loss, kernel, value_count(f->r->recording.lost_kernel))

GET(gap, producer, value_text(f->g.producer))
GET(gap, reason, value_text(reason(&f->g)))
GET(gap, cpu, value_if(f->g.cpu >= 0, value_signed(f->g.cpu)))
GET(gap, count, value_if(is_counted(&f->g), value_count(f->g.events)))
GET(gap, from_ns, value_count(f->g.begin))
GET(gap, to_ns, value_count(f->g.end))

GET(time_coverage, layer, value_text(mg_layer_names[f->layer]))
GET(time_coverage, cpu, value_signed(f->cpu))
GET(time_coverage, coverage, value_number(f->share))

GET(missing, app, value_count(f->app))
GET(missing, kernel, value_count(f->kernel))
GET(missing, packets, value_count(f->packets))
GET(missing, parts, value_count(f->parts))
GET(missing, traces_without_end, value_count(f->without_end))
GET(missing, unknown_events, value_count(f->unknown))
GET(missing, undescribed, value_text(f->undescribed))
GET(missing, too_many_events, value_count(f->too_many))
GET(missing, app_side, value_flag(f->side[CORE_APP]))
GET(missing, kernel_side, value_flag(f->side[CORE_KERNEL]))
/* clang-format on */
