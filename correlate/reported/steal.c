/* SPDX-License-Identifier: MIT */
/*
 * Finds stages whose tail the hypervisor may have caused by taking the CPU (method, "Residence"):
 * it is known how much time it took in the whole recording, not when.
 */
#include "reported/steal.h"

#include <math.h>

#include "reported/spread.h"

/* A stage has a tail if its highest quantile is so many times the median, and so much longer. */
#define TAIL_TIMES  4
#define TAIL_NS     100000
#define STEAL_LEAST 0.01

/* Stages whose length depends on getting the CPU; in the others bytes wait for something else. */
static const bool tx_on_cpu[TX_STAGES] = {
	[TX_STAGE_CALL] = true,
	[TX_STAGE_IP] = true,
	[TX_STAGE_DRIVER] = true,
};
static const bool rx_on_cpu[RX_STAGES] = {
	[RX_STAGE_DEV_IP] = true,
	[RX_STAGE_IP_TCP] = true,
	[RX_STAGE_WAKE] = true,
	[RX_STAGE_RUNQ] = true,
	[RX_STAGE_POLL] = true,
	[RX_STAGE_COPY] = true,
	[RX_STAGE_RETURN] = true,
};

bool stage_tail_may_be_steal(const struct report *r, const struct fact_flow *f, int stage)
{
	const struct dist *d = &measures(f)->stage[stage];
	double q = dist_highest(d), share = report_steal_share(r), beyond, excess, stolen;
	double high = report_ns(r, dist_at_highest(d)),
	       median = report_ns(r, dist_quantile(d, 0.5));

	if (!(f->flow.rx ? rx_on_cpu : tx_on_cpu)[stage] || isnan(share) || share < STEAL_LEAST ||
		share < 1 - q)
		return false;
	if (!(high >= TAIL_TIMES * median) || high - median < TAIL_NS)
		return false;
	/* the stolen time must be enough for all that is beyond the quantile */
	beyond = fmax((1 - q) * (double)d->n, 1);
	excess = beyond * (high - median);
	stolen = share * report_duration_ns(r) * report_cpus(r);
	return excess <= stolen;
}
