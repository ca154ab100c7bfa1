/* SPDX-License-Identifier: MIT */
/* The report: figures of a finished core, as text and as JSON. */
#ifndef MAGNET_CORRELATE_RENDER_REPORT_H
#define MAGNET_CORRELATE_RENDER_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/contract.h"
#include "demand/demand.h"
#include "figures/figures.h"
#include "figures/flows.h"
#include "alike.h"
#include "losses.h"

/* Parts of the text that its short form leaves out; `all` stands for everything. */
struct report_detail {
	bool calls, modulation, explain, all;
	bool no_hint;           /* does not say which options show the rest */
	bool beside_other_host; /* the other end's report is printed, too */
	/* quantile at which the text shows another waterfall; 0 = none */
	double waterfall_at;
};

/* A flow that is reported, whose socket may be packed. */
struct flow_key {
	uint64_t sock;
	bool rx;
	/* waiting time of its bytes: cycles, once for each byte; 0 if it is aside */
	dist_sum wait;
	bool is_aside;  /* see struct exchange_group */
	bool has_bars;  /* its bytes can be followed, or its sends are timed */
	uint32_t nth;   /* place in the order of sockets */
	uint32_t alike; /* number of what it is reported together with (alike.h) */
};

struct wire;
struct report {
	struct core *core;
	struct fact_recording recording;
	struct fact_side side[CORE_SIDES];
	const json_t *session; /* session.json, NULL if there is none */
	const char *source;    /* directories of the traces; NULL: not known */
	double hz; /* cycles per second; 0 if the clock is not known; 1e9 with nanoseconds only */
	struct flow_key *flows; /* those with bytes, the largest first: see report_flow() */
	size_t flow_count;
	uint32_t alikes;             /* how many of these numbers there are */
	size_t flows_there;          /* without the filter */
	const struct filter *filter; /* NULL: all of the recording is reported */
	struct flows_shown *shown;   /* facts that report_flow() and report_keep_flow() returned */
	struct flow_sums {
		uint64_t bytes; /* bytes of all flows */
		uint64_t aside; /* those of flows that are aside */
		/* of flows with a coverage: all bytes, those seen at every stage, and those not */
		uint64_t followable, complete, incomplete;
		uint64_t incomplete_again; /* part of them: retransmitted bytes */
		/*
		 * index of the followed flow whose bytes waited longest; flow_count if there is
		 * none
		 */
		size_t longest;
		size_t longest_timed; /* the same of flows with sends by timestamps */
		double message_wait;  /* cycles: see report_time_lost() */
	} sums;
	struct losses losses; /* losses of all sockets */
	/* the drops, those of each flow next to each other: see report_drops_of() */
	struct flow_drop *drops;
	size_t drop_count;
	struct call_stats **calls; /* sorted by number of calls */
	size_t call_count;
	struct slow_range *slow_ranges; /* of flows without exchanges, the slowest first */
	size_t slow_range_count;
	const struct demand *demand; /* statistics on demand, NULL = none */
	const struct wire *wire;     /* a capture beside the recording, NULL = none */
	struct report_detail detail;
	uint8_t stacks; /* the text lists stacks of these reasons: bits 1 << enum fact_stack_why */
	bool histogram; /* the text has histograms of exchanges */
	bool slowest;   /* the text lists the slowest exchanges */
	bool whole_flows; /* JSON shows every flow in full, however many there are */
};

int report_init(struct report *r, struct core *core, const json_t *session, const char *source);
void report_free(struct report *r);
/* Finds the slowest byte ranges, if they are asked for. Returns 0 or -ENOMEM (slow_ranges.c). */
int report_take_slow_ranges(struct report *r);
/* Returns flow number `i`, valid until the next call. */
const struct fact_flow *report_flow(const struct report *r, size_t i);
/* Returns the same, valid until the report is freed. */
const struct fact_flow *report_keep_flow(const struct report *r, size_t i);
/* Returns the number of the flow with this id; flow_count if there is none. */
size_t report_find_flow(const struct report *r, const char *id);
/* A kind of drop; `nth` is its place among those of all flows, in order of their first. */
struct flow_drop {
	const struct drop *d;
	size_t nth;
};
/* Sorts the drops by flow. Returns 0 or a negative errno (flow_drops.c). */
int report_take_drops(struct report *r);
/* Returns the first of the `n` kinds of drops of a flow, in order of their first. */
const struct flow_drop *report_drops_of(const struct report *r, uint64_t sock, bool rx, size_t *n);
void report_text(const struct report *r, FILE *to, const char *flow_id, bool colour);
/* Prints the first lines of that: the recording, what it lacks, and where the time went. */
void report_text_answer(const struct report *r, FILE *to, bool colour);
/* Forms of a report; REPORT_JSON_WHOLE_FLOWS shows every flow in full. */
enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_JSON_WHOLE_FLOWS };

