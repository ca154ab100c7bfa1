/* SPDX-License-Identifier: MIT */
/* Figures of a recording: rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_RECORDING_H
#define MAGNET_CORRELATE_REPORTED_TABLE_RECORDING_H

/* clang-format off */

/* ---- what was recorded ---- */

#define MG_KNOWN_side(S, K)
#define MG_FIGURES_side(S, V, O, L, W, T, P) \
	V(S, COUNT, NS, from_ns, recorded, "from", "its start; null if it began with the recording") \
	V(S, COUNT, NS, until_ns, always, "until", "its end, or its last event") \
	V(S, FLAG, NONE, ended_in_order, always, "ended in order", "whether its end is in the trace") \
	V(S, FLAG, NONE, complete, always, "complete", "whether it covers the recording from start to end") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of the recording that it covers") \
	V(S, TEXT, NONE, ended, recorded, "ended", "reason if it ended before the recording")

#define MG_KNOWN_sides(S, K)
#define MG_FIGURES_sides(S, V, O, L, W, T, P) \
	O(S, side, app, recorded, "the application side, if magnet recorded it") \
	O(S, side, kernel, recorded, "the kernel side, if magnet recorded it")

#define MG_KNOWN_session(S, K)
#define MG_FIGURES_session(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, command, recorded, "command", "command that was run") \
	V(S, NUMBER, NS, duration_ns, recorded, "duration", "duration of the recording") \
	V(S, NUMBER, HZ, tsc_hz, recorded, "counter", "rate of the cycle counter; null if it is not constant") \
	V(S, TEXT, NONE, host, recorded, "host", "name of the machine") \
	V(S, TEXT, NONE, kernel, recorded, "Linux", "its kernel's release") \
	V(S, TEXT, NONE, started, recorded, "started", "when, in UTC") \
	V(S, SIGNED, NONE, exit_status, recorded, "exit status", "the command's exit status") \
	V(S, FLAG, NONE, ended_in_order, always, "ended in order", "whether the kernel side ended in order; without a " \
		"kernel side, the application side") \
	V(S, COUNT, NS, steal_ns, recorded, "steal", "time that the hypervisor took from the CPUs") \
	V(S, NUMBER, SHARE, steal_share, recorded, "steal", "its share of all CPUs' time") \
	V(S, COUNT, NS, broke_off_ns, recorded, "broke off", "time of the kernel side's last event; null if it ended in order") \
	V(S, TEXT, NONE, kernel_tracer, recorded, "kernel events come from", "tracer that recorded the kernel events: " \
		"\"magnet-kernel-tracer\", or \"lttng-modules\"") \
	O(S, sides, sides, always, "the time that each side covers") \
	V(S, TEXT, NONE, cut_off, recorded, "cut off", "reason if the trace could not be read to its end")

#define MG_KNOWN_gap(S, K)
#define MG_FIGURES_gap(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, producer, always, "by", "part of magnet that lost them") \
	V(S, TEXT, NONE, reason, always, "reason", "\"lost\", \"paused\", \"not_kept\" (by a flight recorder), \"not_covered\" " \
		"(a side had not begun, or had ended), \"not_here\" (written, but missing from the files) or " \
		"\"layer_off\" (magnet ctl had switched a layer off)") \
	V(S, COUNT, NONE, cpu, recorded, "CPU", "CPU; null if it concerns more than one") \
	V(S, COUNT, EVENTS, count, recorded, "missing", "number of missing events; null if unknown, as for missing " \
		"packets and parts: see missing") \
	V(S, COUNT, NS, from_ns, always, "from", "start of the interval") \
	V(S, COUNT, NS, to_ns, always, "to", "end of the interval") \
	T(S, layers, always, "layers whose events are missing")

