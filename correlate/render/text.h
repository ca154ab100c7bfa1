/* SPDX-License-Identifier: MIT */
/* Parts of the text report. */
#ifndef MAGNET_CORRELATE_RENDER_TEXT_H
#define MAGNET_CORRELATE_RENDER_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "report.h"
#include "reported/spread.h"
#include "reported/value.h"
#include "table.h"

/* Return whether the text has a part that its short form leaves out. */
static inline bool text_has_all(const struct report *r)
{
	return r->detail.all;
}

static inline bool text_has_calls(const struct report *r)
{
	return r->detail.calls || r->detail.all;
}

static inline bool text_has_modulation(const struct report *r)
{
	return r->detail.modulation || r->detail.all;
}

static inline bool text_explains(const struct report *r)
{
	return r->detail.explain || r->detail.all;
}

/* text_head.c: the recording, what is missing of it, and with `losses` what the network lost */
void text_head(const struct report *r, FILE *to, bool losses, bool colour);
/* text_summary.c: where bytes waited longest */
void text_summary(
	const struct report *r, const struct together *groups, size_t group_count, FILE *to);
/* Returns the group of which the summary is, NULL if it is of the flow r->sums.longest. */
const struct together *text_summarised(
	const struct report *r, const struct together *groups, size_t group_count);
/* text_explain.c: what the words of the report mean */
void text_explain(const struct report *r, FILE *to, bool colour);
/* text_calls.c: the system calls, with the two below */
void text_calls(const struct report *r, FILE *to, bool colour);
/* text_unseen.c: whose calls libmagnet.so did not see, and the program's marks */
void text_unseen(const struct report *r, FILE *to);
void text_marks(const struct report *r, FILE *to);
/*
 * text_flows.c: where bytes waited, of groups of flows and of flows. The first is that of which the
 * answer or the summary is.
 */
void text_flows(const struct report *r, const struct together *groups, size_t group_count,
	bool answered, FILE *to, bool colour);
/* text_flow.c: where a flow's bytes waited, and how the stack changed its traffic */
void text_flow(const struct report *r, const struct fact_flow *f, FILE *to, bool colour);

/* the same for a group of flows */
void text_together(const struct report *r, const struct together *g, FILE *to, bool colour);

/* text_stages.c: where bytes waited, a row for each stage */
void text_stages(const struct report *r, const struct fact_flow *f, FILE *to);
/*
 * text_traffic.c: sizes and spacings at each layer, in tables; and in one line, which says `whose`
 * they are
 */
void text_traffic(const struct report *r, const struct fact_flow *f, FILE *to, bool colour);
void text_datagram_layers(const struct report *r, const struct fact_flow *f, FILE *to);
void text_traffic_line(
	const struct report *r, const struct fact_flow *f, const char *whose, FILE *to);
/* text_filter.c: the part of the recording that is reported, if it is not all of it */
void text_filter(const struct report *r, FILE *to, bool colour);
/* text_dumps.c: which triggers had the flight recorder dumped, when, and for which flow */
void text_dumps(const struct report *r, FILE *to);

/* text_timed_sends.c: where the last byte of each send waited, by the kernel's timestamps */
void text_timed_summary(
	const struct report *r, const struct together *groups, size_t group_count, FILE *to);
void text_timed_sends(const struct report *r, const struct fact_flow *f, FILE *to);
/* Returns whether a flow has these, and no stages from layer to layer. */
bool text_has_only_timed_sends(const struct report *r, const struct fact_flow *f);
/* text_zerocopy.c */
void text_zerocopy(const struct report *r, const struct fact_flow *f, FILE *to);
/*
 * text_lineage.c: bytes that came more than once or not at all; with `bars`, what the waterfall
 * above leaves out
 */
void text_lineage(const struct report *r, const struct fact_flow *f, bool bars, FILE *to);
const char *text_ulp(const struct fact_flow *f);

/* text_tcp.c: the state of the connection, as far as it was recorded */
void text_tcp(const struct report *r, const struct fact_flow *f, FILE *to);

/* the part of it that happens rarely: timeouts, recoveries, resets and zero windows */
void text_troubles(
	const struct report *r, const struct fact_flow *f, const struct tcp_record *t, FILE *to);

/* text_on_demand.c: statistics on demand of a flow, and of all together */
void text_on_demand(const struct report *r, const struct fact_flow *f, FILE *to, bool colour);
void text_on_demand_of_all(const struct report *r, FILE *to, bool colour);

/* text_whole.c: what the recording lacks or could not be read; returns whether it is complete */
bool text_whole(const struct report *r, FILE *to, bool colour);

/* text_sched.c: switches, and waits for a CPU */
void text_sched(const struct report *r, FILE *to, bool colour);

static inline const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *comm_or(const struct fact_flow *f, const char *otherwise)
{
	const char *comm = flow_comm(f);

	return comm[0] ? text_plain(comm, 15) : otherwise;
}

/* Returns the flag for a figure of which something is missing. */
static inline const char *star(enum standing s)
{
	return s == STARRED ? "*" : "";
}

static inline const char *or_na(bool known, const char *text)
{
	return known ? text : "n/a";
}

/* Returns the 99th percentile, or what stands for it. */
static inline const char *text_spread_high(const struct spread_figures *f)
{
	return text_high(dist_highest(f->d), spread_ns(f, dist_at_highest(f->d)));
}
static inline const char *text_spread_named_high(const struct spread_figures *f)
{
	return text_named_high(dist_highest(f->d), spread_ns(f, dist_at_highest(f->d)));
}

/* Returns a figure's value in its unit, "n/a" if it is not known. */
static inline const char *text_value(struct value v, enum unit unit)
{
	double n = value_of(v);

	if (isnan(n))
		return "n/a";
	switch (unit) {
	case IN_NS:
		return text_ns(n);
	case IN_US:
		return text_ns(n * 1000);
	case IN_BYTES:
		return text_bytes(n);
	case IN_SHARE:
		return text_percent(n);
	default:
		return text_count((uint64_t)n);
	}
}

#endif