/* An object to add to a report, and another report as its member `other`. */
struct json_beside {
	const char *key;
	const json_t *value;
	const struct report *other; /* NULL: none */
};
/* Prints the report with `beside` added (NULL: nothing) and this many digits (json_print.c). */
void report_json_print(
	const struct report *r, const struct json_beside *beside, int digits, FILE *to);
#define REPORT_DIGITS 12
/*
 * Returns a new reference. `flow` is the id of the only flow wanted, in which case what concerns
 * all flows is left out; NULL = all; REPORT_NO_FLOWS = all, but without each of them.
 */
json_t *report_json(const struct report *r, const char *flow);
#define REPORT_NO_FLOWS ""
/* Returns one flow (json.c). */
json_t *json_flow(const struct report *r, const struct fact_flow *f);

/*
 * Writes a flow on one line with its identity; flow_is_eventful() returns whether anything happened
 * to it that the line leaves out (json_brief.c).
 */
void json_brief(const struct report *r, const struct fact_flow *f, FILE *to);
bool flow_is_eventful(const struct fact_flow *f);
/* Returns a string of a trace; if it is not UTF-8, '?' replaces each non-ASCII byte (json.c). */
json_t *json_text(const char *s);

/* ---- figures for both forms (figures.c); NAN where not observable ---- */

double report_ns(const struct report *r, double cycles);
/* Returns the bound of the error in joining the kernel's times with the program's. */
double report_clock_error_ns(const struct report *r);
/* Returns the bound of the error of an interval whose ends may lie on two CPUs, cycles. */
double report_join_error(const struct report *r);
/* Returns why that bound is not known; NULL if it is. */
const char *report_no_clock_error(const struct report *r);
/* Returns the relative error of the counter's rate, in parts per million. */
double report_rate_error_ppm(const struct report *r);
/* Returns the additional error of an interval between two CPUs. */
double report_cpu_offset_ns(const struct report *r);
/*
 * Writes "4097/tx", from the socket's cookie; "4097.2/tx" for its second connection; "ino:4097/tx",
 * from its inode where it has no cookie.
 */
void flow_name(char out[32], uint64_t sock, bool rx);
/* returns the same in a static buffer */
const char *flow_id(struct fact_flow_id id);
/* Writes an IPv6 address, or an IPv4 one that is mapped into it, and a port. */
void address_text(char out[64], const uint8_t addr[16], uint16_t port);
/* "tcp", "udp", ... */
const char *flow_proto(const struct fact_flow *f);
/* Write address and port, "10.9.0.2:80" or "[fe80::1]:80"; "?" where not recorded. */
void flow_ends(const struct fact_flow *f, char local[64], char remote[64]);
/*
 * Returns whether the socket is unconnected and has exchanged datagrams with several peers;
 * flow_ends() gives the first.
 */
bool flow_has_several_ends(const struct fact_flow *f);
/* Writes the remote end as text. */
void flow_far_end(const struct report *r, const struct fact_flow *f, char out[64]);
/* Returns the name of the program that used the flow's socket last, "" if it is not known. */
const char *flow_comm(const struct fact_flow *f);
double flow_coverage(const struct fact_flow *f);
/*
 * Returns the share of the wait in the send buffer in which earlier bytes had to be sent again; NAN
 * without waits.
 */
double flow_lost_share(const struct fact_flow *f);
/*
 * Fills in the flow at the other end, valid as long as `f`. Returns false if it is not in the
 * recording, or not the only one.
 */