#define MG_KNOWN_missing(S, K)
#define MG_FIGURES_missing(S, V, O, L, W, T, P) \
	V(S, COUNT, EVENTS, app, always, "application events", "events of the application side that were written and are missing or " \
		"unreadable") \
	V(S, COUNT, EVENTS, kernel, always, "kernel events", "the same for the kernel side") \
	V(S, COUNT, PACKETS, packets, always, "packets of the trace", "packets that are missing from the trace's " \
		"files, by their numbers; their events are among the missing ones") \
	V(S, COUNT, NONE, parts, always, "parts", "parts of the recording that are missing between existing parts") \
	V(S, COUNT, NONE, traces_without_end, always, "traces without their end", "traces without the event that " \
		"states their number of events") \
	V(S, COUNT, EVENTS, unknown_events, always, "unknown", "events read of kinds that this version does not know") \
	V(S, TEXT, NONE, undescribed, recorded, "not described", "a directory that has streams but no metadata") \
	V(S, COUNT, EVENTS, too_many_events, always, "too many", "number of events read beyond those that were written") \
	V(S, FLAG, NONE, app_side, always, "no application side", "whether its trace is missing although the other " \
		"side's trace says that it was recorded") \
	V(S, FLAG, NONE, kernel_side, always, "no kernel side", "the same for the kernel side")

#define MG_KNOWN_time_coverage(S, K)
#define MG_FIGURES_time_coverage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, layer, always, "layer", "layer") \
	V(S, COUNT, NONE, cpu, always, "CPU", "CPU") \
	V(S, NUMBER, SHARE, coverage, always, "coverage", "share of the time without missing events of the layer on " \
		"the CPU")

#define MG_KNOWN_loss(S, K)
#define MG_FIGURES_loss(S, V, O, L, W, T, P) \
	V(S, COUNT, EVENTS, app, always, "lost", "events lost by the application side") \
	V(S, COUNT, EVENTS, kernel, always, "lost", "events lost by the kernel side") \
	L(S, gap, gaps, always, "intervals in which events are missing") \
	L(S, time_coverage, time_coverage, always, "layers and CPUs that lack events for some time") \
	O(S, missing, missing, always, "events that were written but are missing from the files, as far as known")

#define MG_KNOWN_unseen(S, K)
#define MG_FIGURES_unseen(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, comm, recorded, "program", "name of the program") \
	V(S, COUNT, NONE, processes, always, "processes", "processes") \
	V(S, COUNT, CALLS, calls, always, "calls", "system calls of these processes on sockets") \
	V(S, COUNT, CALLS, io_uring_enter, always, "io_uring_enter", "calls of io_uring_enter: operations submitted " \
		"by it are not recorded")

#define MG_KNOWN_marked_bytes(S, K)
#define MG_FIGURES_marked_bytes(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, flow, always, "flow", "flow") \
	V(S, COUNT, BYTES, offset, always, "offset", "offset of the first byte") \
	V(S, COUNT, BYTES, length, always, "length", "number of bytes")

#define MG_KNOWN_mark(S, K)
#define MG_FIGURES_mark(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "mark", "name of the mark") \
	V(S, COUNT, NONE, id, always, "id", "identifier among the marks of this name") \
	V(S, SIGNED, NONE, value, always, "value", "value given by the program") \
	V(S, COUNT, NONE, tid, always, "thread", "thread") \
	V(S, COUNT, NONE, pid, always, "process", "process") \
	V(S, NUMBER, NS, time_ns, recorded, "at", "time") \
	O(S, marked_bytes, received, recorded, "bytes of the thread's last receiving call before the mark") \
	O(S, marked_bytes, sent, recorded, "bytes of the thread's next sending call after the mark")

#define MG_KNOWN_dump(S, K)
#define MG_FIGURES_dump(S, V, O, L, W, T, P) \
	V(S, COUNT, NS, time_ns, always, "at", "when the trigger fired, or the dump was asked for (CLOCK_MONOTONIC)") \
	V(S, TEXT, NONE, why, always, "why", "\"latency\", \"retransmission\" or \"lost\": the trigger; \"signal\", \"asked\": by " \
		"whom; \"end\": the recording ended") \
	V(S, COUNT, NS, value_ns, recorded, "measured", "the time measured, of the trigger latency") \
	V(S, TEXT, NONE, flow, recorded, "flow", "the flow for which the trigger fired")

