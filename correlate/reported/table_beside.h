/* SPDX-License-Identifier: MIT */
/* Figures of a comparison and of two hosts: rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_BESIDE_H
#define MAGNET_CORRELATE_REPORTED_TABLE_BESIDE_H

/* clang-format off */

/* ---- comparison ---- */

#define MG_KNOWN_subject(S, K)
#define MG_FIGURES_subject(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, subject, always, "subject", "\"requests\", \"call\", \"flow\" or \"scheduler\"") \
	V(S, TEXT, NONE, name, always, "name", "name for people, such as \"tcp sent by the client of port 80\"") \
	V(S, TEXT, NONE, kind, recorded, "kind", "kind of socket") \
	V(S, TEXT, NONE, call, recorded, "call", "of a call: function, or system call if it is kernel-only") \
	V(S, TEXT, NONE, direction, recorded, "direction", "of a flow: \"tx\" or \"rx\"") \
	V(S, TEXT, NONE, side, recorded, "side", "of a flow and of requests: \"client\" or \"server\"") \
	V(S, COUNT, NONE, port, recorded, "port", "of a flow and of requests: the server's port")

#define MG_KNOWN_compared(S, K)
#define MG_FIGURES_compared(S, V, O, L, W, T, P) \
	P(S, subject, always) \
	V(S, TEXT, NONE, figure, always, "figure", "name of the compared figure; \"residence\" for a stage") \
	V(S, TEXT, NONE, stage, recorded, "stage", "stage that is compared") \
	V(S, TEXT, NONE, reason, recorded, "reason", "reason, for a part of the time in the stage or figure; null for " \
		"the whole of it") \
	V(S, TEXT, NONE, unit, always, "unit", "\"ns\", \"share\", \"bytes_per_s\" or \"number\"") \
	V(S, NUMBER, NONE, before, recorded, "before", "value of the other side: the mean over its recordings") \
	V(S, NUMBER, NONE, now, recorded, "now", "value of this one, likewise") \
	V(S, NUMBER, NONE, difference, recorded, "difference", "now less before") \
	V(S, NUMBER, NONE, ratio, recorded, "ratio", "now divided by before") \
	V(S, NUMBER, SHARE, effect, recorded, "effect", "size of the difference, as a part of the larger value; of a part, " \
		"of the whole to which it belongs") \
	V(S, NUMBER, NONE, low, recorded, "noise", "lower end of the interval of differences that noise explains") \
	V(S, NUMBER, NONE, high, recorded, "noise", "its upper end") \
	V(S, FLAG, NONE, exceeds_noise, recorded, "exceeds the noise", "whether 0 lies outside that interval; null if " \
		"there are too few samples or recordings") \
	V(S, NUMBER, SHARE, chance, recorded, "by chance", "with several recordings: probability that any figure differs so " \
		"clearly if none does") \
	V(S, COUNT, NONE, before_blocks, recorded, "blocks", "with one recording on each side: blocks of the other one with " \
		"samples of the figure") \
	V(S, COUNT, NONE, now_blocks, recorded, "blocks", "blocks of this recording, likewise") \
	V(S, COUNT, NONE, before_n, always, "recordings", "recordings of the other side in which the figure is known") \
	V(S, COUNT, NONE, now_n, always, "recordings", "recordings of this side, likewise") \
	V(S, NUMBER, NONE, before_sd, recorded, "(sd)", "standard deviation between the recordings of the other side") \
	V(S, NUMBER, NONE, now_sd, recorded, "(sd)", "that of this side")

#define MG_KNOWN_compared_recording(S, K)
#define MG_FIGURES_compared_recording(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, source, always, "recording", "name of the recording") \
	V(S, TEXT, NONE, command, recorded, "command", "its command") \
	V(S, TEXT, NONE, started, recorded, "started", "its start") \
	V(S, NUMBER, NS, duration_ns, recorded, "duration", "its duration") \
	V(S, NUMBER, SHARE, steal_share, recorded, "steal", "share of all CPUs' time that the hypervisor took") \
	V(S, TEXT, NONE, congestion_control, recorded, "congestion control", "that of the flow that sent most (level light)")

