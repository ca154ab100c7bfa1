/* SPDX-License-Identifier: MIT */
/* The report: figures of a finished core, as text and as JSON. */
#ifndef MAGNET_CORRELATE_RENDER_REPORT_H
#define MAGNET_CORRELATE_RENDER_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core.h"
#include "demand/demand.h"
#include "losses.h"

struct report {
	struct core *core;
	const json_t *session; /* session.json, NULL if there is none */
	const char *source;    /* what to call the trace */
	double hz; /* cycles a second; 0 if the clock is not known; 1e9 with nanoseconds only */
	struct flow **flows; /* with bytes, the largest first: see report_flow() */
	struct packed_flow { /* those whose socket is packed are NULL above */
		uint64_t sock;
		bool rx;
	} * packed;
	size_t flow_count;
	struct flow_sums {
		uint64_t bytes; /* of all flows */
		/* of those with a coverage: bytes, and those with and without every boundary */
		uint64_t followable, complete, incomplete;
		uint64_t incomplete_again; /* of these, sent again */
		size_t longest; /* whose bytes waited longest, of those that were followed;
				   flow_count if there is none */
	} sums;
	struct losses losses;      /* over all sockets */
	struct call_stats **calls; /* the most frequent first */
	size_t call_count;
	const struct demand *demand; /* figures on demand, NULL = none */
	bool whole_flows;            /* in JSON, none in brief, however many there are */
	double waterfall_at;         /* in text, bars about this quantile too; 0 = none */
};

int report_init(struct report *r, struct core *core, const json_t *session, const char *source);
void report_free(struct report *r);
/* Returns one of its flows, by number. That of a packed socket is there until the next is. */
const struct flow *report_flow(const struct report *r, size_t i);
/* The same; it stays. */
struct flow *report_keep_flow(const struct report *r, size_t i);
/* The number of a flow by its id; flow_count if there is none. */
size_t report_find_flow(const struct report *r, const char *id);
void report_text(const struct report *r, FILE *to, const char *flow_id, bool colour);
/* How a report is printed; whole flows: however many there are. */
enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_JSON_WHOLE_FLOWS };

/* An object beside a report's own members, and another report as its member `other`. */
struct json_beside {
	const char *key;
	const json_t *value;
	const struct report *other; /* NULL: none */
};
/* The report, with something beside it (NULL: nothing), and so many digits (json_print.c). */
void report_json_print(
	const struct report *r, const struct json_beside *beside, int digits, FILE *to);
#define REPORT_DIGITS 12
/*
 * The same, without what is of all flows if only one is wanted; a new reference. `flow` is its id,
 * NULL = all, REPORT_NO_FLOWS = all, but without each of them.
 */
json_t *report_json(const struct report *r, const char *flow);
#define REPORT_NO_FLOWS ""
/* One of its flows (json.c). */
json_t *json_flow(const struct report *r, const struct flow *f);

/*
 * The same on one line, with what tells it from others, and whether anything happened to it that
 * this leaves out (json_brief.c).
 */
void json_brief(const struct report *r, const struct flow *f, FILE *to);
bool flow_is_eventful(const struct flow *f);
/* A string of a trace: one that is not UTF-8 has '?' for what is not ASCII (json.c). */
json_t *json_text(const char *s);
/* A program's name, null where it is not known (json.c). */
json_t *json_comm(const char *comm);
/* How often it was sent again, or null; not of a received one (json.c). */
json_t *json_retransmits(const struct report *r, const struct flow *f);

/* (json_calls.c) */
json_t *json_call(const struct report *r, const struct call_stats *s);
/* (json_sched.c) */
json_t *json_scheduler(const struct report *r);
/* Where its bytes waited, into the flow's object (json_residence.c). */
void json_residence(json_t *flow, const struct report *r, const struct flow *f);
/* Median, 99th percentile and mean, ns (json.c). */
json_t *json_spread(const struct report *r, const struct dist *d);
/* Into a flow's object (json_lineage.c). */
void json_lineage(json_t *j, const struct report *r, const struct flow *f);
/* Sends with MSG_ZEROCOPY (json_zerocopy.c). */
void json_zerocopy(json_t *j, const struct report *r, const struct flow *f);
/* A flow's protocol state; null if it has none (json_tcp.c). */
json_t *json_tcp(const struct report *r, const struct flow *f);
/* The part of it that can be added up over several. */
json_t *json_troubles(const struct report *r, const struct flow *f, const struct tcp_record *t);

