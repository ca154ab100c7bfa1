/* SPDX-License-Identifier: MIT */
/*
 * The figures that are reported: one row a figure, in the order in which the JSON report has them.
 * A scope is what they are figures of: a call, a flow, a stage. The JSON report, its schema, the
 * page magnet-figures(5) and the values that the text prints come from this table.
 *
 * Rows, of the scope S; `name` is the key in JSON, `label` what people read:
 *
 *   V(S, TYPE, UNIT, name, known, label, doc)
 *       a value, which get_S_name() returns
 *   O(S, CHILD, name, known, doc)
 *       an object; into_S_name() fills in the figures of CHILD
 *   L(S, CHILD, name, known, doc)
 *       a list of objects; next_S_name() fills in one after the other
 *   W(S, words, UNIT, name, known, doc)
 *       an object with a number for each word; get_S_name() takes the word's index
 *   T(S, name, known, doc)
 *       a list of texts; next_S_name() returns one after the other
 *   P(S, CHILD, there)
 *       the figures of CHILD, if `there`, as if they were rows of S; part_S_CHILD() fills them in
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
	K(S, bounded, "the recording has a calibration, and some of these calls are complete")
#define MG_FIGURES_overhead(S, V, O, L, W, T, P) \
	P(S, spread, always) \
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
	K(S, told, "90 % of the calls are complete, it is a call of the program, and the scheduler was recorded") \
	K(S, blocking, "90 % of the calls are complete, and the scheduler was recorded") \
	K(S, calibrated, "the overhead is known, and the recording has a calibration") \
	K(S, waked, "the overhead is known, the recording has a calibration, and a call blocked")
#define MG_FIGURES_call(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "call", "function, or system call if it is kernel-only") \
	V(S, TEXT, NONE, flow_kind, always, "kind", "kind of socket") \
	V(S, FLAG, NONE, kernel_only, always, "kernel-only", "whether it bypassed libmagnet.so") \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, COUNT, CALLS, failed, always, "failed", "calls that returned an error") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes returned") \
	V(S, COUNT, CALLS, joined, always, "joined", "calls with both an application event and a system call") \
	V(S, COUNT, CALLS, complete, always, "complete", "joined calls without a missing event; the figures below, " \
		"except total_ns, are of these calls alone") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of complete calls in all calls") \
	V(S, TEXT, NONE, standing, recorded, "standing", "\"whole\"; \"starred\" if the coverage is below 99 %; " \
		"\"withheld\" below 90 %: then the figures that need complete calls are null") \
	V(S, COUNT, CALLS, blocked_n, blocking, "blocked", "calls that blocked") \
	O(S, spread, total_ns, always, "time from before the call to after it, of all calls; its values are null if " \
		"less than 90 % of the calls were recorded") \
	O(S, overhead, overhead_ns, always, "time the thread itself spent on the CPU for the call, for calls that did " \
		"not block") \
	O(S, overhead, overhead_blocking_ns, always, "the same for calls that blocked") \
	W(S, MG_STATES, NS, states_ns, told, "mean time of a call in each state; these sum to the mean total of these " \
		"calls. lock and release need function hooks, and are null without them") \
	V(S, NUMBER, NS, locked_out_ns, told, "blocked for a socket that another thread had locked", "part of " \
		"blocked: mean time the thread waited for a socket that another thread had locked") \
	V(S, NUMBER, NS, probes_ns, calibrated, "kernel events", "mean cost of the kernel side's events in a call, " \
		"which was taken off the overhead") \
	O(S, interposition, interposition_ns, always, "time that libmagnet.so adds to a call") \
	V(S, NUMBER, NS, waker_probes_ns, waked, "events of those who woke", "upper bound of the time by which events " \
		"in the wakers may have lengthened a blocked call")

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
	V(S, NUMBER, NS, decide_mean_ns, samples, "to decide", "mean time until the next thread was chosen") \
	V(S, NUMBER, NS, reload_mean_ns, samples, "to reload", "mean time from that to the return in the next thread") \
	V(S, COUNT, SWITCHES, measured, always, "measured", "switches with a known duration and without an interrupt") \
	V(S, COUNT, SWITCHES, interrupted, always, "interrupted", "switches in which an interrupt was taken, which " \
		"are not measured")

#define MG_KNOWN_scheduler(S, K) \
	K(S, told, "the scheduler was recorded without lost events for at least 90 % of the time") \
	K(S, migrations, "the scheduler was recorded; with lost events, only if it is not 0") \
	K(S, watched, "the scheduler was recorded")
#define MG_FIGURES_scheduler(S, V, O, L, W, T, P) \
	L(S, switch, switches, always, "switches, by CPU and kind") \
	V(S, TEXT, NONE, no_durations, recorded, "how long a switch takes", "reason if durations of switches are null") \
	O(S, waits, wakeup_ns, always, "time from the moment a thread that blocked is made runnable to the moment it runs") \
	O(S, waits, queueing_ns, always, "part of the wakeup until the thread is on a run queue; needs the layer switch") \
	O(S, waits, run_queue_ns, always, "waits for a CPU: the wakeups, and the waits of preempted threads") \
	V(S, NUMBER, NS, run_queue_total_ns, told, "in all", "sum of the waits for a CPU") \
	V(S, COUNT, THREADS, migrations, migrations, "migrations", "times a thread moved to another CPU") \
	V(S, NUMBER, SHARE, coverage, watched, "coverage", "share of the time without lost events") \
	V(S, TEXT, NONE, standing, watched, "standing", "like that of calls") \
	V(S, FLAG, NONE, at_least, always, ">=", "whether counts may be higher")

/* ---- a flow: where its bytes waited ---- */

