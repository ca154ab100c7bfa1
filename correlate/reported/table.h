/* SPDX-License-Identifier: MIT */
/*
 * The figures that are reported: one row a figure, in the order in which the JSON report has them.
 * A scope is what they are figures of: a call, a flow, a stage. The JSON report, its schema, the
 * page magnet-figures(5) and the values that the text prints come from this table.
 *
 * Rows, of the scope S; `name` is the key in JSON, `label` what people read:
 *
 *   V(S, TYPE, UNIT, name, known, label, doc)  a value; get_S_name() returns it
 *   O(S, CHILD, name, known, doc)              an object; into_S_name() fills in the figures of
 * CHILD L(S, CHILD, name, known, doc)              a list of them; next_S_name() fills in one after
 * the other W(S, words, UNIT, name, known, doc)        an object with a number for each word;
 * get_S_name() takes its index T(S, name, known, doc)                     a list of texts;
 * next_S_name() returns one after the other P(S, CHILD, there)                         the figures
 * of CHILD, if `there`, as if they were rows of S; part_S_CHILD() fills them in
 *
 * `known` says when a figure is known; where it is not, JSON has null and the text n/a. It is a row
 * of MG_KNOWN_S, whose function known_S_name() is asked before the getter, or one of
 *
 *   always    it is known in every recording
 *   recorded  the getter returns nothing where it was not recorded
 *   samples   there is a sample; of quantiles above the median, ten samples beyond it
 *
 * Types: COUNT, SIGNED, NUMBER (with decimals), TEXT, FLAG, ANY (a value of JSON).
 */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_H
#define MAGNET_CORRELATE_REPORTED_TABLE_H

/* clang-format off */

/* ---- distributions ---- */

#define MG_KNOWN_spread(S, K)
#define MG_FIGURES_spread(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, p50, samples, "p50", "median") \
	V(S, NUMBER, NS, p99, samples, "p99", "99th percentile") \
	V(S, NUMBER, NS, mean, samples, "mean", "mean")

/* ---- calls ---- */

#define MG_KNOWN_overhead(S, K) \
	K(S, bounded, "the recording has a calibration, and some of these calls can be told")
#define MG_FIGURES_overhead(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	V(S, NUMBER, NS, uncertainty, bounded, "(+-)", "two standard deviations of one call's overhead") \
	V(S, FLAG, NONE, below_uncertainty, bounded, "~", "whether the median is below that") \
	V(S, COUNT, CALLS, n, always, "calls", "calls of which it is known")

#define MG_KNOWN_interposition(S, K) \
	K(S, calibrated, "the overhead is known, and the recording has a calibration") \
	K(S, logged, "it is a call of the program, and libmagnet.so measured it")
#define MG_FIGURES_interposition(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, inside, calibrated, "readings of the counter", "within the call, which was taken off the overhead") \
	V(S, NUMBER, NS, after, logged, "after each", "after the call")

#define MG_KNOWN_call(S, K) \
	K(S, told, "nothing is missing of 90 % of the calls, it is a call of the program, and the scheduler was recorded") \
	K(S, blocking, "nothing is missing of 90 % of the calls, and the scheduler was recorded") \
	K(S, calibrated, "the overhead is known, and the recording has a calibration") \
	K(S, waked, "the overhead is known, the recording has a calibration, and a call blocked")
#define MG_FIGURES_call(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "call", "function, or system call if it is kernel-only") \
	V(S, TEXT, NONE, flow_kind, always, "kind", "kind of socket") \
	V(S, FLAG, NONE, kernel_only, always, "kernel-only", "whether it was made without passing libmagnet.so") \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, COUNT, CALLS, failed, always, "failed", "calls that returned an error") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes returned") \
	V(S, COUNT, CALLS, joined, always, "joined", "calls with both an application event and a system call") \
	V(S, COUNT, CALLS, complete, always, "complete", "joined calls of which nothing is missing; the figures below, " \
		"but for total_ns, are of these alone") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "their share of all") \
	V(S, TEXT, NONE, standing, recorded, "standing", "\"whole\"; \"starred\" if the coverage is below 99 %; \"withheld\" " \
		"below 90 %: then the figures that miss something are null") \
	V(S, COUNT, CALLS, blocked_n, blocking, "blocked", "calls that blocked") \
	O(S, spread, total_ns, always, "time from before the call to after it, of all calls; null values where below 90 % of " \
		"them were recorded") \
	O(S, overhead, overhead_ns, always, "time the thread itself spent on the CPU for the call, of calls that did not block") \
	O(S, overhead, overhead_blocking_ns, always, "the same of calls that blocked") \
	W(S, MG_STATES, NS, states_ns, told, "mean time a call spent in each state; they sum to the mean total of these " \
		"calls. lock and release take hooks of functions, and are null where there are none") \
	V(S, NUMBER, NS, locked_out_ns, told, "blocked for a socket that another thread had locked", "of blocked, mean time " \
		"the thread waited for a socket that another had locked") \
	V(S, NUMBER, NS, probes_ns, calibrated, "kernel events", "mean cost of the kernel side's own events in a call, which " \
		"was taken off the overhead") \
	O(S, interposition, interposition_ns, always, "what libmagnet.so adds to a call") \
	V(S, NUMBER, NS, waker_probes_ns, waked, "events of those who woke", "bound of what events of those who woke it may " \
		"have made a blocked call longer")

