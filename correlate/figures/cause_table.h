/* SPDX-License-Identifier: MIT */
/*
 * The causes of an exchange's time, X(ID, name, label, remedy). The label follows its
 * share of the time; the remedy is a sentence, or empty if none is known.
 */
#ifndef MAGNET_CORRELATE_FIGURES_CAUSE_TABLE_H
#define MAGNET_CORRELATE_FIGURES_CAUSE_TABLE_H

/* clang-format off */
#define MG_CAUSES(X) \
	X(NOT_KNOWN, "not_known",   "not known", "") \
	X(NAGLE,     "nagle",       "Nagle's algorithm waited for an ACK", \
		"Set TCP_NODELAY, or write each message with one call.") \
	X(WINDOW,    "peer_window", "the peer's receive window was full", \
		"The peer reads too slowly, or its receive buffer (SO_RCVBUF) is too small.") \
	X(CWND,      "cwnd",        "the congestion window was full", \
		"TCP waits for acknowledgements: a slow link, a long path, a young connection, or losses.") \
	X(CORK,      "cork",        "corked by the program (TCP_CORK, MSG_MORE)", \
		"Clear TCP_CORK, or leave out MSG_MORE, at the end of each message.") \
	X(AUTOCORK,  "autocork",    "autocorking waited for the device", \
		"The device or its queue is slow; net.ipv4.tcp_autocorking turns it off.") \
	X(TSQ,       "tsq",         "TCP small queues (the device's queue has enough)", \
		"The link, or a rate limit on it, is slower than the program.") \
	X(PACING,    "pacing",      "pacing held segments back", \
		"The pacing rate limits sending. Congestion control sets it from the rate it measures, or the program by " \
		"SO_MAX_PACING_RATE.") \
	X(BUFFER,    "send_buffer", "held in the send buffer, not known why", "") \
	X(QDISC,     "qdisc",       "waiting in the device's queue (qdisc)", \
		"The link, or a rate limit on it, is slower than the program.") \
	X(LOST,      "lost",        "waiting for a retransmission", \
		"Packets were lost: see the drops and retransmissions below.") \
	X(STACK,     "stack",       "in the kernel's stack", "") \
	X(AWAY,      "away",        "network, or the peer, which is not recorded", \
		"Record the peer too, to divide this time.") \
	X(NETWORK,   "network",     "network", "") \
	X(ORDER,     "order",       "waiting for missing bytes (head of line)", \
		"Packets were lost or reordered on the way here.") \
	X(READER,    "reader",      "data were there, but were not read", \
		"The reader did something else, slept, or waited for a CPU: read sooner, or with more workers.") \
	X(RUN_QUEUE, "run_queue",   "waiting for a CPU", \
		"The CPUs are busy with other threads: see the scheduler below.") \
	X(RECEIVE,   "receive",     "kernel's receive path (stack, wakeup, copy and return)", "") \
	X(PROGRAM,   "program",     "the program itself", "") \
	X(WRITING,   "writing",     "the program, from its first to its last write", "") \
	X(ARRIVING,  "arriving",    "the rest of the reply was arriving", "")
/* clang-format on */

#define MG_CAUSE_ID(ID, name, label, remedy) CAUSE_##ID,
enum cause { MG_CAUSES(MG_CAUSE_ID) CAUSES };
#undef MG_CAUSE_ID

#endif