#define MG_KNOWN_stage(S, K) \
	K(S, told, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration")
#define MG_FIGURES_stage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, stage, always, "stage", "name of the stage") \
	V(S, COUNT, RANGES, n, always, "ranges", "byte ranges, each with one timestamp for each layer") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes in these ranges") \
	V(S, NUMBER, NS, mean_ns, told, "mean", "mean time of a byte in the stage") \
	V(S, NUMBER, NS, p50_ns, told, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, told, "p99", "99th percentile of it; null without ten samples beyond it") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "mean without tracing overhead") \
	V(S, NUMBER, NS, compensated_p50_ns, compensated, "p50", "median without tracing overhead") \
	V(S, NUMBER, NS, compensated_p99_ns, compensated, "p99", "99th percentile without tracing overhead; null " \
		"without ten samples beyond it")

#define MG_KNOWN_why(S, K) \
	K(S, told, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration")
#define MG_FIGURES_why(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, reason, always, "reason", "the last reason that held the bytes") \
	V(S, TEXT, NONE, released_by, always, "until", "event that released them") \
	V(S, COUNT, RANGES, n, always, "ranges", "byte ranges, each with one timestamp for each layer") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes in these ranges") \
	V(S, NUMBER, SHARE, share, always, "of bytes", "share of these bytes in all bytes") \
	V(S, NUMBER, SHARE, wait_share, told, "share", "share of the send buffer's stage") \
	V(S, NUMBER, NS, mean_ns, told, "mean", "mean wait of these bytes") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "mean wait without tracing overhead")

#define MG_KNOWN_held(S, K) \
	K(S, told, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration")
#define MG_FIGURES_held(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, reason, always, "reason", "reason that held the bytes") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes that waited for this reason at all") \
	V(S, NUMBER, SHARE, share, always, "of bytes", "share of these bytes in all bytes") \
	V(S, NUMBER, SHARE, wait_share, told, "share", "share of the send buffer's stage") \
	V(S, NUMBER, NS, mean_ns, told, "mean", "mean over all bytes; these means sum to the stage's mean") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "the same mean without tracing overhead") \
	V(S, NUMBER, NS, held_ns, always, "held", "time in which this reason held the queue")

#define MG_KNOWN_last_byte(S, K)
#define MG_FIGURES_last_byte(S, V, O, L, W, T, P) \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, NUMBER, NS, mean_ns, samples, "mean", "mean time until the last byte of a call had passed") \
	V(S, NUMBER, NS, p50_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, samples, "p99", "99th percentile of it")

#define MG_KNOWN_waterfall_stage(S, K)
#define MG_FIGURES_waterfall_stage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, stage, always, "stage", "name of the stage") \
	V(S, NUMBER, NS, mean_ns, recorded, "mean", "mean time of these bytes in the stage")

#define MG_KNOWN_waterfall(S, K)
#define MG_FIGURES_waterfall(S, V, O, L, W, T, P) \
	V(S, NUMBER, NONE, quantile, always, "about", "quantile of the total near which the totals of these bytes lie") \
	V(S, NUMBER, RANGES, n, always, "samples", "samples, some of which count partially") \
	V(S, NUMBER, NS, total_ns, recorded, "total", "mean total") \
	L(S, waterfall_stage, stages, always, "mean stages of these bytes, which sum to the total")

#define MG_KNOWN_residence(S, K) \
	K(S, followable, "some of its bytes can be followed") \
	K(S, total, "90 % of the bytes have every timestamp") \
	K(S, probes, "the waterfall is shown, and the recording has a calibration") \
	K(S, uncertain, "90 % of the bytes have every timestamp, and the recording has a calibration") \
	K(S, why, "it is a sent flow, TCP's hand-over to IP was recorded, and 90 % of the bytes have every timestamp") \
	K(S, driver, "it is a sent flow, and the driver's completions were recorded") \
	K(S, any, "a byte has every timestamp")
#define MG_FIGURES_residence(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, standing, followable, "standing", "\"whole\"; \"starred\" if less than 99 % of the bytes have every " \
		"timestamp; \"withheld\" if the waterfall is not shown: then its figures are null") \
	V(S, TEXT, NONE, withheld, recorded, "not available", "reason why it is withheld: \"coverage\" below 90 %; " \
		"\"copies\" if every byte passed more than once, or waited for one that did; \"uncertainty\" if the " \
		"uncertainty of the stages is too large") \
	L(S, stage, residence, always, "time of the bytes in each stage") \
	V(S, NUMBER, NS, residence_total_ns, total, "total", "mean time of a byte in all stages") \
	V(S, NUMBER, NS, residence_total_p50_ns, total, "p50", "median of it") \
	V(S, NUMBER, NS, residence_total_p99_ns, total, "p99", "99th percentile of it") \
	V(S, NUMBER, NS, residence_uncertainty_ns, uncertain, "(+-)", "uncertainty of the total without tracing " \
		"overhead, two standard deviations") \
	V(S, NUMBER, NS, probes_ns, probes, "magnet's own events", "tracing overhead in the total, on average: with " \
		"compensated_mean_ns of all stages it sums to the total") \
	O(S, last_byte, residence_last_byte, recorded, "total of the last byte of each call") \
	L(S, why, send_buffer_why, why, "why bytes waited in the send buffer: the whole wait of a byte counts for the " \
		"last reason that held it") \
	L(S, held, send_buffer_held, why, "the same waits, divided in time at each change of the reason") \
	L(S, waterfall, waterfalls, always, "mean stages of the bytes whose total is near a quantile; for quantiles " \
		"with at least ten samples beyond them") \
	V(S, COUNT, TIMES, driver_refused, driver, "refused by the driver", "times a driver refused a frame that it " \
		"was asked to transmit") \
	V(S, COUNT, CYCLES, closure_error_cycles, any, "closes to", "sum of the totals less the sum of the stages; 0 " \
		"unless something is wrong")

/* ---- a flow: bytes that cannot be followed as usual ---- */

#define MG_KNOWN_lineage_sent(S, K) \
	K(S, synacks, "the recording has the hook for it") \
	K(S, retransmits, "retransmissions were recorded") \
	K(S, resends, "the layer ip was recorded in its network namespace, without lost events") \
	K(S, unsent, "the end of the flow was recorded") \
	K(S, claimed, "system calls were recorded")
#define MG_FIGURES_lineage_sent(S, V, O, L, W, T, P) \
	V(S, COUNT, SEGMENTS, syn_ack_retries, synacks, "SYN-ACKs sent again", "answers to the peer's SYN that were sent again " \
		"before this connection had a socket") \
	V(S, COUNT, BYTES, retransmitted_bytes, retransmits, "sent again", "bytes that TCP sent again") \
	V(S, COUNT, BYTES, resent_bytes, resends, "sent again after a drop on this machine", "bytes sent again after " \
		"a drop on this machine, which TCP does not count as retransmitted") \
	O(S, spread, resent_wait_ns, always, "for bytes handed to IP more than once, the time from the first copy to " \
		"the last, by bytes; it is in no stage") \
	V(S, COUNT, BYTES, unsent_bytes, unsent, "in the send buffer or a queue at the end", "bytes that were written " \
		"and still lay in the send buffer or a queue of this machine at the end") \
	V(S, COUNT, CALLS, refused_calls, claimed, "calls refused because the send buffer was full", "calls that " \
		"accepted no byte because the send buffer was full (EAGAIN)") \
	O(S, spread, retry_gap_ns, always, "time from the return of the first refused call until bytes were copied again")

#define MG_KNOWN_lineage_received(S, K) \
	K(S, whole, "no event is missing during its life") \
	K(S, peer, "its peer is in the recording")
#define MG_FIGURES_lineage_received(S, V, O, L, W, T, P) \
	V(S, COUNT, BYTES, opening_bytes, whole, "arrived with the connection's opening", "bytes that arrived with " \
		"the connection's opening, such as those of TCP Fast Open: they are incomplete") \
	V(S, COUNT, BYTES, undivided_bytes, always, "unknown wait for earlier bytes", "bytes with an unknown wait for " \
		"earlier bytes: they are complete, but in no stage") \
	V(S, COUNT, BYTES, transit_ambiguous_bytes, peer, "sent more than once", "bytes left out of transit_ns " \
		"because they were sent more than once before they arrived") \
	V(S, COUNT, BYTES, urgent_unread_bytes, always, "urgent bytes not read", "urgent bytes that no call read")

#define MG_KNOWN_lineage_tcp(S, K) \
	K(S, claimed, "system calls were recorded") \
	K(S, sent, "it is a sent flow") \
	K(S, received, "it is a received flow")
#define MG_FIGURES_lineage_tcp(S, V, O, L, W, T, P) \
	V(S, COUNT, BYTES, ambiguous_bytes, claimed, "passed more than once", "bytes that passed a layer again before " \
		"they had passed all layers, so that their timestamps may be of two copies: they are complete, but in " \
		"no stage") \
	O(S, spread, ambiguous_wait_ns, always, "time of the ambiguous bytes from their first timestamp to their last") \
	P(S, lineage_sent, sent) \
	P(S, lineage_received, received)

#define MG_KNOWN_lineage(S, K) \
	K(S, tcp, "it is a TCP flow")
#define MG_FIGURES_lineage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, unmapped, recorded, "unmapped", "reason why TCP's bytes are not the program's, so that they " \
		"are not followed: \"ktls\" (records of TLS in the kernel), \"mptcp\" (a subflow of MPTCP) or \"ulp\" " \
		"(another protocol of the kernel); null if they are the program's") \
	P(S, lineage_tcp, tcp)