bool flow_peer(const struct report *r, const struct fact_flow *f, struct fact_flow *peer);
/* Returns whether the report shows the flow: nothing may have passed. */
bool flow_is_shown(const struct fact_flow *f);
/* Returns whether a flow's bytes can be followed; those of others would count as missing. */
bool flow_has_bars(const struct fact_flow *f);
/*
 * Return the bytes sent again after a drop on this machine, and whether all events needed to know
 * them were recorded.
 */
uint64_t flow_resent(const struct fact_flow *f);
bool flow_resends_known(const struct report *r, const struct fact_flow *f);
/* Returns the protocol that makes TCP's bytes differ from the program's; NULL = none. */
const char *flow_ulp(const struct fact_flow *f);
/* Names of a flow's stages and layers; a stage's label is for text. */
const char *stage_name(const struct fact_flow *f, int stage);
const char *stage_label(const struct fact_flow *f, int stage);
int stage_count(const struct fact_flow *f);
const char *layer_name(const struct fact_flow *f, int layer);
int layer_count(const struct fact_flow *f);
/*
 * Flows of one program, protocol, direction and side, where there are several (together.c): `sum`
 * has their bytes, coverage and stages, and the first one's socket.
 */
struct together {
	struct alike_key key;
	uint32_t alike; /* its number */
	size_t count;
	bool is_aside; /* see struct exchange_group */
	const struct fact_flow *first;
	struct fact_flow sum;
	void *measures;         /* those of `sum` */
	struct tcp_record tcp;  /* sums of what happened to their connections */
	size_t reset_of;        /* number of the flow whose reset has its reason there */
	struct drop_sums drops; /* packets dropped from all of them */
};
/* Returns the groups, the longest waits first; NULL if there are none or memory is short. */
struct together *report_together(const struct report *r, size_t *count);
void report_together_free(struct together *all, size_t count);
/* Tracing overhead within each stage of a waterfall; cycles (probes.c). */
struct probes {
	double taken[STAGES_MAX], sum; /* mean over all bytes */
	double each[STAGES_MAX];       /* for a byte whose stage took time */
	/* the same for the send buffer: bytes that left at once, and those that waited */
	double immediate, waited;
	/* expanded uncertainty of the total without overhead; NAN with nanoseconds only */
	double twice_u;
};
/* Returns false if the overhead is not known or no byte was followed. */
bool flow_probes(const struct report *r, const struct fact_flow *f, struct probes *p);
/* Return cycles without overhead: a stage's mean and quantiles, and the mean wait for one cause. */
double stage_mean(const struct fact_flow *f, const struct probes *p, int stage);
double stage_quantile(const struct fact_flow *f, const struct probes *p, int stage, double q);
double why_mean(const struct probes *p, const struct why_row *w);
/*
 * Computes the part of each cause in the send buffer's stage, cycles; they sum to the stage without
 * overhead.
 */
void held_means(const struct fact_flow *f, const struct probes *p, double mean[WHYS]);
/* Returns why the waterfall is not shown, "coverage" or "uncertainty"; NULL if it is shown. */
const char *flow_withheld(const struct report *r, const struct fact_flow *f);
/* Names of the causes of a wait in the send buffer, and of what ended it; labels are for text. */
const char *why_reason_name(unsigned int reason);
const char *why_reason_label(unsigned int reason);
const char *why_release_name(unsigned int release);
const char *why_release_label(unsigned int release);
const char *call_name(const struct call_stats *s);
bool call_is_kernel_only(const struct call_stats *s);
/* Returns whether it is known how many of the calls blocked. */
bool call_blocking_known(const struct report *r, const struct call_stats *s);
double call_blocked_share(const struct call_stats *s);
/* Returns the expanded uncertainty 2u of the overhead, cycles; NAN without a calibration. */
double call_uncertainty(const struct report *r, const struct call_stats *s, bool blocked);
/* Returns whether the hooks are attached that record when calls enter and leave the state. */
bool call_state_known(const struct report *r, enum call_state state);

/* Returns why it is not known how long switches take, NULL if it is known. */
const char *report_no_switch_cost(const struct report *r);
/* Returns whether only a window of time is reported. */
bool report_has_window(const struct report *r);
/* Fills in the next of the marks that were chosen; `at` is 0 at first. False after the last. */
bool report_next_mark(const struct report *r, uintptr_t *at, struct fact_mark *to);
/* Returns whether the application side was recorded. */
bool report_has_app(const struct report *r);

