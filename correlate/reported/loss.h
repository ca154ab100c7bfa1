/* SPDX-License-Identifier: MIT */
/* Events that are missing, and when. */
#ifndef MAGNET_CORRELATE_REPORTED_LOSS_H
#define MAGNET_CORRELATE_REPORTED_LOSS_H

#include "render/report.h"

struct gap_figures {
	struct fact_loss g;
};

struct time_coverage_figures {
	int layer, cpu;
	double share;
};

#endif
