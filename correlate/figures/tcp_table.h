/* SPDX-License-Identifier: MIT */
/*
 * Figures of a connection's protocol state: rows of the table of figures, and how figures/tcp.c
 * makes them of the fact `state`.
 */
#ifndef MAGNET_CORRELATE_FIGURES_TCP_TABLE_H
#define MAGNET_CORRELATE_FIGURES_TCP_TABLE_H

/* clang-format off */

/* ---- a flow: protocol state ---- */

#define MG_KNOWN_extent(S, K)
#define MG_FIGURES_extent(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, min, always, "min", "smallest") \
	V(S, NUMBER, NONE, mean, always, "mean", "mean over the recorded samples, not over time") \
	V(S, COUNT, NONE, max, always, "max", "largest")

#define MG_KNOWN_troubles_sent(S, K) \
	K(S, timeouts, "retransmissions were recorded; with lost events, only if it is not 0")
#define MG_FIGURES_troubles_sent(S, V, O, L, W, T, P) \
	V(S, COUNT, TIMES, congestion_changes, counted, "congestion state changed", "times the congestion state changed") \
	V(S, COUNT, TIMES, recoveries, counted, "recoveries from loss", "times loss recovery began") \
	V(S, COUNT, TIMES, timeouts, timeouts, "timeouts", "times the retransmission timer expired")

#define MG_KNOWN_troubles(S, K) \
	K(S, windows, "windows were recorded; with lost events, only if it is not 0") \
	K(S, sent, "it is a sent flow")
#define MG_FIGURES_troubles(S, V, O, L, W, T, P) \
	V(S, FLAG, NONE, at_least, always, ">=", "whether events of these are missing, so that counts and maxima may " \
		"be higher") \
	V(S, COUNT, TIMES, zero_windows, windows, "window zero", "times the window that limits the flow became zero: " \
		"for a sent flow the peer's, for a received flow the own") \
	V(S, NUMBER, NS, zero_window_ns, windows, "in all", "total time for which it was zero") \
	V(S, COUNT, TIMES, resets_sent, counted, "resets sent", "resets that were sent") \
	V(S, COUNT, TIMES, resets_received, counted, "resets received", "resets that were received") \
	V(S, TEXT, NONE, reset_reason, recorded, "reason", "reason of a reset that was sent, if the kernel reports it") \
	P(S, troubles_sent, sent)

#define MG_KNOWN_tcp_sent(S, K) \
	K(S, ssthresh, "there was a threshold, and it was recorded (level light)")
#define MG_FIGURES_tcp_sent(S, V, O, L, W, T, P) \
	O(S, extent, cwnd, recorded, "congestion window, segments (level light, or --layers timestamps)") \
	V(S, COUNT, SEGMENTS, ssthresh, ssthresh, "ssthresh", "last slow-start threshold") \
	O(S, extent, pacing_rate, recorded, "pacing rate, bytes a second (level full)") \
	O(S, extent, notsent, recorded, "bytes written and not sent yet (level full)") \
	V(S, COUNT, SEGMENTS, delivered, recorded, "segments delivered to the peer", "segments delivered to the peer " \
		"(level full)") \
	V(S, SIGNED, SEGMENTS, lost, recorded, "presumed lost", "segments presumed lost (level full)") \
	V(S, COUNT, US, busy_us, recorded, "sending", "time with data to send (level full)") \
	V(S, COUNT, US, rwnd_limited_us, recorded, "limited by the peer's window", "part of that time in which the peer's " \
		"window limited sending (level full)") \
	V(S, COUNT, US, sndbuf_limited_us, recorded, "limited by the own send buffer", "part of that time in which the " \
		"size of the send buffer limited sending (level full)")

#define MG_KNOWN_tcp(S, K) \
	K(S, sent, "it is a sent flow")
#define MG_FIGURES_tcp(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, algorithm, recorded, "congestion control", "last congestion control in use (level light)") \
	O(S, extent, srtt_us, recorded, "smoothed round-trip time (level light, or --layers timestamps)") \
	O(S, extent, rto_us, recorded, "retransmission timeout (level light)") \
	O(S, extent, window, recorded, "window that limits the flow, bytes: for a sent flow the peer's (level light, or " \
		"--layers timestamps), for a received flow the own (level light)") \
	P(S, troubles, always) \
	P(S, tcp_sent, sent)

/*
 * How these are made of `f`, a fact `state`; `name` is the row's, whose getter follows from it:
 *
 *   EXTENT(S, name)          smallest, mean and largest of the column of this name
 *   GROWTH(S, name, type)    by how much the column of this name grew; `type` is count or signed
 *   COUNT(S, name, event, n, use)
 *       the sum of `n`. A row that is known if `counted` needs that the event was recorded, and if
 *       it is 0, that none is missing; others have `none` here. `use` is one of
 *
 *         QUIET    only the figure
 *         NOTABLE  a connection that has it is listed in full among many, see magnet-report(1)
 *         SAID     the same, and the text says it below the connection, by its label
 */
#define MG_TCP_SUMS(EXTENT, GROWTH, COUNT) \
	EXTENT(tcp, srtt_us) \
	EXTENT(tcp, rto_us) \
	EXTENT(tcp_sent, cwnd) \
	EXTENT(tcp_sent, pacing_rate) \
	EXTENT(tcp_sent, notsent) \
	GROWTH(tcp_sent, delivered, count) \
	GROWTH(tcp_sent, lost, signed) \
	GROWTH(tcp_sent, busy_us, count) \
	GROWTH(tcp_sent, rwnd_limited_us, count) \
	GROWTH(tcp_sent, sndbuf_limited_us, count) \
	COUNT(troubles_sent, timeouts, none, f->timeouts == FACT_NONE ? 0 : f->timeouts, SAID) \
	COUNT(troubles_sent, recoveries, tcp_cong, enters(f, CA_RECOVERY), SAID) \
	COUNT(troubles_sent, congestion_changes, tcp_cong, f->congestion != NULL, QUIET) \
	COUNT(troubles, resets_sent, tcp_reset, f->reset_sent == 1, NOTABLE) \
	COUNT(troubles, resets_received, tcp_reset, f->reset_sent == 0, NOTABLE)
/* clang-format on */

#endif
