/* SPDX-License-Identifier: MIT */
#include "top_interval.h"

#include <math.h>

#include "clock.h"
#include "cpu_time.h"

/* Takes CPU times since the last interval as shares of one CPU. */
static void look_at_cpu(struct top *t)
{
	uint64_t now = mg_monotonic_ns(), own = own_cpu_ns();
	int64_t recorders = t->dir ? -1 : top_recorder_cpu_ns(&t->recorder);
	double span = (double)(now - t->used.at_ns);

	t->state.cpu_share = t->used.at_ns ? (double)(own - t->used.own_ns) / span : NAN;
	t->state.recorders_cpu_share =
		t->used.at_ns && recorders >= t->used.recorders_ns && t->used.recorders_ns >= 0
			? (double)(recorders - t->used.recorders_ns) / span
			: NAN;
	t->used.at_ns = now;
	t->used.own_ns = own;
	t->used.recorders_ns = recorders;
}

void top_turn(struct top *t)
{
	struct fact_recording r;
	const struct follow *f = t->following.follow;

	look_at_cpu(t);
	core_recording(t->core, &r);
	t->state.lost_app = r.lost_app;
	t->state.lost_kernel = r.lost_kernel;
	t->state.late = f ? follow_late(f) : 0;
	for (int i = 0; i < CORE_SIDES; i++)
		t->state.stalled[i] = f && follow_is_stalled(f, (enum core_side)i);
	t->state.begin_ns = core_begin_ns(t->core);
	t->state.until_ns = f ? follow_until_ns(f) : 0;
	if (t->state.until_ns < t->state.begin_ns)
		t->state.until_ns = t->state.begin_ns;
	live_turn(&t->live, t->state.until_ns);
}
