/* SPDX-License-Identifier: MIT */
#include "live/window_figures.h"

#include <math.h>

#include "reported/spread.h"

double live_quantile_ns(const struct live *l, const struct dist *d, double quantile)
{
	double hz = core_hz(l->core);

	if (hz <= 0 || !dist_quantile_supported(d, quantile))
		return NAN;
	return dist_quantile(d, quantile) * 1e9 / hz;
}

double live_highest(const struct live *l, const struct dist *d, double *ns)
{
	double hz = core_hz(l->core);

	*ns = hz > 0 && d->n ? dist_at_highest(d) * 1e9 / hz : NAN;
	return d->n ? dist_highest(d) : NAN;
}

double live_modulation(const struct live_sums *s)
{
	bool has_calls = s->n.calls[0] > 1 && s->n.calls[0] != FACT_NONE;
	double tau = has_calls
			     ? (double)(s->last_call - s->first_call) / (double)(s->n.calls[0] - 1)
			     : 0;

	return tau > 0 && s->shift.n ? dist_mean_abs_dev(&s->shift) / tau : NAN;
}

double live_stages(const struct live_sums *s, double time[LIVE_STAGES])
{
	double followed = 0, timed = 0;

	for (int i = 0; i < STAGES_BOTH; i++)
		followed += s->stage[i];
	for (int i = STAGES_BOTH; i < LIVE_STAGES; i++)
		timed += s->stage[i];
	for (int i = 0; i < LIVE_STAGES; i++)
		time[i] = (i < STAGES_BOTH) == (followed > 0) ? s->stage[i] : 0;
	return followed > 0 ? followed : timed;
}

int live_stage(const struct live_sums *s, double *share)
{
	double time[LIVE_STAGES], sum = live_stages(s, time);
	int largest = 0;

	for (int i = 0; i < LIVE_STAGES; i++)
		if (time[i] > time[largest])
			largest = i;
	*share = sum > 0 ? time[largest] / sum : NAN;
	return sum > 0 ? largest : -1;
}

bool live_stage_is_sent(int stage)
{
	return stage < TX_STAGES || stage >= STAGES_BOTH;
}

#define STAGE_NAME(ID, name, label)  name,
#define STAGE_LABEL(ID, name, label) label,

const char *live_stage_name(int stage)
{
	static const char *const names[] = {
		MG_TX_STAGES(STAGE_NAME) MG_RX_STAGES(STAGE_NAME) MG_TIMED_STAGES(STAGE_NAME)};

	return names[stage];
}

const char *live_stage_label(int stage)
{
	static const char *const labels[] = {
		MG_TX_STAGES(STAGE_LABEL) MG_RX_STAGES(STAGE_LABEL) MG_TIMED_STAGES(STAGE_LABEL)};

	return labels[stage];
}