/* Returns whether a connection's timeouts are known, given the hooks that are attached. */
bool flow_timeouts_known(const struct report *r, const struct fact_flow *f);
/*
 * Returns whether the window that limits the flow is known: the peer's for sending, our own for
 * receiving.
 */
bool flow_windows_known(const struct report *r, const struct fact_flow *f);

/* ---- figures with losses (coverage.c) ---- */

/* Classes of coverage: a figure below 99 % is flagged, one below 90 % is not shown. */
enum standing { WHOLE, STARRED, WITHHELD };
enum standing standing_of(double coverage); /* NAN counts as whole: nothing can be missing */
const char *standing_name(enum standing s);
/* Returns the share of the application events that was recorded. */
double report_app_coverage(const struct report *r);
/* Returns the share of calls with nothing missing; NAN if none could be joined. */
double call_coverage(const struct report *r, const struct call_stats *s);
int report_cpus(const struct report *r);
/* Returns the number of intervals in which events are missing. */
size_t report_loss_count(const struct report *r);
bool report_has_gap(const struct report *r, int layer);
/* Returns the share of the recording in which no event of a layer is missing on one CPU. */
double report_time_coverage(const struct report *r, int layer, int cpu);
/* Returns the same for all CPUs. */
double report_layer_coverage(const struct report *r, int layer);
/*
 * Returns whether any of these events are missing during the flow's life: their counts are lower
 * bounds then.
 */
bool flow_misses(const struct fact_flow *f, struct mg_events events);

struct modulation {
	const char *from, *to;
	double j_ns, tau_ns, m, s, blocked_share, w1_spacing_ns;
	uint64_t bytes; /* bytes compared */
	bool known;
};
struct modulation flow_modulation(const struct report *r, const struct fact_flow *f);

/* Unique bytes delivered per byte on the wire; NAN with the reason where refused. */
struct goodput {
	double delivered_bytes, wire_bytes, ratio, bit_s;
	const char *refused;
};
struct goodput flow_goodput(const struct report *r, const struct fact_flow *f);

/*
 * Time lost, by section of the text, nanoseconds; NAN where it is not known: the waits of messages
 * in the stack, time on the CPU in calls, waits of threads for a CPU (time_lost.c).
 */
struct time_lost {
	double messages, calls, run_queue;
};
struct time_lost report_time_lost(const struct report *r);

struct own_cost {
	double app_ns_per_call, kernel_ns_per_event;
	double cpu_share;    /* share of one CPU, while it recorded */
	double setup_cpu_ns; /* CPU time at the start and at the end */
};
struct own_cost report_own_cost(const struct report *r);
/*
 * Returns the bound of the relative error of a flow's quantiles, from the bins of its
 * distributions.
 */
double report_quantile_error(const struct report *r);
double report_duration_ns(const struct report *r);
/* Events that were written and are missing or unreadable, as far as it is known. */
struct missing_events {
	uint64_t app, kernel; /* events */
	/* packets missing by their numbers; their events are among those above */
	uint64_t packets;
	uint32_t parts;           /* missing parts between those that are here */
	uint32_t without_end;     /* traces that do not end with their number of events */
	uint64_t unknown;         /* events read of kinds that this version does not know */
	const char *unknown_name; /* name of one of them */
	const char *undescribed;  /* a directory without its metadata, NULL: none */
	bool side[CORE_SIDES];    /* whether the whole trace of a side is missing */
	uint64_t too_many;        /* events beyond those written */
};
struct missing_events report_missing_events(const struct report *r);
/* Returns why a side ends before the recording does, if it does. */
/* Version of the JSON report's form: it grows when a field is renamed or changes its meaning. */
#define REPORT_SCHEMA 1
/* Returns whether no recorded layer is one that UNIX, netlink and vsock sockets pass. */
bool report_sees_packets_only(const struct report *r);
const char *report_side_end(const struct report *r, enum core_side which);
/* Returns the share of all CPUs' time that the hypervisor gave to others. */
double report_steal_share(const struct report *r);

#endif
