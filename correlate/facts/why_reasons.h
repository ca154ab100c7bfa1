/* SPDX-License-Identifier: MIT */
/* Causes that hold sent bytes in the send buffer, and what releases them (method, "Residence"). */
#ifndef MAGNET_CORRELATE_WHY_REASONS_H
#define MAGNET_CORRELATE_WHY_REASONS_H

/* clang-format off */
#define MG_WHY_REASONS(X) \
	X(NOT_KNOWN, "not_known", "not known why") \
	X(IMMEDIATE, "immediate", "sent at once") \
	X(WINDOW,    "window",    "the peer's window") \
	X(CWND,      "cwnd",      "congestion window") \
	X(NAGLE,     "nagle",     "Nagle's algorithm") \
	X(CORK,      "cork",      "corked by the program") \
	X(AUTOCORK,  "autocork",  "autocorking") \
	X(TSQ,       "tsq",       "TCP small queues") \
	X(PACING,    "pacing",    "pacing")
#define MG_WHY_RELEASES(X) \
	X(NOT_KNOWN,  "not_known",     "") \
	X(OWN_CALL,   "own_call",      "") \
	X(LATER_CALL, "later_call",    "until a later call") \
	X(ACK,        "ack",           "until an ACK") \
	X(TX_DONE,    "tx_completion", "until the device was done with others") \
	X(PACER,      "pacing_timer",  "") \
	X(TIMER,      "timer",         "until a timer of TCP's")
/* clang-format on */
#define MG_WHY_ID(ID, name, label)     WHY_##ID,
#define MG_RELEASE_ID(ID, name, label) RELEASE_##ID,
enum why_reason { MG_WHY_REASONS(MG_WHY_ID) WHYS };
enum why_release { MG_WHY_RELEASES(MG_RELEASE_ID) RELEASES };

#endif