#define MG_KNOWN_hold(S, K)
#define MG_FIGURES_hold(S, V, O, L, W, T, P) \
	P(S, spread, always) \
	V(S, COUNT, CALLS, n, always, "sends", "sends with a known time") \
	V(S, NUMBER, NS, max, samples, "max", "longest time")

#define MG_KNOWN_zerocopy(S, K) \
	K(S, sends, "sends were recorded, and if there are none, no event of them is missing") \
	K(S, ends, "there are such sends, and the kernel's notifications were recorded") \
	K(S, all_ends, "there are such sends, and no notification is missing")
#define MG_FIGURES_zerocopy(S, V, O, L, W, T, P) \
	V(S, COUNT, CALLS, zerocopy_sends, sends, "sent with MSG_ZEROCOPY", "sends with MSG_ZEROCOPY") \
	O(S, hold, zerocopy_hold_ns, recorded, "time after the call for which the kernel held their pages") \
	V(S, COUNT, CALLS, zerocopy_copied, ends, "copied nevertheless", "sends that the kernel had copied nevertheless") \
	V(S, COUNT, CALLS, zerocopy_pending, all_ends, "held until the end", "sends whose pages were held until the " \
		"end of the recording") \
	V(S, COUNT, CALLS, zerocopy_unsure, ends, "not certain", "sends whose identity or end is uncertain") \
	V(S, FLAG, NONE, zerocopy_at_least, always, ">=", "whether events of these are missing")

/* ---- a flow: protocol state ---- */

#define MG_KNOWN_extent(S, K)
#define MG_FIGURES_extent(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, min, always, "min", "smallest") \
	V(S, NUMBER, NONE, mean, always, "mean", "mean over the recorded samples, not over time") \
	V(S, COUNT, NONE, max, always, "max", "largest")

#define MG_KNOWN_troubles_sent(S, K) \
	K(S, congestion, "changes of the congestion state were recorded; with lost events, only if it is not 0") \
	K(S, recoveries, "changes of the congestion state were recorded; with lost events, only if it is not 0") \
	K(S, timeouts, "retransmissions were recorded; with lost events, only if it is not 0")
#define MG_FIGURES_troubles_sent(S, V, O, L, W, T, P) \
	V(S, COUNT, TIMES, congestion_changes, congestion, "congestion state changed", "times the congestion state changed") \
	V(S, COUNT, TIMES, recoveries, recoveries, "recoveries from loss", "times loss recovery began") \
	V(S, COUNT, TIMES, timeouts, timeouts, "timeouts", "times the retransmission timer expired")

#define MG_KNOWN_troubles(S, K) \
	K(S, windows, "windows were recorded; with lost events, only if it is not 0") \
	K(S, resets_sent, "resets were recorded; with lost events, only if it is not 0") \
	K(S, resets_received, "resets were recorded; with lost events, only if it is not 0") \
	K(S, sent, "it is a sent flow")
