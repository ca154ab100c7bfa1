/* SPDX-License-Identifier: MIT */
/* Figures of a capture beside the recording, the layer "wire": rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_WIRE_H
#define MAGNET_CORRELATE_REPORTED_TABLE_WIRE_H

/* clang-format off */
#define MG_KNOWN_wire_clock(S, K)
#define MG_FIGURES_wire_clock(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, ahead_ns, recorded, "ahead", "lead of the capture's clock over the recording's wall clock in the middle of the " \
		"packets that both have; over CLOCK_MONOTONIC where no wall clock is recorded") \
	V(S, NUMBER, NS, half_width_ns, recorded, "(+-)", "largest bound of its error during the capture") \
	V(S, NUMBER, NONE, skew, recorded, "skew", "relative difference of the clocks' rates: above 0 the capture's is faster") \
	V(S, NUMBER, NONE, skew_half_width, recorded, "(+-)", "bound of the error of skew") \
	V(S, COUNT, PACKETS, sent, always, "sent", "packets sent that relate the clocks") \
	V(S, COUNT, PACKETS, received, always, "received", "packets received that relate them")

#define MG_KNOWN_wire_flow(S, K)
#define MG_FIGURES_wire_flow(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, flow, always, "flow", "flow of the recording") \
	V(S, COUNT, PACKETS, packets, always, "packets", "captured packets of the flow") \
	V(S, COUNT, BYTES, bytes, always, "bytes", "their payload") \
	V(S, COUNT, BYTES, wire_bytes, always, "wire", "their bytes with headers, as the capture has them") \
	V(S, NUMBER, BYTES, size_mean, recorded, "size", "mean payload of those that have one") \
	V(S, NUMBER, NONE, size_cov, recorded, "cov", "coefficient of variation of their payload") \
	V(S, NUMBER, NS, spacing_mean_ns, recorded, "spacing", "mean time from one of them to the next") \
	V(S, NUMBER, NONE, spacing_cov, recorded, "cov", "coefficient of variation of these times") \
	O(S, crossing_time, device_ns, always, "sent bytes: from the driver to the wire; received bytes: from the wire to the device") \
	O(S, crossing_time, call_ns, always, "the same bytes: from the call to the driver; from the device to the return of the call") \
	O(S, crossing_time, total_ns, always, "the sum of both, for each byte: from the call to the wire; from the wire to the return of the call")

#define MG_KNOWN_wire(S, K)
#define MG_FIGURES_wire(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, capture, always, "capture", "path of the capture") \
	V(S, COUNT, PACKETS, packets, always, "packets", "packets in the capture") \
	V(S, COUNT, PACKETS, found, always, "found", "those of them that are in the recording") \
	O(S, wire_clock, clock, always, "the capture's clock and the recording's") \
	L(S, wire_flow, flows, always, "flows that have packets in the capture")
/* clang-format on */

#endif
