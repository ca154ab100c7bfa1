/* SPDX-License-Identifier: MIT */
/* Figures of the scheduler, and distributions: rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_SCHEDULER_H
#define MAGNET_CORRELATE_REPORTED_TABLE_SCHEDULER_H

/* clang-format off */

/* ---- distributions ---- */

#define MG_KNOWN_spread(S, K)
#define MG_FIGURES_spread(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, p50, samples, "p50", "median") \
	V(S, NUMBER, NS, p99, samples, "p99", "99th percentile") \
	V(S, NUMBER, NS, mean, samples, "mean", "mean") \
	V(S, NUMBER, NS, p90, samples, "p90", "90th percentile") \
	V(S, NUMBER, NONE, highest, samples, "highest", "largest quantile that holds, 0.99 at most: ten samples lie beyond it; " \
		"1, the maximum, with fewer than 20 samples") \
	V(S, NUMBER, NS, at_highest, samples, "there", "that quantile")

#define MG_KNOWN_longest(S, K)
#define MG_FIGURES_longest(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, max, samples, "max", "the longest")

#define MG_KNOWN_call_time(S, K)
#define MG_FIGURES_call_time(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	P(S, longest, always)

/* ---- the scheduler ---- */

#define MG_KNOWN_waits(S, K)
#define MG_FIGURES_waits(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	V(S, NUMBER, NS, max, samples, "max", "longest recorded wait") \
	V(S, FLAG, NONE, max_at_least, always, ">=", "whether events were lost, so that the maximum may be higher") \
	V(S, COUNT, WAITS, n, always, "waits", "waits recorded")

#define MG_KNOWN_switch(S, K)
#define MG_FIGURES_switch(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, cpu, always, "CPU", "CPU") \
	V(S, TEXT, NONE, kind, always, "switch", "task_to_task, to_idle or from_idle") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of the time without lost events on this CPU") \
	V(S, COUNT, SWITCHES, n, always, "n", "switches") \
	V(S, NUMBER, NS, mean_ns, samples, "mean", "mean duration of the measured switches") \
	V(S, NUMBER, NS, p50_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, samples, "p99", "99th percentile of it") \
	V(S, NUMBER, NONE, highest, samples, "highest", "largest quantile that holds, 0.99 at most; 1, the maximum, with " \
		"fewer than 20 samples") \
	V(S, NUMBER, NS, at_highest_ns, samples, "there", "that quantile") \
	V(S, NUMBER, NS, decide_mean_ns, samples, "to decide", "mean time until the next thread was chosen") \
	V(S, NUMBER, NS, reload_mean_ns, samples, "to reload", "mean time from that to the return in the next thread") \
	V(S, COUNT, SWITCHES, measured, always, "measured", "switches with a known duration and without an interrupt") \
	V(S, COUNT, SWITCHES, interrupted, always, "interrupted", "switches in which an interrupt was taken, which " \
		"are not measured")

#define MG_KNOWN_blocked(S, K)
#define MG_FIGURES_blocked(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, program, recorded, "program", "name of its program") \
	V(S, COUNT, NONE, pid, always, "process", "process") \
	V(S, TEXT, NONE, in, recorded, "in", "system_call; page_fault: a page fault, or other work of the kernel on its way back from " \
		"an exception or interrupt; kernel: it is a thread of the kernel; stopped: by a signal or debugger") \
	V(S, TEXT, NONE, call, recorded, "blocked in", "the system call") \
	V(S, TEXT, NONE, remote, recorded, "for", "peer of the socket that it waited for; of calls that wait for several, of the one " \
		"whose bytes ended the wait") \
	V(S, FLAG, NONE, io, recorded, "disk", "whether the kernel counts it as waiting for a disk") \
	V(S, COUNT, TIMES, n, always, "times", "blocks whose wakeup was recorded") \
	V(S, NUMBER, NS, total_ns, samples, "in all", "sum of them, from the switch away from the thread to its wakeup") \
	V(S, NUMBER, NS, p50_ns, samples, "p50", "median of them") \
	V(S, NUMBER, NS, p99_ns, samples, "p99", "99th percentile of them") \
	V(S, NUMBER, NONE, highest, samples, "highest", "largest quantile that holds, 0.99 at most; 1, the maximum, with " \
		"fewer than 20 of them") \
	V(S, NUMBER, NS, at_highest_ns, samples, "there", "that quantile") \
	V(S, NUMBER, NS, max_ns, samples, "max", "longest of them") \
	V(S, COUNT, TIMES, undivided_n, always, "undivided", "blocks whose wakeup was not recorded; not among the others") \
	V(S, NUMBER, NS, undivided_ns, always, "undivided in all", "time off the CPU in these, with their waits for a CPU")

#define MG_KNOWN_scheduler(S, K) \
	K(S, shown, "the scheduler was recorded without lost events for at least 90 % of the time") \
	K(S, migrations, "the scheduler was recorded; with lost events, only if it is not 0") \
	K(S, throttling, "like shown, and by magnet's own tracer: LTTng's does not tell") \
	K(S, watched, "the scheduler was recorded")
#define MG_FIGURES_scheduler(S, V, O, L, W, T, P) \
	L(S, switch, switches, always, "switches, by CPU and kind") \
	V(S, TEXT, NONE, no_durations, recorded, "how long a switch takes", "reason if durations of switches are null") \
	O(S, waits, wakeup_ns, always, "time from the moment a thread that blocked is made runnable to the moment it runs") \
	O(S, waits, queueing_ns, always, "part of the wakeup until the thread is on a run queue; needs the layer switch") \
	O(S, waits, run_queue_ns, always, "waits for a CPU: the wakeups, and the waits of preempted threads") \
	V(S, NUMBER, NS, run_queue_total_ns, shown, "in all", "sum of the waits for a CPU") \
	O(S, waits, throttled_ns, throttling, "those of the waits for a CPU in which the thread's cgroup had used up its CPU quota") \
	V(S, NUMBER, NS, throttled_total_ns, throttling, "throttled", "sum of them") \
	V(S, FLAG, NONE, throttled_at_least, throttling, ">=", "whether there may be more of these: events were lost, or, before Linux " \
		"6.18, threads were woken meanwhile") \
	L(S, blocked, blocked, always, "what threads were blocked in, by process, call and peer, the longest time first; at most 1,000") \
	V(S, TEXT, NONE, no_blocked_in, recorded, "what threads were blocked in", "reason if that is null") \
	V(S, NUMBER, NS, blocked_total_ns, shown, "blocked", "sum of the times in which threads were blocked; those without a " \
		"recorded start or wakeup are left out") \
	V(S, NUMBER, NS, blocked_undivided_ns, shown, "undivided", "time off the CPU of threads that blocked and whose " \
		"wakeup was not recorded, with their waits for a CPU") \
	V(S, NUMBER, NS, blocked_rest_ns, shown, "others", "part of it that is beyond the listed ones") \
	V(S, COUNT, THREADS, migrations, migrations, "migrations", "times a thread moved to another CPU") \
	V(S, NUMBER, SHARE, coverage, watched, "coverage", "share of the time without lost events") \
	V(S, TEXT, NONE, standing, watched, "standing", "like that of calls") \
	V(S, FLAG, NONE, at_least, always, ">=", "whether counts may be higher")
/* clang-format on */

#endif
