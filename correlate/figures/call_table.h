/* SPDX-License-Identifier: MIT */
/*
 * Figures of calls: rows of the table of figures, and how figures/calls.c makes them of the fact
 * `call`.
 */
#ifndef MAGNET_CORRELATE_FIGURES_CALL_TABLE_H
#define MAGNET_CORRELATE_FIGURES_CALL_TABLE_H

/* clang-format off */
#define MG_KNOWN_overhead(S, K) \
	K(S, bounded, "the recording has a calibration, and some of these calls are complete")
#define MG_FIGURES_overhead(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	P(S, longest, always) \
	V(S, NUMBER, NS, uncertainty, bounded, "(+-)", "two standard deviations of one call's overhead") \
	V(S, FLAG, NONE, below_uncertainty, bounded, "~", "whether the median is below its uncertainty") \
	V(S, COUNT, CALLS, n, always, "calls", "calls with a known overhead")

#define MG_KNOWN_interposition(S, K) \
	K(S, calibrated, "the overhead is known, and the recording has a calibration") \
	K(S, logged, "it is a call of the program, and libmagnet.so measured its own time")
#define MG_FIGURES_interposition(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, inside, calibrated, "readings of the counter", "time within the call, which was taken off " \
		"the overhead") \
	V(S, NUMBER, NS, after, logged, "after each", "time after the call")

#define MG_KNOWN_call(S, K) \
	K(S, shown, "90 % of the calls are complete, it is a call of the program, and the scheduler was recorded") \
	K(S, blocking, "90 % of the calls are complete, and the scheduler was recorded") \
	K(S, calibrated, "the overhead is known, and the recording has a calibration") \
	K(S, waked, "the overhead is known, the recording has a calibration, and a call blocked")
#define MG_FIGURES_call(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "call", "function, or system call if it is kernel-only") \
	V(S, TEXT, NONE, flow_kind, always, "kind", "kind of socket") \
	V(S, FLAG, NONE, kernel_only, always, "kernel-only", "whether it bypassed libmagnet.so") \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, COUNT, CALLS, failed, always, "failed", "calls that returned an error") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes moved, without those that were only looked at (MSG_PEEK, MSG_ERRQUEUE)") \
	V(S, COUNT, CALLS, joined, always, "joined", "calls with both an application event and a system call") \
	V(S, COUNT, CALLS, complete, always, "complete", "joined calls without a missing event; the figures below, " \
		"except total_ns, are of these calls alone") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of complete calls in all calls") \
	V(S, TEXT, NONE, standing, recorded, "standing", "\"whole\"; \"starred\" if the coverage is below 99 %; " \
		"\"withheld\" below 90 %: then the figures that need complete calls are null") \
	V(S, COUNT, CALLS, blocked_n, blocking, "blocked", "calls that blocked") \
	O(S, call_time, total_ns, always, "time from before the call to after it, of all calls; its values are null if " \
		"less than 90 % of the calls were recorded") \
	L(S, time_bin, total_histogram, always, "how many calls took how long, of all calls; empty bins are left out") \
	O(S, overhead, overhead_ns, always, "time the thread itself spent on the CPU for the call, for calls that did " \
		"not block") \
	O(S, overhead, overhead_blocking_ns, always, "the same for calls that blocked") \
	W(S, MG_STATES, NS, states_ns, shown, "mean time of a call in each state; these sum to the mean total of these " \
		"calls. lock and release need function hooks, and are null without them") \
	V(S, NUMBER, NS, locked_out_ns, shown, "blocked for a socket that another thread had locked", "part of " \
		"blocked: mean time the thread waited for a socket that another thread had locked") \
	V(S, NUMBER, NS, probes_ns, calibrated, "kernel events", "mean cost of the kernel side's events in a call, " \
		"which was taken off the overhead") \
	O(S, interposition, interposition_ns, always, "time that libmagnet.so adds to a call") \
	V(S, NUMBER, NS, waker_probes_ns, waked, "events of those who woke", "upper bound of the time by which events " \
		"in the wakers may have lengthened a blocked call")

/*
 * How these are made of `f`, a fact `call`; struct call_stats has `name`, and the getter of the row
 * `key` follows:
 *
 *   CALLS(name, n)         the sum of `n` over all calls
 *   COMPLETE(name, n)      the sum over the complete ones: with both sides, or without a function
 *                          of the program, and without a missing event
 *   MEAN(name, key, span)  the mean of `span` over the complete ones, if the scheduler was recorded
 */
#define MG_CALL_SUMS(CALLS, COMPLETE, MEAN) \
	CALLS(n, 1) \
	CALLS(failed, f->result < 0) \
	CALLS(bytes, f->bytes) \
	CALLS(joined, f->seen_by == SEEN_BOTH) \
	COMPLETE(complete, 1) \
	COMPLETE(blocked_n, f->blocked_times && f->blocked_times != FACT_NONE) \
	MEAN(locked_out, locked_out_ns, f->locked_out)
/* clang-format on */

#endif