#define MG_KNOWN_comparison(S, K)
#define MG_FIGURES_comparison(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, against, always, "compared with", "name of the other side") \
	V(S, TEXT, NONE, command, recorded, "command", "command of its first recording") \
	V(S, TEXT, NONE, started, recorded, "started", "start of that recording") \
	V(S, NUMBER, NS, duration_ns, recorded, "duration", "duration of that recording") \
	V(S, TEXT, NONE, noise, always, "noise", "\"within\": the variation within the one recording on each side, which cannot " \
		"tell a change of the program from one of the machine; \"between\": that between the recordings of each side") \
	V(S, FLAG, NONE, can_tell, always, "enough recordings", "whether there are enough recordings to tell a change of the " \
		"program from what differs between recordings of one program") \
	V(S, NUMBER, SHARE, level, always, "level", "confidence level: within, of each interval; between, of all together") \
	V(S, COUNT, TIMES, resamples, always, "resamples", "resamples from which the intervals are computed, or arrangements " \
		"of the recordings") \
	V(S, COUNT, NONE, compared_n, always, "compared", "figures with enough samples") \
	V(S, COUNT, NONE, exceeding_n, always, "exceeding", "of these, figures whose difference exceeds the noise") \
	V(S, COUNT, NONE, not_enough_n, always, "not enough", "figures with too few samples or recordings") \
	L(S, compared, figures, always, "figures that both sides have") \
	L(S, subject, only_before, always, "requests, calls and flows that only the other side has") \
	L(S, subject, only_now, always, "requests, calls and flows that only this side has") \
	L(S, compared_recording, before_recordings, always, "recordings of the other side") \
	L(S, compared_recording, now_recordings, always, "recordings of this side; the report is that of the first")

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
	V(S, NUMBER, NONE, skew_half_width, recorded, "(+-)", "bound of the error of skew") \
	O(S, clock_standing, begin, always, "the clocks as it begins") \
	O(S, clock_standing, end, always, "the clocks as it ends")

#define MG_KNOWN_passings(S, K)
#define MG_FIGURES_passings(S, V, O, L, W, T, P) \
	V(S, COUNT, PACKETS, to_other, always, "to the other", "packets to the other host that relate the clocks") \
	V(S, COUNT, PACKETS, from_other, always, "from the other", "packets from the other host that relate the clocks")

#define MG_KNOWN_joint(S, K)
#define MG_FIGURES_joint(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, client_host, recorded, "client's host", "name of the host of the client") \
	V(S, TEXT, NONE, server_host, recorded, "server's host", "name of the host of the server") \
	V(S, TEXT, NONE, client, recorded, "client", "name of the client's program") \
	V(S, TEXT, NONE, server, recorded, "server", "name of the server's program") \
	V(S, TEXT, NONE, address, recorded, "server's address", "the server's address and port, as the client has them") \
	V(S, COUNT, NONE, port, recorded, "server's port", "port of the server, likewise") \
	V(S, COUNT, NONE, exchanges, always, "exchanges", "exchanges that both ends have") \
	V(S, COUNT, NONE, client_exchanges, always, "at the client", "the client's exchanges with this address that are divided by cause") \
	V(S, COUNT, NONE, by_clocks, always, "by the clocks", "exchanges of these that the ends divide differently, so that the relation of " \
		"the clocks divides their time") \
	V(S, NUMBER, NS, clock_half_width_ns, recorded, "(+-)", "largest error of that relation at these exchanges") \
	L(S, answer_column, answer, always, "where their whole time went at both ends and on the network, as the client's `answer`")

#define MG_KNOWN_hosts(S, K)
#define MG_FIGURES_hosts(S, V, O, L, W, T, P) \
	L(S, clock_window, clock, always, "intervals in which neither clock was set or changed its rate") \
	O(S, passings, passings, always, "packets by which the clocks are related") \
	V(S, FLAG, NONE, left_out, always, "left out", "whether the recordings were too long to use all of them") \
	L(S, crossing, flows, always, "directions of the connections between the hosts") \
	L(S, joint, exchanges, always, "exchanges of a client with a server on the other host, those that took longest first")

/* ---- which figures are compared ---- */

/*
 * Sums that compare/sampling.c reads at the end of each block of time: A(name, value), of `c`, a
 * struct call_stats, of `f`, a struct fact_flow, and of `s`, a struct sched_stats.
 */
#define MG_COMPARED_CALL_SUMS(A) \
	A(CALL_TOTAL, c->total.sum) A(CALL_N, c->total.weight) \
	A(CALL_OVERHEAD, c->overhead.sum) A(CALL_OVERHEAD_N, c->overhead.weight) \
	A(CALL_BLOCKING, c->overhead_blocked.sum) A(CALL_BLOCKING_N, c->overhead_blocked.weight) \
	A(CALL_BLOCKED, c->blocked_n) A(CALL_COMPLETE, c->complete) \
	A(CALL_PROBES, c->probe_cycles) /* tracing overhead */