#define MG_KNOWN_stack(S, K) K(S, block, "a thread was off the CPU")
#define MG_FIGURES_stack(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, why, always, "where", "\"block\": a thread blocked; \"call\": a call on a socket began; \"drop\": a packet " \
		"was dropped; \"retransmit\": TCP sent again") \
	V(S, TEXT, NONE, program, recorded, "program", "name of the program; null where it is not known to have caused it") \
	V(S, TEXT, NONE, call, recorded, "call", "of a block: the system call") \
	V(S, COUNT, TIMES, n, always, "n", "how often these stacks were taken") \
	V(S, COUNT, NS, total_ns, block, "time off the CPU", "time off the CPU with these stacks") \
	V(S, COUNT, NS, max_ns, block, "longest", "the longest of them") \
	T(S, user, always, "functions of the program, the innermost first; \"[unknown callers]\" where no frame pointer leads on") \
	T(S, kernel, always, "functions of the kernel, likewise")

#define MG_KNOWN_other_event(S, K)
#define MG_FIGURES_other_event(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "event", "name of the tracepoint") \
	V(S, COUNT, EVENTS, n, always, "n", "number of occurrences")

#define MG_KNOWN_hook(S, K)
#define MG_FIGURES_hook(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, layer, always, "layer", "layer") \
	V(S, TEXT, NONE, hook, always, "hook", "event that it provides and how it is attached") \
	V(S, SIGNED, NONE, status, always, "status", "0 attached, or a negative errno") \
	V(S, COUNT, NONE, netns, recorded, "network namespace", "network namespace; null: all")

/* ---- the recording ---- */

#define MG_KNOWN_filter(S, K) \
	K(S, from, "--from was given") \
	K(S, to, "--to was given")
#define MG_FIGURES_filter(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, options, always, "filter", "the options as they were understood") \
	V(S, COUNT, NS, from_ns, from, "from", "start of the window of time, since the first event") \
	V(S, COUNT, NS, to_ns, to, "to", "its end, which is no longer in it") \
	V(S, COUNT, FLOWS, flows, always, "flows", "flows that it keeps") \
	V(S, COUNT, FLOWS, all_flows, always, "of", "flows without it") \
	V(S, COUNT, CALLS, calls, always, "calls", "calls that it keeps") \
	V(S, COUNT, CALLS, all_calls, always, "of", "calls without it")

#define MG_KNOWN_events(S, K)
#define MG_FIGURES_events(S, V, O, L, W, T, P) \
	V(S, COUNT, EVENTS, app, always, "application events", "events read of the application side") \
	V(S, COUNT, EVENTS, kernel, always, "kernel events", "events read of the kernel side")

#define MG_KNOWN_clock(S, K)
#define MG_FIGURES_clock(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, source, recorded, "source", "source of the relation between counter and time: " \
		"\"clock_sync\", \"session\" or \"events\"") \
	V(S, NUMBER, NS, max_error_ns, recorded, "clocks joined within", "bound of the error between both sides' times") \
	V(S, TEXT, NONE, no_max_error, recorded, "not joined", "reason if max_error_ns is null") \
	V(S, NUMBER, PPM, rate_error_ppm, recorded, "rate error", "bound of the error of the counter's rate") \
	V(S, NUMBER, NS, cpu_offset_ns, recorded, "CPUs within", "additional error of an interval that begins and " \
		"ends on different CPUs") \
	V(S, FLAG, NONE, ns_only, always, "nanoseconds only", "whether times are in nanoseconds only, since the " \
		"counter has no constant rate") \
	V(S, COUNT, TIMES, points, always, "readings", "readings of the counter used") \
	V(S, NUMBER, NS, longest_gap_ns, recorded, "longest gap", "longest time between two readings") \
	V(S, COUNT, TIMES, gaps, always, "gaps", "number of intervals between readings above 100 ms")

#define MG_KNOWN_losses(S, K) \
	K(S, retransmits, "retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, retransmitted_bytes, "retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, syn_retries, "retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, syn_ack_retries, "the recording has the hook for it; with lost events, only if it is not 0") \
	K(S, timeouts, "retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, listen_drops, "magnet's tracer recorded; with lost events, only if it is not 0") \
	K(S, resets_sent, "resets were recorded; with lost events, only if it is not 0") \
	K(S, resets_received, "resets were recorded; with lost events, only if it is not 0") \
	K(S, dropped, "drops were recorded; with lost events, only if it is not 0") \
	K(S, drops, "drops were recorded")
