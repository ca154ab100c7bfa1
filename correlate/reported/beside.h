/* SPDX-License-Identifier: MIT */
/*
 * Figures that stand beside a report: of the calls on one flow, of a comparison, and between two
 * hosts. Their getters are in render/flow_calls.c, compare/json.c, hosts/json.c and
 * capture/wire_json.c.
 */
#ifndef MAGNET_CORRELATE_REPORTED_BESIDE_H
#define MAGNET_CORRELATE_REPORTED_BESIDE_H

#include "render/report.h"
#include "reported/exchanges.h"

struct call_on_flow_figures {
	const struct report *r;
	const struct call_stats *s;
};

struct subject_key;
struct compared;
struct comparison;
struct compared_side;
struct measured;

struct subject_figures {
	const struct subject_key *key;
	char name[80];
};

struct compared_figures {
	const struct compared *row;
};

struct compared_recording_figures {
	const struct measured *m;
};

struct comparison_figures {
	const struct comparison *c;
	const struct compared_side *now, *before;
};

struct crossing;
struct between;
struct hosts;
struct hosts_window;

struct crossing_time_figures {
	const struct dist *d; /* ns */
	double half;
};

struct crossing_figures {
	const struct crossing *c;
};

struct joint_group;
struct joint_figures {
	const struct joint_group *g;
	struct exchange_group_figures client;
};

struct clock_standing_figures {
	uint64_t at;
	double ahead, half; /* NAN if not known */
};

struct clock_window_figures {
	const struct hosts *h;
	const struct hosts_window *w;
};

struct hosts_figures {
	const struct between *w;
};

struct wire;
struct wire_flow;
struct annotate_relation;

struct wire_figures {
	const struct wire *w;
	const struct annotate_relation *clock;
};

struct wire_flow_figures {
	const struct wire_flow *f;
};

#endif