#define MG_COMPARED_FLOW_SUMS(A) \
	A(FLOW_RESIDENCE, measures(f)->residence.sum) A(FLOW_RESIDENCE_WEIGHT, measures(f)->residence.weight) \
	A(FLOW_BYTES, bytes_so_far(f)) \
	A(FLOW_LIFE, f->last_moved - f->first_moved) /* cycles from the first event that its bytes passed to the last */ \
	A(FLOW_WIRE, measures(f)->units[f->flow.rx ? (int)RX_DEV : (int)TX_XMIT].wire_bytes) \
	A(FLOW_AGAIN, f->retransmits) \
	A(FLOW_SEGMENTS, f->flow.rx ? 0 : measures(f)->units[TX_IP_OUT].frames) \
	A(FLOW_CONNECTIONS, f->kind == MG_KIND_tcp) \
	A(FLOW_SRTT, state_of(f)->srtt_us.sum) A(FLOW_SRTT_N, state_of(f)->srtt_us.n) \
	A(FLOW_RTO, state_of(f)->rto_us.sum) A(FLOW_RTO_N, state_of(f)->rto_us.n) \
	A(FLOW_CWND, state_of(f)->cwnd.sum) A(FLOW_CWND_N, state_of(f)->cwnd.n) \
	A(FLOW_TIMEOUTS, state_of(f)->timeouts) A(FLOW_RECOVERIES, state_of(f)->recoveries) \
	A(FLOW_RESETS, state_of(f)->resets_sent + state_of(f)->resets_received) \
	A(FLOW_CLOSED, state_of(f)->peer.cycles) /* the peer's window */ \
	A(FLOW_BUSY, grown(&state_of(f)->busy_us)) A(FLOW_RWND_LIMITED, grown(&state_of(f)->rwnd_limited_us)) \
	A(FLOW_SNDBUF_LIMITED, grown(&state_of(f)->sndbuf_limited_us))
#define MG_COMPARED_SCHEDULER_SUMS(A) \
	A(SCHED_WAKEUP, s->wakeup.sum) A(SCHED_WAKEUP_N, s->wakeup.weight) \
	A(SCHED_WAIT, s->run_queue.sum) A(SCHED_WAIT_N, s->run_queue.weight)

/*
 * Figures in which two recordings may be compared: C(scope, row, name, words, SUBJECT, UNIT, sums, rest).
 * `name` is what the comparison calls them in JSON, and `words` as text, of the figure in the row; `sums` are those whose
 * quotient it is, (a / b) or (a / b) / (c / d); `rest` says what else struct compared_figure has.
 */