#define MG_FIGURES_losses(S, V, O, L, W, T, P) \
	V(S, COUNT, TIMES, connections, always, "connections", "TCP connections; a connection with both ends in the " \
		"recording counts once") \
	V(S, COUNT, TIMES, connections_hit, always, "hit", "connections with a loss or a reset") \
	V(S, COUNT, TIMES, sockets, always, "sockets of other protocols", "sockets of other protocols") \
	V(S, COUNT, TIMES, sockets_hit, always, "hit", "those of them with a loss") \
	V(S, COUNT, SEGMENTS, retransmits, retransmits, "sent again", "segments that TCP sent again, SYNs included") \
	V(S, COUNT, BYTES, retransmitted_bytes, retransmitted_bytes, "sent again", "bytes of these segments") \
	O(S, spread, resent_wait_ns, always, "time of bytes sent again, from the first copy to the last") \
	V(S, COUNT, SEGMENTS, syn_retries, syn_retries, "SYNs sent again", "SYNs among the retransmitted segments") \
	V(S, COUNT, SEGMENTS, syn_ack_retries, syn_ack_retries, "SYN-ACKs sent again", "answers to SYNs among the " \
		"retransmitted segments, also for connections that were not established") \
	V(S, COUNT, TIMES, timeouts, timeouts, "retransmission timeouts", "times a retransmission timer expired") \
	V(S, COUNT, PACKETS, listen_drops, listen_drops, "dropped by listening sockets", "packets for which a queue " \
		"of a listening socket had no room: SYNs, and segments that complete a handshake") \
	V(S, COUNT, TIMES, resets_sent, resets_sent, "resets sent", "resets that sockets sent") \
	V(S, COUNT, TIMES, resets_received, resets_received, "resets received", "resets that sockets received") \
	V(S, COUNT, PACKETS, dropped, dropped, "dropped", "packets that the kernel dropped") \
	L(S, drop_sum, drops, drops, "drops by direction, reason and function") \
	V(S, FLAG, NONE, at_least, always, ">=", "whether events of these are missing")

#define MG_KNOWN_tracer(S, K)
#define MG_FIGURES_tracer(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, app_cost_ns_per_call, recorded, "an application event", "time that an application event takes") \
	V(S, NUMBER, NS, kernel_cost_ns_per_event, recorded, "a kernel event", "time that a kernel event takes") \
	V(S, NUMBER, SHARE, cpu_share, recorded, "of one CPU", "share of one CPU that magnet used while it recorded") \
	V(S, NUMBER, NS, setup_cpu_ns, recorded, "to begin and to end", "CPU time that magnet used to begin and to " \
		"end recording")

#define MG_KNOWN_time_lost(S, K)
#define MG_FIGURES_time_lost(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, stack_ns, recorded, "in the stack", "waits of messages in the stack: the mean time of a flow's " \
		"bytes, once for each call that moved them, summed over the flows") \
	V(S, NUMBER, NS, calls_ns, recorded, "in system calls", "CPU time of the calls: the sum of their overhead") \
	V(S, NUMBER, NS, run_queue_ns, recorded, "waiting for a CPU", "sum of the waits for a CPU")

#define MG_KNOWN_connects(S, K)
#define MG_FIGURES_connects(S, V, O, L, W, T, P) \
	V(S, COUNT, TIMES, n, always, "connects", "attempts to open a TCP connection") \
	V(S, COUNT, TIMES, failed, always, "failed", "those that were refused, timed out, or were given up by the program") \
	V(S, COUNT, TIMES, open, always, "open", "those that had not ended when the recording did") \
	V(S, NUMBER, NS, total_ns, always, "in all", "sum of their times") \
	O(S, exchange_time, took_ns, always, "time of an attempt, until the connection was established or given up, or the recording ended")

#define MG_KNOWN_whole(S, K) \
	K(S, kernel, "the kernel side was recorded") \
	K(S, states, "magnet's own kernel side was recorded, with another layer than those of the scheduler")