#define MG_FIGURES_troubles(S, V, O, L, W, T, P) \
	V(S, FLAG, NONE, at_least, always, ">=", "whether events of these are missing, so that counts and maxima may " \
		"be higher") \
	V(S, COUNT, TIMES, zero_windows, windows, "window zero", "times the window that limits the flow became zero: " \
		"for a sent flow the peer's, for a received flow the own") \
	V(S, NUMBER, NS, zero_window_ns, windows, "in all", "total time for which it was zero") \
	V(S, COUNT, TIMES, resets_sent, resets_sent, "resets sent", "resets that were sent") \
	V(S, COUNT, TIMES, resets_received, resets_received, "resets received", "resets that were received") \
	V(S, TEXT, NONE, reset_reason, recorded, "reason", "reason of a reset that was sent, if the kernel reports it") \
	P(S, troubles_sent, sent)

#define MG_KNOWN_tcp_sent(S, K) \
	K(S, ssthresh, "there was a threshold, and it was recorded (level light)") \
	K(S, delivered, "it was recorded (level full)") \
	K(S, lost, "it was recorded (level full)") \
	K(S, busy, "it was recorded (level full)") \
	K(S, rwnd, "it was recorded (level full)") \
	K(S, sndbuf, "it was recorded (level full)")
#define MG_FIGURES_tcp_sent(S, V, O, L, W, T, P) \
	O(S, extent, cwnd, recorded, "congestion window, segments (level light)") \
	V(S, COUNT, SEGMENTS, ssthresh, ssthresh, "ssthresh", "last slow-start threshold") \
	O(S, extent, pacing_rate, recorded, "pacing rate, bytes a second (level full)") \
	O(S, extent, notsent, recorded, "bytes written and not sent yet (level full)") \
	V(S, COUNT, SEGMENTS, delivered, delivered, "segments delivered to the peer", "segments delivered to the peer") \
	V(S, SIGNED, SEGMENTS, lost, lost, "presumed lost", "segments presumed lost") \
	V(S, COUNT, US, busy_us, busy, "sending", "time with data to send") \
	V(S, COUNT, US, rwnd_limited_us, rwnd, "limited by the peer's window", "part of that time in which the peer's " \
		"window limited sending") \
	V(S, COUNT, US, sndbuf_limited_us, sndbuf, "limited by the own send buffer", "part of that time in which the " \
		"size of the send buffer limited sending")

#define MG_KNOWN_tcp(S, K) \
	K(S, sent, "it is a sent flow")
#define MG_FIGURES_tcp(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, algorithm, recorded, "congestion control", "last congestion control in use (level light)") \
	O(S, extent, srtt_us, recorded, "smoothed round-trip time (level light)") \
	O(S, extent, rto_us, recorded, "retransmission timeout (level light)") \
	O(S, extent, window, recorded, "window that limits the flow, bytes: for a sent flow the peer's, for a " \
		"received flow the own (level light)") \
	P(S, troubles, always) \
	P(S, tcp_sent, sent)

/* ---- a flow ---- */

#define MG_KNOWN_layer(S, K) \
	K(S, frames, "frames were recorded there")
#define MG_FIGURES_layer(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "layer", "name of the layer") \
	V(S, COUNT, PACKETS, n, always, "packets", "packets that brought new bytes") \
	V(S, COUNT, PACKETS, repeated_n, always, "seen before", "packets without new bytes") \
	V(S, COUNT, PACKETS, frames, frames, "frames", "segments, datagrams or fragments that all packets stand for") \
	V(S, COUNT, PACKETS, repeated_frames, frames, "repeated frames", "those of them that belong to packets " \
		"without new bytes") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "new bytes") \
	V(S, NUMBER, BYTES, mean_size, always, "mean size", "mean size of a packet") \
	V(S, NUMBER, NONE, cov_size, always, "cov", "coefficient of variation of sizes") \
	V(S, NUMBER, NS, mean_spacing_ns, samples, "mean spacing", "mean time between packets") \
	V(S, NUMBER, NS, p50_spacing_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NONE, cov_spacing, samples, "cov", "coefficient of variation of spacings") \
	V(S, COUNT, BYTES, repeated_bytes, always, "repeated bytes", "bytes that had passed the layer before") \
	V(S, COUNT, BYTES, wire_bytes, recorded, "bytes on the wire", "bytes of the frames with headers")

#define MG_KNOWN_modulation(S, K) \
	K(S, compared, "90 % of the bytes have every timestamp, and both ends of the comparison were recorded")
#define MG_FIGURES_modulation(F, V, O, L, W, T, P) \
	V(F, TEXT, NONE, from, always, "from", "first layer of the comparison: the call, or the peer's call") \
	V(F, TEXT, NONE, to, always, "to", "second layer of the comparison: the device, or the call") \
	V(F, NUMBER, NS, J_ns, compared, "J", "mean absolute deviation of the bytes' delays between both from their median") \
	V(F, NUMBER, NS, tau_ns, compared, "tau", "mean gap between the sender's calls") \
	V(F, NUMBER, SHARE, M, compared, "M", "modulation: J divided by tau") \
	V(F, NUMBER, NONE, S, compared, "S", "split: packets at the second layer divided by packets at the first") \
	V(F, NUMBER, SHARE, blocked_share, compared, "sender blocked", "share of the time in which the sending threads were blocked") \
	V(F, NUMBER, NS, w1_spacing_ns, compared, "W1 of their spacings", "Wasserstein-1 distance between the spacings at both layers") \
	V(F, COUNT, BYTES, bytes, compared, "bytes", "bytes compared") \
	V(F, NUMBER, SHARE, goodput_ratio, recorded, "goodput", "bytes delivered divided by the bytes of frames at " \
		"the sender's device; null if the sender is not in the recording, and for datagrams also if the " \
		"receiver is not")

#define MG_KNOWN_drop(S, K)
#define MG_FIGURES_drop(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, reason, always, "reason", "the kernel's reason") \
	V(S, TEXT, NONE, location, always, "in", "the kernel's function") \
	V(S, TEXT, NONE, layer, recorded, "at", "layer; null if reason and function do not identify it") \
	V(S, COUNT, PACKETS, n, always, "buffers", "buffers") \
	V(S, COUNT, SEGMENTS, segments, always, "dropped", "segments or datagrams that the buffers stand for") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "their payload")

