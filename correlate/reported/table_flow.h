/* SPDX-License-Identifier: MIT */
/* Figures of a flow, and of flows together: rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_FLOW_H
#define MAGNET_CORRELATE_REPORTED_TABLE_FLOW_H

/* clang-format off */

/* ---- a flow: where its bytes waited ---- */

#define MG_KNOWN_stage(S, K) \
	K(S, shown, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration") \
	K(S, steal, "the waterfall is shown, and the hypervisor's steal was recorded")
#define MG_FIGURES_stage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, stage, always, "stage", "name of the stage") \
	V(S, COUNT, RANGES, n, always, "ranges", "byte ranges, each with one timestamp for each layer") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes in these ranges") \
	V(S, NUMBER, NS, mean_ns, shown, "mean", "mean time of a byte in the stage") \
	V(S, NUMBER, NS, p50_ns, shown, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, shown, "p99", "99th percentile of it; null without ten samples beyond it") \
	V(S, NUMBER, NONE, highest, shown, "highest", "largest quantile that holds, 0.99 at most: ten ranges lie beyond it; " \
		"1, the maximum, with fewer than 20 ranges") \
	V(S, NUMBER, NS, at_highest_ns, shown, "there", "that quantile") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "mean without tracing overhead") \
	V(S, NUMBER, NS, compensated_p50_ns, compensated, "p50", "median without tracing overhead") \
	V(S, NUMBER, NS, compensated_at_highest_ns, compensated, "there", "the largest quantile that holds, without " \
		"tracing overhead") \
	V(S, NUMBER, NS, compensated_p99_ns, compensated, "p99", "99th percentile without tracing overhead; null " \
		"without ten samples beyond it") \
	V(S, FLAG, NONE, tail_may_be_steal, steal, "tail may be steal", "whether the time that the hypervisor took " \
		"from the CPUs is enough to explain the highest quantile")

#define MG_KNOWN_why(S, K) \
	K(S, shown, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration")
#define MG_FIGURES_why(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, reason, always, "reason", "the last reason that held the bytes") \
	V(S, TEXT, NONE, released_by, always, "until", "event that released them") \
	V(S, COUNT, RANGES, n, always, "ranges", "byte ranges, each with one timestamp for each layer") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes in these ranges") \
	V(S, NUMBER, SHARE, share, always, "of bytes", "share of these bytes in all bytes") \
	V(S, NUMBER, SHARE, wait_share, shown, "share", "share of the send buffer's stage") \
	V(S, NUMBER, NS, mean_ns, shown, "mean", "mean wait of these bytes") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "mean wait without tracing overhead")

#define MG_KNOWN_held(S, K) \
	K(S, shown, "the waterfall is shown") \
	K(S, compensated, "the waterfall is shown, and the recording has a calibration")
#define MG_FIGURES_held(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, reason, always, "reason", "reason that held the bytes") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "bytes that waited for this reason at all") \
	V(S, NUMBER, SHARE, share, always, "of bytes", "share of these bytes in all bytes") \
	V(S, NUMBER, SHARE, wait_share, shown, "share", "share of the send buffer's stage") \
	V(S, NUMBER, NS, mean_ns, shown, "mean", "mean over all bytes; these means sum to the stage's mean") \
	V(S, NUMBER, NS, compensated_mean_ns, compensated, "mean", "the same mean without tracing overhead") \
	V(S, NUMBER, NS, held_ns, always, "held", "time in which this reason held the queue")

#define MG_KNOWN_last_byte(S, K)
#define MG_FIGURES_last_byte(S, V, O, L, W, T, P) \
	V(S, COUNT, CALLS, n, always, "calls", "calls") \
	V(S, NUMBER, NS, mean_ns, samples, "mean", "mean time until the last byte of a call had passed") \
	V(S, NUMBER, NS, p50_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NS, p99_ns, samples, "p99", "99th percentile of it") \
	V(S, NUMBER, NONE, highest, samples, "highest", "largest quantile that holds, as of a stage") \
	V(S, NUMBER, NS, at_highest_ns, samples, "there", "that quantile")

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
	V(S, NUMBER, NONE, residence_total_highest, total, "highest", "largest quantile that holds, as of a stage") \
	V(S, NUMBER, NS, residence_total_at_highest_ns, total, "there", "that quantile") \
	V(S, NUMBER, NS, residence_uncertainty_ns, uncertain, "(+-)", "uncertainty of the total without tracing " \
		"overhead, two standard deviations") \
	V(S, NUMBER, NS, probes_ns, probes, "magnet's own events", "tracing overhead in the total, on average: with " \
		"compensated_mean_ns of all stages it sums to the total") \
	O(S, last_byte, residence_last_byte, recorded, "total of the last byte of each call") \
	L(S, why, send_buffer_why, why, "why bytes waited in the send buffer: the whole wait of a byte counts for the " \
		"last reason that held it") \
	L(S, held, send_buffer_held, why, "the same waits, divided in time at each change of the reason") \
	V(S, NUMBER, SHARE, send_buffer_lost_share, why, "while earlier bytes were to be sent again", "share of these " \
		"waits in which earlier bytes of the flow had to be sent again, which also closes the windows") \
	L(S, waterfall, waterfalls, always, "mean stages of the bytes whose total is near a quantile; for quantiles " \
		"with at least ten samples beyond them") \
	V(S, COUNT, TIMES, driver_refused, driver, "refused by the driver", "times a driver refused a frame that it " \
		"was asked to transmit") \
	V(S, COUNT, CYCLES, closure_error_cycles, any, "closes to", "sum of the totals less the sum of the stages; 0 " \
		"unless something is wrong")

/* ---- a flow: bytes that cannot be followed as usual ---- */

#define MG_KNOWN_lineage_sent(S, K) \
	K(S, synacks, "the recording has the hook for it") \
	K(S, retransmits, "it is a TCP flow, and retransmissions were recorded") \
	K(S, resends, "the layer ip was recorded in its network namespace, without lost events") \
	K(S, unsent, "the end of the flow was recorded") \
	K(S, claimed, "system calls were recorded")
#define MG_FIGURES_lineage_sent(S, V, O, L, W, T, P) \
	V(S, COUNT, SEGMENTS, syn_ack_retries, synacks, "SYN-ACKs retransmitted", "answers to the peer's SYN that were sent again " \
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

#define MG_KNOWN_timed_stage(S, K)
#define MG_FIGURES_timed_stage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, stage, always, "stage", "send_buffer: until the segment with the send's last byte reached the device's queue; " \
		"queue: until the driver was about to transmit it; network: until it was acknowledged; total: all of it; at_most: the same " \
		"for sends that were acknowledged with a later one, too, which took no longer than until that acknowledgement") \
	V(S, COUNT, CALLS, n, always, "sends", "sends of which the time is known") \
	P(S, call_time, always)

#define MG_KNOWN_timed_sends(S, K)
#define MG_FIGURES_timed_sends(S, V, O, L, W, T, P) \
	V(S, COUNT, CALLS, n, always, "sends", "sends that the kernel was asked to timestamp: most calls are one, sendfile() is several") \
	V(S, COUNT, CALLS, acknowledged, always, "acknowledged", "sends whose acknowledgement has a timestamp of its own") \
	V(S, COUNT, CALLS, acknowledged_later, always, "acknowledged with a later send", "sends that left with timestamps, and whose " \
		"acknowledgement is known by that of a later send alone") \
	V(S, COUNT, CALLS, merged, always, "merged", "sends without timestamps of their own, as a later send has that of their segment") \
	V(S, COUNT, CALLS, left, always, "left before the call ended", "sends whose last byte had left the send buffer before the call " \
		"ended, so that no time of them is known") \
	V(S, COUNT, CALLS, unfinished, always, "unfinished", "sends of which no acknowledgement was seen") \
	V(S, COUNT, CALLS, lost, always, "lost", "sends of which events may be missing") \
	V(S, COUNT, CALLS, queued_again, always, "queued again", "sends whose last segment came to its device's queue more than once: " \
		"it was sent again") \
	V(S, FLAG, NONE, at_least, always, ">=", "whether events of these are missing") \
	L(S, timed_stage, stages_ns, always, "times of the last byte of each send")

/* ---- a flow ---- */

#define MG_KNOWN_layer(S, K) \
	K(S, frames, "frames were recorded there")
#define MG_FIGURES_layer(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, name, always, "layer", "name of the layer") \
	V(S, COUNT, PACKETS, n, always, "count", "packets that brought new bytes") \
	V(S, COUNT, PACKETS, repeated_n, always, "seen before", "packets without new bytes") \
	V(S, COUNT, PACKETS, frames, frames, "frames", "segments, datagrams or fragments that all packets stand for") \
	V(S, COUNT, PACKETS, repeated_frames, frames, "repeated frames", "those of them that belong to packets " \
		"without new bytes") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "new bytes") \
	V(S, NUMBER, BYTES, mean_size, always, "mean size", "mean size of a packet") \
	V(S, NUMBER, NONE, cov_size, always, "sd/mean", "coefficient of variation of sizes") \
	V(S, NUMBER, NS, mean_spacing_ns, samples, "mean spacing", "mean time between packets") \
	V(S, NUMBER, NS, p50_spacing_ns, samples, "p50", "median of it") \
	V(S, NUMBER, NONE, cov_spacing, samples, "sd/mean", "coefficient of variation of spacings") \
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
	V(S, COUNT, BYTES, bytes, always, "bytes", "their payload") \
	V(S, COUNT, SEGMENTS, discarded, always, "discarded", "segments without payload that TCP itself threw away: no loss")

#define MG_KNOWN_flow(S, K) \
	K(S, claimed, "system calls were recorded") \
	K(S, sent_claimed, "it is a sent flow, and system calls were recorded") \
	K(S, sent, "it is a sent flow") \
	K(S, retransmits, "it is a sent flow of TCP, and retransmissions were recorded; with lost events, only if it is not 0") \
	K(S, drops, "drops were recorded") \
	K(S, messages, "it is not a TCP flow") \
	K(S, messages_received, "it is a received flow, but not a TCP flow") \
	K(S, tcp, "it is a TCP flow, and the kernel side was recorded") \
	K(S, captured, "a capture is given (--pcap) that has packets of the flow") \
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
	O(S, timed_sends, timed_sends, sent, "its sends by the kernel's own timestamps (--layers timestamps)") \
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
	O(S, wire_flow, wire, captured, "the flow in the capture, beyond the stages, which do not have its times: in the " \
		"report's `wire`, too") \
	O(S, spread, transit_ns, always, "for a received flow whose peer is in the recording: time from the peer's " \
		"driver to the first layer here") \
	O(S, modulation, modulation, always, "modulation of its traffic by the stack") \
	O(S, tcp, tcp, tcp, "state of its connection") \
	O(S, flow_exchanges, exchanges, sent, "requests and replies of its socket") \
	P(S, flow_on_demand, demanded)

#define MG_KNOWN_flow_on_demand(S, K)
#define MG_FIGURES_flow_on_demand(S, V, O, L, W, T, P) \
	V(S, ANY, NONE, on_demand, always, "on demand", "the statistics asked for")

/*
 * Counters in the fact of a flow, which are summed over flows reported together:
 *
 *   C(S, name, member, use)  the row `name` of S, whose getter follows
 *   N(member, use)           no figure by itself
 *
 * `use` says who uses it beside that, as in figures/tcp_table.h.
 */
#define MG_FLOW_COUNTERS(C, N) \
	C(flow, gaps, gaps, QUIET) \
	C(flow, complete_bytes, followed, QUIET) \
	C(flow, incomplete_bytes, incomplete, NOTABLE) \
	C(flow, kernel_only_bytes, kernel_only, QUIET) \
	C(flow, call_n, calls, QUIET) \
	C(flow, dropped_bytes, dropped_bytes, NOTABLE) \
	C(flow, unmatched, unmatched, NOTABLE) \
	C(lineage_tcp, ambiguous_bytes, ambiguous, NOTABLE) \
	C(lineage_sent, syn_ack_retries, synack_retries, SAID) \
	C(lineage_sent, retransmitted_bytes, retransmitted, NOTABLE) \
	C(lineage_sent, unsent_bytes, never_sent, NOTABLE) \
	C(lineage_sent, refused_calls, refused_calls, NOTABLE) \
	C(lineage_received, opening_bytes, opening, QUIET) \
	C(lineage_received, undivided_bytes, undivided, QUIET) \
	C(lineage_received, transit_ambiguous_bytes, transit_ambiguous, QUIET) \
	C(lineage_received, urgent_unread_bytes, urgent_unread, NOTABLE) \
	C(residence, driver_refused, driver_refused, NOTABLE) \
	C(residence, closure_error_cycles, closure, QUIET) \
	N(retransmits, NOTABLE) \
	N(syn_retries, QUIET) \
	N(dropped, NOTABLE) \
	N(incomplete_again, QUIET) \
	N(missing_bytes, QUIET)

/*
 * Members of a flow in brief (magnet-report(1)), in their order:
 *
 *   F(name, EACH)  a figure of the scope flow or its parts
 *   F(name, SENT)  the same, of sent flows only
 *   O(name)        a list or an object, of which the function of this name in render/json_brief.c
 *                  writes a part
 */
#define MG_FLOW_IN_BRIEF(F, O) \
	F(id, EACH) F(proto, EACH) F(local, EACH) F(remote, EACH) F(direction, EACH) F(pid, EACH) F(comm, EACH) \
	F(bytes, EACH) F(coverage, EACH) F(tx_call_n, SENT) F(retransmits, SENT) \
	O(layers) \
	O(residence) \
	F(residence_total_ns, EACH) F(closure_error_cycles, EACH) \
	O(modulation)

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
	K(S, retransmits, "they are sent flows of TCP, and retransmissions were recorded; with lost events, only if it is not 0") \
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
	O(S, timed_sends, timed_sends, recorded, "their sends by the kernel's own timestamps (--layers timestamps)") \
	L(S, drop_sum, drops, drops, "packets of them that the kernel dropped") \
	O(S, troubles, tcp, tcp, "those figures of their connections' state that can be summed")
/* clang-format on */

#endif