/* ---- figures both need (figures.c); NAN where not observable ---- */

double report_ns(const struct report *r, double cycles);
/* Bound of the error in joining the kernel's times with the program's. */
double report_clock_error_ns(const struct report *r);
/* Why that is not known; NULL if it is. */
const char *report_no_clock_error(const struct report *r);
/* Of the counter's rate, relative, in parts per million. */
double report_rate_error_ppm(const struct report *r);
/* And what an interval between two CPUs may be wrong by in addition. */
double report_cpu_offset_ns(const struct report *r);
/* "4097/tx", by the socket's cookie; "ino:4097/tx", by its inode where it has none */
void flow_name(char out[32], uint64_t sock, bool rx);
/* the same; a static buffer */
const char *flow_id(const struct flow *f);
/* "tcp", "udp", ... */
const char *flow_proto(const struct flow *f);
/* address and port, "10.9.0.2:80", "[fe80::1]:80"; "?" where not recorded */
void flow_ends(const struct flow *f, char local[64], char remote[64]);
/* Whether it is not connected and has exchanged datagrams with more than one: `remote` is the
 * first. */
bool flow_has_several_ends(const struct flow *f);
/* The remote one, for people. */
void flow_far_end(const struct flow *f, char out[64]);
const char *flow_comm(const struct report *r, const struct flow *f);
/* Bytes that passed while it was recorded. */
uint64_t flow_bytes(const struct flow *f);
double flow_coverage(const struct flow *f);
/* The other end's, if it is in the recording and the only one; NULL if not. */
const struct flow *flow_peer(const struct flow *f);
/* Whether the report has it: nothing may have passed. */
bool flow_is_told(const struct flow *f);
/* Bytes sent again after a drop on this machine, and whether all that tells of them was recorded.
 */
uint64_t flow_resent(const struct flow *f);
bool flow_resends_known(const struct report *r, const struct flow *f);
/* What makes TCP's bytes others than the program's; NULL = nothing. */
const char *flow_ulp(const struct flow *f);
/* Where a flow's first layer is: where the waterfall begins, in words. */
const char *stage_name(const struct flow *f, int stage);
const char *stage_label(const struct flow *f, int stage);
int stage_count(const struct flow *f);
const char *layer_name(const struct flow *f, int layer);
int layer_count(const struct flow *f);
/*
 * Flows of one program, protocol, direction and side, where there are several (together.c): `sum`
 * has their bytes, coverage and bars, and the first one's socket.
 */
struct together {
	char comm[16];
	enum flow_side side;
	uint16_t port; /* the server's; 0 = not recorded */
	size_t count;
	struct flow *first, sum;
	struct tcp_record tcp;  /* how often what happened to their connections */
	struct drop_sums drops; /* packets dropped of all of them */
};
/* Those with the longest waits first; NULL if there are none, or no memory. */
struct together *report_together(const struct report *r, size_t *count);
void report_together_free(struct together *all, size_t count);
/* What magnet's own events add to each bar of a waterfall; cycles (probes.c). */
struct probes {
	double taken[STAGES_MAX], sum; /* on average of all bytes */
	double each[STAGES_MAX];       /* of a byte whose bar is not 0 */
	/* the same of the send buffer, of bytes that left at once and of those that waited */
	double immediate, waited;
	double twice_u; /* of the total without them; NAN with nanoseconds only */
};
/* false if their cost is not known, or nothing was followed */
bool flow_probes(const struct report *r, const struct flow *f, struct probes *p);
/* Without them, cycles: a bar's mean and quantiles, and those of a reason's wait (the mean). */
double stage_mean(const struct flow *f, const struct probes *p, int stage);
double stage_quantile(const struct flow *f, const struct probes *p, int stage, double q);
double why_mean(const struct probes *p, const struct why_row *w);
/* How much of the send buffer's bar each reason is, cycles; they sum to it without magnet's own. */
void held_means(const struct flow *f, const struct probes *p, double mean[WHYS]);
/* Why the waterfall is withheld, "coverage" or "uncertainty"; NULL if it is not. */
const char *flow_withheld(const struct report *r, const struct flow *f);
/* Why bytes waited in the send buffer, and what let them go: in JSON, and in words. */
const char *why_reason_name(unsigned int reason);
const char *why_reason_label(unsigned int reason);
const char *why_release_name(unsigned int release);
const char *why_release_label(unsigned int release);
const char *call_name(const struct call_stats *s);
bool call_is_kernel_only(const struct call_stats *s);
/* Whether it is known how many of them blocked. */
bool call_blocking_known(const struct report *r, const struct call_stats *s);
double call_blocked_share(const struct call_stats *s);
/* 2u of the overhead, cycles; NAN without a calibration to compensate by. */
double call_uncertainty(const struct report *r, const struct call_stats *s, bool blocked);
/* Whether the hooks that tell when calls enter and leave it are attached. */
bool call_state_known(const struct report *r, enum call_state state);