#define MG_KNOWN_flow(S, K) \
	K(S, claimed, "system calls were recorded") \
	K(S, sent_claimed, "it is a sent flow, and system calls were recorded") \
	K(S, sent, "it is a sent flow") \
	K(S, retransmits, "it is a sent flow, and retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, drops, "drops were recorded") \
	K(S, messages, "it is not a TCP flow") \
	K(S, messages_received, "it is a received flow, but not a TCP flow") \
	K(S, tcp, "it is a TCP flow, and the kernel side was recorded") \
	K(S, demanded, "statistics were requested with --on-demand")
#define MG_FIGURES_flow(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, id, always, "flow", "name, such as 4097/tx") \
	V(S, TEXT, NONE, proto, always, "kind", "kind of socket") \
	V(S, TEXT, NONE, local, recorded, "local", "own address and port, or name; null if anonymized") \
	V(S, TEXT, NONE, remote, recorded, "peer", "the peer's address and port; null if anonymized") \
	V(S, FLAG, NONE, several_remotes, recorded, "several peers", "for a socket that is not connected: whether its " \
		"datagrams went to, or came from, more than one peer, the first of which is remote; null for other " \
		"sockets") \
	V(S, COUNT, NONE, netns, recorded, "network namespace", "inode number of the network namespace") \
	V(S, TEXT, NONE, direction, always, "direction", "\"tx\" or \"rx\"") \
	V(S, COUNT, NONE, pid, recorded, "process", "last process that used the socket") \
	V(S, TEXT, NONE, comm, recorded, "program", "name of the program that the process executed, not a name set " \
		"later for it or its threads (PR_SET_NAME)") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "length of the stream; if events of its end were lost, the length " \
		"that other events show") \
	V(S, COUNT, BYTES, first_offset, always, "first offset", "offset of its first byte") \
	V(S, TEXT, NONE, offsets, always, "offsets", "origin of the offsets: \"from_connection\", or " \
		"\"from_recording\" if the opening was not recorded and could not be inferred") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of the bytes that have every timestamp") \
	V(S, COUNT, BYTES, complete_bytes, claimed, "complete", "bytes that have every timestamp") \
	V(S, COUNT, BYTES, incomplete_bytes, claimed, "incomplete", "bytes that lack a timestamp") \
	V(S, COUNT, BYTES, kernel_only_bytes, claimed, "kernel-only", "bytes moved by calls without an application event") \
	V(S, COUNT, CALLS, tx_call_n, sent_claimed, "calls", "calls that sent bytes") \
	V(S, COUNT, CALLS, call_n, claimed, "calls", "calls that moved bytes") \
	V(S, COUNT, SEGMENTS, retransmits, retransmits, "retransmits", "segments that TCP sent again") \
	P(S, lineage, always) \
	P(S, zerocopy, sent) \
	V(S, COUNT, TIMES, gaps, always, "gaps", "intervals during the flow's life in which events are missing") \
	L(S, drop, drops, drops, "packets of it that the kernel dropped") \
	V(S, COUNT, BYTES, dropped_bytes, messages, "dropped", "bytes of a sent flow that were dropped before they left") \
	V(S, COUNT, PACKETS, unmatched, messages_received, "not certain", "received messages that could not be " \
		"identified") \
	T(S, touched, always, "layers that lack events during the flow's life: figures of the other layers are whole") \
	V(S, TEXT, NONE, peer, recorded, "other end", "flow at the other end, if it is in the recording; for " \
		"datagrams if it is the only one") \
	L(S, layer, layers, always, "packets and bytes that passed each layer; names for a sent flow: call, copy, " \
		"tcp, ip, queue, device, driver; for a received flow: device, ip, tcp, in_order, copy, call") \
	P(S, residence, always) \
	O(S, spread, transit_ns, always, "for a received flow whose peer is in the recording: time from the peer's " \
		"driver to the first layer here") \
	O(S, modulation, modulation, always, "modulation of its traffic by the stack") \
	O(S, tcp, tcp, tcp, "state of its connection") \
	P(S, flow_on_demand, demanded)

#define MG_KNOWN_flow_on_demand(S, K)
#define MG_FIGURES_flow_on_demand(S, V, O, L, W, T, P) \
	V(S, ANY, NONE, on_demand, always, "on demand", "the statistics asked for")

/* ---- flows together ---- */

#define MG_KNOWN_drop_sum(S, K)
#define MG_FIGURES_drop_sum(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, direction, always, "direction", "\"tx\" or \"rx\"") \
	V(S, TEXT, NONE, reason, always, "reason", "the kernel's reason") \
	V(S, TEXT, NONE, location, always, "in", "the kernel's function") \
	V(S, TEXT, NONE, layer, recorded, "at", "layer; null if reason and function do not identify it") \
	V(S, COUNT, PACKETS, n, always, "buffers", "buffers") \
	V(S, COUNT, SEGMENTS, segments, always, "dropped", "segments or datagrams that the buffers stand for") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "their payload") \
	V(S, COUNT, SEGMENTS, discarded, always, "discarded", "segments without payload that TCP itself threw away: no loss")

#define MG_KNOWN_group(S, K) \
	K(S, retransmits, "they are sent flows, and retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, drops, "drops were recorded") \
	K(S, tcp, "they are TCP's, and the kernel side was recorded")
#define MG_FIGURES_group(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, comm, recorded, "program", "name of the program") \
	V(S, TEXT, NONE, proto, always, "kind", "kind of socket") \
	V(S, TEXT, NONE, direction, always, "direction", "\"tx\" or \"rx\"") \
	V(S, COUNT, FLOWS, flows, always, "flows", "number of flows") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes of these flows") \
	V(S, NUMBER, SHARE, coverage, recorded, "coverage", "share of the bytes that have every timestamp") \
	V(S, COUNT, BYTES, complete_bytes, always, "complete", "bytes that have every timestamp") \
	V(S, COUNT, BYTES, incomplete_bytes, always, "incomplete", "bytes that lack a timestamp") \
	V(S, TEXT, NONE, side, recorded, "side", "\"client\" or \"server\"") \
	V(S, COUNT, NONE, server_port, recorded, "port", "the server's port") \
	P(S, residence, always) \
	O(S, spread, transit_ns, always, "for received flows whose peers are in the recording: time from the peers' " \
		"drivers to the first layer here") \
	V(S, COUNT, SEGMENTS, retransmits, retransmits, "retransmits", "segments that TCP sent again") \
	P(S, lineage, always) \
	L(S, drop_sum, drops, drops, "packets of them that the kernel dropped") \
	O(S, troubles, tcp, tcp, "those figures of their connections' state that can be summed")