#define MG_SUMS(...) __VA_ARGS__
#define MG_COMPARED(C) \
	C(call, total_ns, "total", "time of a call", CALL, NS, MG_SUMS(CALL_TOTAL, CALL_N), .doubt = NO_DOUBT) \
	C(call, overhead_ns, "overhead", "CPU time of a call that did not block", CALL, NS, MG_SUMS(CALL_OVERHEAD, CALL_OVERHEAD_N), .doubt = PROBE_DOUBT) \
	C(call, overhead_blocking_ns, "overhead_blocking", "CPU time of a call that blocked", CALL, NS, MG_SUMS(CALL_BLOCKING, CALL_BLOCKING_N), \
		.doubt = PROBE_DOUBT) \
	C(call, blocked_n, "blocked_share", "calls that blocked", CALL, SHARE, MG_SUMS(CALL_BLOCKED, CALL_COMPLETE), .doubt = NO_DOUBT) \
	C(residence, residence_total_ns, "residence_total", "latency", FLOW, NS, MG_SUMS(FLOW_RESIDENCE, FLOW_RESIDENCE_WEIGHT), \
		.doubt = CLOCK_DOUBT) \
	C(timed_sends, stages_ns, "timed_sends_at_most", "send to acknowledgement (at most)", FLOW, NS, \
		MG_SUMS(FLOW_TIMED_AT_MOST, FLOW_TIMED_AT_MOST_N), .is_of_sender = true) \
	C(modulation, J_ns, "J", "J, shift of a byte in time", FLOW, NS, MG_SUMS(FLOW_MOVED, FLOW_MOVED_WEIGHT), .doubt = CLOCK_DOUBT) \
	C(modulation, tau_ns, "tau", "tau, gap between calls", FLOW, NS, MG_SUMS(FLOW_GAP, FLOW_GAPS), .doubt = NO_DOUBT) \
	C(modulation, M, "M", "modulation M", FLOW, NUMBER, MG_SUMS(FLOW_MOVED, FLOW_MOVED_WEIGHT, FLOW_GAP, FLOW_GAPS), \
		.is_quotient = true) \
	C(modulation, S, "S", "S, packets for each one a layer before", FLOW, NUMBER, MG_SUMS(FLOW_UNITS_TO, FLOW_UNITS_FROM), .doubt = NO_DOUBT) \
	C(flow, bytes, "goodput", "goodput", FLOW, BYTES_PER_S, MG_SUMS(FLOW_BYTES, FLOW_LIFE), .doubt = NO_DOUBT) \
	C(layer, wire_bytes, "throughput", "throughput with headers", FLOW, BYTES_PER_S, MG_SUMS(FLOW_WIRE, FLOW_LIFE), .doubt = NO_DOUBT) \
	C(flow, retransmits, "retransmitted", "segments retransmitted", FLOW, SHARE, MG_SUMS(FLOW_AGAIN, FLOW_SEGMENTS), \
		.needs = MG_EVENT_tcp_retransmit) \
	C(troubles_sent, timeouts, "timeouts", "timeouts for each segment", FLOW, SHARE, MG_SUMS(FLOW_TIMEOUTS, FLOW_SEGMENTS), \
		.is_of_sender = true, .needs = MG_EVENT_tcp_retransmit) \
	C(troubles_sent, recoveries, "recoveries", "recoveries for each segment", FLOW, SHARE, MG_SUMS(FLOW_RECOVERIES, FLOW_SEGMENTS), \
		.is_of_sender = true, .needs = MG_EVENT_tcp_cong) \
	C(troubles, resets_sent, "resets", "resets for each connection", FLOW, NUMBER, MG_SUMS(FLOW_RESETS, FLOW_CONNECTIONS), \
		.is_of_sender = true, .needs = MG_EVENT_tcp_reset) \
	C(troubles, zero_window_ns, "zero_window", "time with a peer's window of 0", FLOW, SHARE, MG_SUMS(FLOW_CLOSED, FLOW_LIFE), \
		.is_of_sender = true, .needs = MG_EVENT_tcp_recv) \
	C(tcp, srtt_us, "srtt", "round-trip time (srtt)", FLOW, US, MG_SUMS(FLOW_SRTT, FLOW_SRTT_N), .is_of_sender = true) \
	C(tcp, rto_us, "rto", "retransmission timeout (RTO)", FLOW, US, MG_SUMS(FLOW_RTO, FLOW_RTO_N), .is_of_sender = true) \
	C(tcp_sent, cwnd, "cwnd", "congestion window, segments", FLOW, NUMBER, MG_SUMS(FLOW_CWND, FLOW_CWND_N), .is_of_sender = true) \
	C(tcp_sent, rwnd_limited_us, "rwnd_limited", "limited by the peer's window", FLOW, SHARE, MG_SUMS(FLOW_RWND_LIMITED, FLOW_BUSY), \
		.is_of_sender = true) \
	C(tcp_sent, sndbuf_limited_us, "sndbuf_limited", "limited by the send buffer", FLOW, SHARE, MG_SUMS(FLOW_SNDBUF_LIMITED, FLOW_BUSY), \
		.is_of_sender = true) \
	C(scheduler, wakeup_ns, "wakeup", "wakeup latency", SCHEDULER, NS, MG_SUMS(SCHED_WAKEUP, SCHED_WAKEUP_N), .doubt = NO_DOUBT) \
	C(scheduler, run_queue_ns, "run_queue", "wait for a CPU", SCHEDULER, NS, MG_SUMS(SCHED_WAIT, SCHED_WAIT_N), .doubt = NO_DOUBT)

/*
 * Quantiles of times of exchanges that are compared: Q(scope, row, name, words, time, quantile, whole).
 * `name` is what the comparison calls them in JSON, and `words` as text; `whole` is the figure of which it is a part, NULL if
 * none. Of those above the median the largest is taken that holds (reported/spread.h).
 */
#define MG_COMPARED_TIMES(Q) \
	Q(exchange_group, to_reply_ns, "to_reply_p50", "request to reply, p50", TIME_TO_REPLY, 0.5, NULL) \
	Q(exchange_group, to_reply_ns, "to_reply_p99", "request to reply, p99", TIME_TO_REPLY, 0.99, NULL) \
	Q(exchange_group, in_program_ns, "in_program_p50", "in the program, p50", TIME_PROGRAM, 0.5, "to_reply_p50") \
	Q(exchange_group, in_program_ns, "in_program_p99", "in the program, p99", TIME_PROGRAM, 0.99, "to_reply_p99")
/* clang-format on */

#endif