/* Why it is not known how long switches take, NULL if it is. */
const char *report_no_switch_cost(const struct report *r);
/* Whether the application side was recorded. */
bool report_has_app(const struct report *r);

/* What is known of a flow's connection whatever the level; by the hooks that are attached. */
bool flow_timeouts_known(const struct report *r, const struct flow *f);
/* The window that limits the flow: sending the peer's, receiving our own. */
bool flow_windows_known(const struct report *r, const struct flow *f);

/* ---- what losses leave of a figure (coverage.c) ---- */

/* A figure of less than 99 % is marked, one of less than 90 % is not given. */
enum standing { WHOLE, STARRED, WITHHELD };
enum standing standing_of(double coverage); /* NAN is whole: there is nothing it could miss */
const char *standing_name(enum standing s);
/* Application events that were recorded, of all there were. */
double report_app_coverage(const struct report *r);
/* Calls of which nothing is missing, of all there were; NAN if none could be joined. */
double call_coverage(const struct report *r, const struct call_stats *s);
int report_cpus(const struct report *r);
bool report_has_gap(const struct report *r, int layer);
/* Share of the recording in which nothing is missing of a layer, on one CPU, */
double report_time_coverage(const struct report *r, int layer, int cpu);
/* and on all. */
double report_layer_coverage(const struct report *r, int layer);
json_t *json_time_coverage(const struct report *r);
/* Whether any of these are missing while the flow lived: what they count is a least count. */
#define EVENT_BIT(name) (1ull << MG_EVENT_##name)
bool flow_misses(const struct flow *f, uint64_t events);

struct modulation {
	const char *from, *to;
	double j_ns, tau_ns, m, s, blocked_share, w1_spacing_ns;
	uint64_t bytes; /* compared */
	bool known;
};
struct modulation flow_modulation(const struct report *r, const struct flow *f);

/* Unique bytes delivered by bytes of frames; NAN where refused, with the reason. */
struct goodput {
	double delivered_bytes, wire_bytes, ratio, bit_s;
	const char *refused;
};
struct goodput flow_goodput(const struct report *r, const struct flow *f);

struct own_cost {
	double app_ns_per_call, kernel_ns_per_event;
	double cpu_share;    /* of one CPU, while it recorded */
	double setup_cpu_ns; /* CPU time to begin and to end */
};
struct own_cost report_own_cost(const struct report *r);
/* Bound of the relative error of a flow's quantiles: the bins of its distributions. */
double report_quantile_error(const struct report *r);
double report_duration_ns(const struct report *r);
/* What the recorders wrote and that is not here, or cannot be read, as far as it is known. */
struct missing_events {
	uint64_t app, kernel;     /* events */
	uint64_t packets;         /* by the gaps in their numbers; their events are among those */
	uint32_t parts;           /* between those that are here */
	uint32_t without_end;     /* traces that do not tell how much was in them */
	uint64_t unknown;         /* events read, of kinds that this version does not know */
	const char *unknown_name; /* one of them */
	const char *undescribed;  /* a directory whose metadata is gone, NULL: there is none */
	bool side[CORE_SIDES];    /* the whole trace of a side */
	uint64_t too_many;        /* more events are here than were written */
};
struct missing_events report_missing_events(const struct report *r);
/* Why a side ends before the recording does, if it does. */
/* The number of the JSON report's form: it grows where a field is renamed or means something else.
 */
#define REPORT_SCHEMA 1
/* Whether none of the layers recorded is one that UNIX, netlink and vsock sockets pass. */
bool report_sees_packets_only(const struct report *r);
const char *report_side_end(const struct report *r, enum core_side which);
/* Of all CPUs' time, what the hypervisor gave to others. */
double report_steal_share(const struct report *r);

#endif