/* ---- what was recorded ---- */

#define MG_KNOWN_side(S, K)
#define MG_FIGURES_side(S, V, O, L, W, T, P) \
	V(S, COUNT, NS, from_ns, recorded, "from", "its begin; null if it began with the recording") \
	V(S, COUNT, NS, until_ns, always, "until", "its end, or its last event") \
	V(S, FLAG, NONE, ended_in_order, always, "ended in order", "whether its end is in the trace") \
	V(S, FLAG, NONE, complete, always, "complete", "whether it covers the recording from begin to end") \
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
		"(a side had not begun, or had ended) or \"not_here\" (written, but missing from the files)") \
	V(S, COUNT, NONE, cpu, recorded, "CPU", "CPU; null if it concerns more than one") \
	V(S, COUNT, EVENTS, count, recorded, "missing", "number of missing events; null if unknown, as for missing " \
		"packets and parts: see missing") \
	V(S, COUNT, NS, from_ns, always, "from", "begin of the interval") \
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

#define MG_KNOWN_whole(S, K) \
	K(S, kernel, "the kernel side was recorded")
#define MG_FIGURES_whole(S, V, O, L, W, T, P) \
	O(S, losses, losses, kernel, "losses of all flows, in the network and at the ends; absent with --flow") \
	L(S, group, together, always, "groups of flows: where their bytes waited; one group for each program, " \
		"protocol, direction and side with at least two flows; absent with --flow")

#define MG_KNOWN_report_on_demand(S, K)
#define MG_FIGURES_report_on_demand(S, V, O, L, W, T, P) \
	V(S, ANY, NONE, on_demand, always, "on demand", "statistics of all flows that were requested with --on-demand")

#define MG_KNOWN_report(S, K) \
	K(S, whole, "all flows are reported") \
	K(S, demanded, "statistics were requested with --on-demand") \
	K(S, app, "the application side was recorded")
#define MG_FIGURES_report(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, schema, always, "schema", "version of the format of this object: it increases if a member " \
		"is renamed or changes its meaning, not if members are only added") \
	V(S, TEXT, NONE, magnet, always, "magnet", "version of magnet that wrote it") \
	O(S, session, session, always, "the recording: its command, its time, and the time that each side covers") \
	O(S, events, events, always, "events read") \
	O(S, loss, loss, always, "events that are missing, and when") \
	O(S, clock, clock, always, "relation of the cycle counter to time") \
	L(S, call, calls, always, "functions and kinds of sockets, the most frequent first") \
	L(S, unseen, unseen, app, "programs whose calls libmagnet.so did not record, or whose io_uring operations it " \
		"did not") \
	L(S, mark, marks, always, "points that the program marked") \
	V(S, COUNT, TIMES, marks_left_out, always, "marks left out", "marks beyond the first 100,000") \
	V(S, COUNT, EVENTS, unjoined_calls, always, "calls not joined", "application events of TCP and UDP sockets whose system call " \
		"was not recorded") \
	V(S, COUNT, CALLS, state_sum_mismatches, always, "sums that do not close", "calls whose states do not sum to their total; 0 " \
		"unless something is wrong") \
	V(S, NUMBER, NONE, quantile_error, always, "error of quantiles", "bound of the relative error of a flow's quantiles: 1/1024, " \
		"or more where thousands of busy flows share memory") \
	L(S, flow, flows, always, "flows, the largest first; if there are more than 1,000, most are abbreviated, see " \
		"magnet-report(1)") \
	P(S, whole, whole) \
	P(S, report_on_demand, demanded) \
	O(S, scheduler, scheduler, always, "waits for a CPU, and switches") \
	O(S, tracer, tracer, always, "tracing overhead, measured in this recording") \
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
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes returned") \
	O(S, spread, total_ns, always, "time from before the call to after it")

/* ---- comparison ---- */

#define MG_KNOWN_subject(S, K)
#define MG_FIGURES_subject(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, subject, always, "subject", "\"call\", \"flow\" or \"scheduler\"") \
	V(S, TEXT, NONE, name, always, "name", "name for people, such as \"tcp sent by the client of port 80\"") \
	V(S, TEXT, NONE, kind, recorded, "kind", "kind of socket") \
	V(S, TEXT, NONE, call, recorded, "call", "of a call: function, or system call if it is kernel-only") \
	V(S, TEXT, NONE, direction, recorded, "direction", "of a flow: \"tx\" or \"rx\"") \
	V(S, TEXT, NONE, side, recorded, "side", "of a flow: \"client\" or \"server\"") \
	V(S, COUNT, NONE, port, recorded, "port", "of a flow: the server's port")

#define MG_KNOWN_compared(S, K)
#define MG_FIGURES_compared(S, V, O, L, W, T, P) \
	P(S, subject, always) \
	V(S, TEXT, NONE, figure, always, "figure", "name of the compared figure; \"residence\" for a stage") \
	V(S, TEXT, NONE, stage, recorded, "stage", "stage that is compared") \
	V(S, TEXT, NONE, reason, recorded, "reason", "reason, for a part of the wait in the stage; null for the whole " \
		"stage") \
	V(S, TEXT, NONE, unit, always, "unit", "\"ns\", \"share\", \"bytes_per_s\" or \"number\"") \
	V(S, NUMBER, NONE, before, recorded, "before", "value in the other recording") \
	V(S, NUMBER, NONE, now, recorded, "now", "value in this one") \
	V(S, NUMBER, NONE, difference, recorded, "difference", "now less before") \
	V(S, NUMBER, NONE, ratio, recorded, "ratio", "now divided by before") \
	V(S, NUMBER, NONE, low, recorded, "noise", "lower end of the interval of differences that noise explains") \
	V(S, NUMBER, NONE, high, recorded, "noise", "its upper end") \
	V(S, FLAG, NONE, exceeds_noise, recorded, "exceeds the noise", "whether the difference lies outside that " \
		"interval; null if there are too few samples") \
	V(S, COUNT, NONE, before_blocks, always, "blocks", "blocks of the other recording with samples of the figure") \
	V(S, COUNT, NONE, now_blocks, always, "blocks", "blocks of this recording with samples of it")