#define MG_FIGURES_whole(S, V, O, L, W, T, P) \
	O(S, connects, connects, states, "attempts to open TCP connections; absent with --flow") \
	O(S, losses, losses, kernel, "losses of all flows, in the network and at the ends; absent with --flow") \
	L(S, exchange_group, exchanges, always, "requests and replies, by the server's port or address, the longest waits first, but a tracer's (method.md, Exchanges) last; absent with --flow") \
	L(S, slow_exchange, slowest, always, "the slowest of them (--slowest); absent with --flow") \
	O(S, time_lost, time_lost, always, "time lost, which is the order of the text's sections; absent with --flow") \
	L(S, slow_range, slowest_ranges, always, "the slowest byte ranges of flows without exchanges (--slowest); absent with --flow") \
	L(S, group, together, always, "groups of flows: where their bytes waited; one group for each program, " \
		"protocol, direction and side with at least two flows; absent with --flow")

#define MG_KNOWN_report_on_demand(S, K)
#define MG_FIGURES_report_on_demand(S, V, O, L, W, T, P) \
	V(S, ANY, NONE, on_demand, always, "on demand", "statistics of all flows that were requested with --on-demand")

#define MG_KNOWN_report(S, K) \
	K(S, whole, "all flows are reported") \
	K(S, demanded, "statistics were requested with --on-demand") \
	K(S, app, "the application side was recorded") \
	K(S, stacked, "stacks were recorded (--stacks)") \
	K(S, threads, "no filter selects sockets, as a wait belongs to a thread")
#define MG_FIGURES_report(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, schema, always, "schema", "version of the format of this object: it increases if a member " \
		"is renamed or changes its meaning, not if members are only added") \
	V(S, TEXT, NONE, magnet, always, "magnet", "version of magnet that wrote it") \
	O(S, session, session, always, "the recording: its command, its time, and the time that each side covers") \
	O(S, filter, filter, recorded, "the part of the recording to which calls, marks, flows, losses, exchanges and the scheduler " \
		"are limited, and null without a filter; other members are of the whole recording") \
	O(S, events, events, always, "events read") \
	O(S, loss, loss, always, "events that are missing, and when") \
	O(S, clock, clock, always, "relation of the cycle counter to time") \
	L(S, call, calls, always, "functions and kinds of sockets, the most frequent first") \
	L(S, unseen, unseen, app, "programs whose calls libmagnet.so did not record, or whose io_uring operations it " \
		"did not") \
	L(S, dump, dumps, always, "dumps of the flight recorder, the first 1,000") \
	L(S, mark, marks, always, "points that the program marked") \
	V(S, COUNT, TIMES, marks_left_out, always, "marks left out", "marks beyond the first 100,000") \
	V(S, COUNT, EVENTS, unjoined_calls, always, "calls not joined", "application events of calls whose system call was not recorded; " \
		"waits do not count") \
	V(S, COUNT, CALLS, state_sum_mismatches, always, "sums that do not close", "calls whose states do not sum to their total; 0 " \
		"unless something is wrong") \
	V(S, NUMBER, NONE, quantile_error, always, "error of quantiles", "bound of the relative error of a flow's quantiles: 1/1024, " \
		"or more where thousands of busy flows share memory") \
	L(S, flow, flows, always, "flows, the largest first; if there are more than 1,000, most are abbreviated, see " \
		"magnet-report(1)") \
	P(S, whole, whole) \
	P(S, report_on_demand, demanded) \
	O(S, scheduler, scheduler, threads, "waits for a CPU, and switches") \
	O(S, tracer, tracer, always, "tracing overhead, measured in this recording") \
	L(S, stack, stacks, stacked, "stacks, by where they were taken, those with the most time off the CPU, or the most frequent, " \
		"first; the first 1,000") \
	L(S, other_event, other_events, always, "events chosen with --event of magnet-record(1)") \
	L(S, hook, hooks, always, "hooks of the kernel side") \
	T(S, kinds_not_observed, always, "kinds of sockets that pass none of the recorded layers")

/* ---- the calls of one flow, with --flow ---- */

#define MG_KNOWN_call_on_flow(S, K)
#define MG_FIGURES_call_on_flow(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "call", "function, or system call if it is kernel-only") \
	V(S, FLAG, NONE, kernel_only, always, "kernel-only", "whether it bypassed libmagnet.so") \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, COUNT, CALLS, failed, always, "failed", "calls that returned an error") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes moved, without those that were only looked at (MSG_PEEK, MSG_ERRQUEUE)") \
	O(S, call_time, total_ns, always, "time from before the call to after it")
/* clang-format on */

#endif
