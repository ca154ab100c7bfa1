/* SPDX-License-Identifier: MIT */
/* The session as it was recorded, and the time that each side covers. */
#ifndef MAGNET_CORRELATE_REPORTED_SESSION_H
#define MAGNET_CORRELATE_REPORTED_SESSION_H

#include "render/report.h"

struct side_figures {
	const struct report *r;
	enum core_side which;
	const struct fact_side *side;
};

#endif