#define MG_KNOWN_comparison(S, K)
#define MG_FIGURES_comparison(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, against, always, "compared with", "name of the other recording") \
	V(S, TEXT, NONE, command, recorded, "command", "command of the other recording") \
	V(S, TEXT, NONE, started, recorded, "started", "start of the other recording") \
	V(S, NUMBER, NS, duration_ns, recorded, "duration", "duration of the other recording") \
	V(S, NUMBER, SHARE, level, always, "level", "confidence level of the intervals") \
	V(S, COUNT, TIMES, resamples, always, "resamples", "resamples from which the intervals are computed") \
	V(S, COUNT, NONE, compared_n, always, "compared", "figures with enough samples") \
	V(S, COUNT, NONE, exceeding_n, always, "exceeding", "of these, figures whose difference exceeds the noise") \
	V(S, COUNT, NONE, not_enough_n, always, "not enough", "figures with too few samples") \
	L(S, compared, figures, always, "figures that both recordings have") \
	L(S, subject, only_before, always, "calls and flows that only the other recording has") \
	L(S, subject, only_now, always, "calls and flows that only this recording has")

/* ---- two hosts ---- */

#define MG_KNOWN_crossing_time(S, K)
#define MG_FIGURES_crossing_time(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, mean, samples, "mean", "mean, by bytes") \
	V(S, NUMBER, NS, p50, samples, "p50", "median") \
	V(S, NUMBER, NS, p99, samples, "p99", "99th percentile") \
	V(S, NUMBER, NS, half_width, samples, "(+-)", "largest error of these figures") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes with a known time")

#define MG_KNOWN_crossing(S, K)
#define MG_FIGURES_crossing(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, direction, always, "direction", "\"to_other\" or \"from_other\"") \
	V(S, TEXT, NONE, sent_as, always, "sent as", "flow at the sender") \
	V(S, TEXT, NONE, received_as, always, "received as", "flow at the receiver") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes") \
	V(S, COUNT, BYTES, ambiguous_bytes, always, "ambiguous", "bytes that were sent or received more than once and " \
		"are left out") \
	O(S, crossing_time, transit_ns, always, "time from the sender's driver to the receiver's device") \
	O(S, crossing_time, call_to_return_ns, always, "time from the sender's call to the return of the receiver's call")

#define MG_KNOWN_clock_standing(S, K)
#define MG_FIGURES_clock_standing(S, V, O, L, W, T, P) \
	V(S, COUNT, NS, at_ns, always, "at", "time of the first host") \
	V(S, NUMBER, NS, ahead_ns, recorded, "ahead", "lead of the other host's clock at that time") \
	V(S, NUMBER, NS, half_width_ns, recorded, "(+-)", "bound of the error of ahead_ns")

#define MG_KNOWN_clock_window(S, K)
#define MG_FIGURES_clock_window(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, state, always, "state", "\"related\"; \"skew_only\" where bytes passed in one direction only; \"unrelated\"") \
	V(S, NUMBER, NONE, skew, recorded, "skew", "relative difference of the clocks' rates: above 0 the other clock " \
		"is faster") \
	O(S, clock_standing, begin, always, "the clocks as it begins") \
	O(S, clock_standing, end, always, "the clocks as it ends")

#define MG_KNOWN_passings(S, K)
#define MG_FIGURES_passings(S, V, O, L, W, T, P) \
	V(S, COUNT, PACKETS, to_other, always, "to the other", "packets to the other host that relate the clocks") \
	V(S, COUNT, PACKETS, from_other, always, "from the other", "packets from the other host that relate the clocks")

#define MG_KNOWN_hosts(S, K)
#define MG_FIGURES_hosts(S, V, O, L, W, T, P) \
	L(S, clock_window, clock, always, "intervals in which neither clock was set or changed its rate") \
	O(S, passings, passings, always, "packets by which the clocks are related") \
	V(S, FLAG, NONE, left_out, always, "left out", "whether the recordings were too long to use all of them") \
	L(S, crossing, flows, always, "directions of the connections between the hosts")

/* ---- which figures are compared ---- */

/*
 * Figures in which two recordings may be compared: C(scope, row, name, SUBJECT, UNIT, sums, rest).
 * `name` is what the comparison calls them, of the figure in the row; `sums` are those of
 * compare/sampling.h whose quotient it is, (a / b) or (a / b) / (c / d); `rest` says what else
 * struct compared_figure has.
 */
#define MG_SUMS(...) __VA_ARGS__
#define MG_COMPARED(C) \
	C(call, total_ns, "total", CALL, NS, MG_SUMS(CALL_TOTAL, CALL_N), .is_headline = true) \
	C(call, overhead_ns, "overhead", CALL, NS, MG_SUMS(CALL_OVERHEAD, CALL_OVERHEAD_N), .doubt = PROBE_DOUBT) \
	C(call, overhead_blocking_ns, "overhead_blocking", CALL, NS, MG_SUMS(CALL_BLOCKING, CALL_BLOCKING_N), \
		.doubt = PROBE_DOUBT) \
	C(call, blocked_n, "blocked_share", CALL, SHARE, MG_SUMS(CALL_BLOCKED, CALL_COMPLETE), .is_headline = false) \
	C(residence, residence_total_ns, "residence_total", FLOW, NS, MG_SUMS(FLOW_RESIDENCE, FLOW_RESIDENCE_WEIGHT), \
		.is_headline = true, .doubt = CLOCK_DOUBT) \
	C(modulation, J_ns, "J", FLOW, NS, MG_SUMS(FLOW_MOVED, FLOW_MOVED_WEIGHT), .doubt = CLOCK_DOUBT) \
	C(modulation, tau_ns, "tau", FLOW, NS, MG_SUMS(FLOW_GAP, FLOW_GAPS), .is_headline = false) \
	C(modulation, M, "M", FLOW, SHARE, MG_SUMS(FLOW_MOVED, FLOW_MOVED_WEIGHT, FLOW_GAP, FLOW_GAPS), \
		.is_quotient = true, .is_headline = true) \
	C(modulation, S, "S", FLOW, NUMBER, MG_SUMS(FLOW_UNITS_TO, FLOW_UNITS_FROM), .is_headline = false) \
	C(flow, bytes, "goodput", FLOW, BYTES_PER_S, MG_SUMS(FLOW_BYTES, FLOW_LIFE), .is_headline = true) \
	C(layer, wire_bytes, "throughput", FLOW, BYTES_PER_S, MG_SUMS(FLOW_WIRE, FLOW_LIFE), .is_headline = false) \
	C(flow, retransmits, "retransmitted", FLOW, SHARE, MG_SUMS(FLOW_AGAIN, FLOW_SEGMENTS), .is_headline = true) \
	C(scheduler, wakeup_ns, "wakeup", SCHEDULER, NS, MG_SUMS(SCHED_WAKEUP, SCHED_WAKEUP_N), .is_headline = true) \
	C(scheduler, run_queue_ns, "run_queue", SCHEDULER, NS, MG_SUMS(SCHED_WAIT, SCHED_WAIT_N), .is_headline = false)