/* ---- the scheduler ---- */

#define MG_KNOWN_waits(S, K)
#define MG_FIGURES_waits(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	V(S, NUMBER, NS, max, samples, "max", "longest that was recorded") \
	V(S, FLAG, NONE, max_at_least, always, ">=", "whether something was lost, so that it may be more") \
	V(S, COUNT, WAITS, n, always, "waits", "waits recorded")

#define MG_KNOWN_switch(S, K)
#define MG_FIGURES_switch(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, cpu, always, "CPU", "CPU") \
	V(S, TEXT, NONE, kind, always, "switch", "task_to_task, to_idle or from_idle") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of the time without a loss on this CPU") \
	V(S, COUNT, SWITCHES, n, always, "n", "switches") \
	V(S, NUMBER, NS, mean_ns, samples, "mean", "mean duration of those measured") \
	V(S, NUMBER, NS, p50_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, samples, "p99", "99th percentile of it") \
	V(S, NUMBER, NS, decide_mean_ns, samples, "to decide", "mean time until it was decided which thread is next") \
	V(S, NUMBER, NS, reload_mean_ns, samples, "to reload", "mean time after that") \
	V(S, COUNT, SWITCHES, measured, always, "measured", "switches whose duration is known and whole") \
	V(S, COUNT, SWITCHES, interrupted, always, "interrupted", "switches that an interrupt made longer, which are not measured")

#define MG_KNOWN_scheduler(S, K) \
	K(S, told, "the scheduler was recorded, and at least 90 % of the time nothing of it is missing") \
	K(S, migrations, "the scheduler was recorded; where events are missing, not if it would be 0") \
	K(S, watched, "the scheduler was recorded")
#define MG_FIGURES_scheduler(S, V, O, L, W, T, P) \
	L(S, switch, switches, always, "switches, by CPU and kind") \
	V(S, TEXT, NONE, no_durations, recorded, "how long a switch takes", "why durations of switches are null, if they are") \
	O(S, waits, wakeup_ns, always, "time from the moment a thread that blocked is made runnable to the moment it runs") \
	O(S, waits, queueing_ns, always, "of it, until the thread is on a run queue; of the layer switch") \
	O(S, waits, run_queue_ns, always, "waits for a CPU: those, and of threads that were preempted") \
	V(S, NUMBER, NS, run_queue_total_ns, told, "in all", "sum of the waits for a CPU") \
	V(S, COUNT, THREADS, migrations, migrations, "migrations", "times a thread went to another CPU") \
	V(S, NUMBER, SHARE, coverage, watched, "coverage", "share of the time without a loss") \
	V(S, TEXT, NONE, standing, watched, "standing", "as that of calls") \
	V(S, FLAG, NONE, at_least, always, ">=", "whether counts may be more")

/* F(scope, its C type, doc) */
#define MG_SCOPES(F) \
	F(spread, struct spread_figures, "Times of one kind") \
	F(overhead, struct overhead_figures, "Overhead of a call") \
	F(interposition, struct call_figures, "What libmagnet.so adds to a call") \
	F(call, struct call_figures, "A function and kind of socket") \
	F(waits, struct waits_figures, "Waits of threads") \
	F(switch, struct switch_figures, "Switches of one kind on one CPU") \
	F(scheduler, struct scheduler_figures, "The scheduler")
/* clang-format on */

#endif
