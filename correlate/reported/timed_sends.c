/* SPDX-License-Identifier: MIT */
#include "reported/timed_sends.h"

#include "event_table.h"
#include "reported/getters.h"

bool timed_sends_figures_of(
	const struct report *r, const struct fact_flow *f, struct timed_sends_figures *to)
{
	*to = (struct timed_sends_figures){.r = r,
		.sums = measures(f)->timed,
		.misses = flow_misses(
			f, MG_EVENTS(stamp_send, stamp_queue, stamp_driver, stamp_ack))};
	return to->sums;
}

uint64_t timed_sends_count(const struct timed_sends_figures *f)
{
	uint64_t sum = 0;

	for (int i = 0; i < TIMED_OUTCOMES; i++)
		sum += f->sums->n[i];
	return sum;
}

/* The totals come after the stages. */
bool next_timed_sends_stages_ns(
	const struct timed_sends_figures *f, uintptr_t *at, struct timed_stage_figures *to)
{
#define STAGE(ID, name, label) {name, label},
	static const struct {
		const char *name, *label;
	} stages[] = {MG_TIMED_STAGES(STAGE){"total", "total"}, {"at_most", "total, at most"}};
	const struct dist *d;

	if (*at > TIMED_STAGES + 1)
		return false;
	d = *at < TIMED_STAGES    ? &f->sums->stage[*at]
	    : *at == TIMED_STAGES ? &f->sums->total
				  : &f->sums->at_most;
	*to = (struct timed_stage_figures){
		stages[*at].name, stages[*at].label, spread_of(d, true, f->r->hz)};
	(*at)++;
	return true;
}

void part_timed_stage_call_time(const struct timed_stage_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

/* clang-format off */
GET(timed_stage, stage, value_text(f->stage))
GET(timed_stage, n, value_count(f->spread.d->n))

GET(timed_sends, n, value_count(timed_sends_count(f)))
GET(timed_sends, acknowledged, value_count(f->sums->n[TIMED_ACKNOWLEDGED]))
GET(timed_sends, acknowledged_later, value_count(f->sums->n[TIMED_ACKNOWLEDGED_LATER]))
GET(timed_sends, left, value_count(f->sums->n[TIMED_LEFT]))
GET(timed_sends, merged, value_count(f->sums->n[TIMED_MERGED]))
GET(timed_sends, unfinished, value_count(f->sums->n[TIMED_UNFINISHED]))
GET(timed_sends, lost, value_count(f->sums->n[TIMED_LOST]))
GET(timed_sends, queued_again, value_count(f->sums->queued_again))
GET(timed_sends, at_least, value_flag(f->misses))
/* clang-format on */