/* F(scope, its C type, doc): of a report, of a comparison, and of two hosts */
#define MG_REPORT_SCOPES(F) \
	F(spread, struct spread_figures, "Times of one kind") \
	F(overhead, struct overhead_figures, "Overhead of a call") \
	F(interposition, struct call_figures, "What libmagnet.so adds to a call") \
	F(call, struct call_figures, "A function and kind of socket") \
	F(waits, struct waits_figures, "Waits of threads") \
	F(switch, struct switch_figures, "Switches of one kind on one CPU") \
	F(scheduler, struct scheduler_figures, "The scheduler") \
	F(stage, struct stage_figures, "A stage of a flow's bytes") \
	F(why, struct why_figures, "A reason for which bytes waited in the send buffer") \
	F(held, struct held_figures, "A part of the wait in the send buffer") \
	F(last_byte, struct spread_figures, "Last bytes of calls") \
	F(waterfall_stage, struct waterfall_stage_figures, "A stage of such bytes") \
	F(waterfall, struct waterfall_figures, "Bytes whose total is about a quantile") \
	F(residence, struct flow_figures, "Where bytes waited") \
	F(lineage_sent, struct flow_figures, "Sent bytes that cannot be followed as usual") \
	F(lineage_received, struct flow_figures, "Received bytes that cannot be followed as usual") \
	F(lineage_tcp, struct flow_figures, "Bytes of TCP that cannot be followed as usual") \
	F(lineage, struct flow_figures, "Bytes that cannot be followed as usual") \
	F(hold, struct spread_figures, "Pages of sends with MSG_ZEROCOPY") \
	F(zerocopy, struct zerocopy_figures, "Sends with MSG_ZEROCOPY") \
	F(extent, struct extent_figures, "Values of a connection's state") \
	F(troubles_sent, struct tcp_figures, "What happened to a sending connection") \
	F(troubles, struct tcp_figures, "What happened to a connection") \
	F(tcp_sent, struct tcp_figures, "State of a sending connection") \
	F(tcp, struct tcp_figures, "State of a connection") \
	F(layer, struct layer_figures, "A layer of a flow") \
	F(modulation, struct modulation_figures, "Modulation of a flow's traffic by the stack") \
	F(drop, struct drop_figures, "Packets of a flow that were dropped for one reason at one place") \
	F(flow_on_demand, struct flow_figures, "Statistics on demand") \
	F(flow, struct flow_figures, "One direction of a socket") \
	F(drop_sum, struct drop_sum_figures, "Packets dropped for one reason at one place") \
	F(group, struct group_figures, "Flows of one program, protocol, direction and side") \
	F(side, struct side_figures, "A side of the recording") \
	F(sides, struct report_figures, "Both sides of the recording") \
	F(session, struct report_figures, "What was recorded") \
	F(gap, struct gap_figures, "A time in which events are missing") \
	F(missing, struct missing_events, "Events that were written and are not there") \
	F(time_coverage, struct time_coverage_figures, "How much of the time a layer was seen on a CPU") \
	F(loss, struct report_figures, "Events that are missing") \
	F(unseen, struct unseen_figures, "Programs that libmagnet.so did not see") \
	F(marked_bytes, struct marked_bytes_figures, "Bytes beside a mark") \
	F(mark, struct mark_figures, "A point that the program marked") \
	F(other_event, struct other_event_figures, "A chosen event") \
	F(hook, struct hook_figures, "A hook of the kernel side") \
	F(events, struct report_figures, "Events read") \
	F(clock, struct report_figures, "The clock") \
	F(losses, struct report_figures, "Losses of the network and its ends") \
	F(tracer, struct own_cost, "Tracing overhead") \
	F(whole, struct report_figures, "All flows together") \
	F(report_on_demand, struct report_figures, "Statistics on demand") \
	F(call_on_flow, struct call_on_flow_figures, "A call on the one flow that is reported") \
	F(report, struct report_figures, "The report")
#define MG_COMPARISON_SCOPES(F) \
	F(subject, struct subject_figures, "What two recordings both have") \
	F(compared, struct compared_figures, "A figure of two recordings") \
	F(comparison, struct comparison_figures, "The comparison with another recording")
#define MG_HOSTS_SCOPES(F) \
	F(crossing_time, struct crossing_time_figures, "A time from host to host") \
	F(crossing, struct crossing_figures, "A direction of a connection between the hosts") \
	F(clock_standing, struct clock_standing_figures, "The hosts' clocks at one time") \
	F(clock_window, struct clock_window_figures, "A time in which the hosts' clocks run evenly") \
	F(passings, struct hosts_figures, "Packets between the hosts") \
	F(hosts, struct hosts_figures, "What lies between two hosts")
#define MG_SCOPES(F) MG_HOSTS_SCOPES(F) MG_COMPARISON_SCOPES(F) MG_REPORT_SCOPES(F)
/* clang-format on */

#endif
