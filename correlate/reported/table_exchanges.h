/* SPDX-License-Identifier: MIT */
/* Figures of requests and replies: rows of the table of figures. */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_EXCHANGES_H
#define MAGNET_CORRELATE_REPORTED_TABLE_EXCHANGES_H

/* clang-format off */
#define MG_KNOWN_exchange_time(S, K)
#define MG_FIGURES_exchange_time(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, n, always, "n", "exchanges of which this time is known") \
	P(S, spread, always) \
	P(S, longest, always)

#define MG_PROGRAM_KEY(S, V) \
	V(S, TEXT, NONE, part, always, "part", "on_cpu, run_queue, blocked, undivided, handed_over or unknown, as in the fact in_program") \
	V(S, TEXT, NONE, in, recorded, "in", "blocked, undivided: system_call, page_fault, kernel or stopped; unknown: not_recorded, lost, " \
		"forgotten or unseen") \
	V(S, TEXT, NONE, call, recorded, "call", "the system call in which it was blocked") \
	V(S, TEXT, NONE, remote, recorded, "for", "the peer that it waited for") \
	V(S, FLAG, NONE, io, recorded, "disk", "whether the kernel counts it as waiting for a disk")

#define MG_KNOWN_program_part(S, K)
#define MG_FIGURES_program_part(S, V, O, L, W, T, P) \
	MG_PROGRAM_KEY(S, V) \
	V(S, COUNT, NONE, exchanges, always, "exchanges", "exchanges with this part") \
	V(S, NUMBER, NS, total_ns, always, "in all", "sum of it") \
	V(S, NUMBER, NS, max_ns, always, "max", "longest of one thread in one exchange") \
	V(S, NUMBER, SHARE, share, always, "share", "of the time in the program of all exchanges of which it is divided") \
	V(S, NUMBER, SHARE, share_p50, always, "p50", "share of it in the exchanges about as long as the median") \
	V(S, NUMBER, SHARE, share_p99, always, "p99", "share of it in the longest: from the 99th percentile on, or the largest that has " \
		"ten beyond it; with fewer than 20 exchanges, those about as long as the longest")

#define MG_KNOWN_program_time(S, K)
#define MG_FIGURES_program_time(S, V, O, L, W, T, P) \
	MG_PROGRAM_KEY(S, V) \
	V(S, COUNT, NONE, tid, recorded, "thread", "the thread; null if there were several") \
	V(S, NUMBER, NS, ns, always, "time", "time in this part")

#define MG_KNOWN_time_bin(S, K)
#define MG_FIGURES_time_bin(S, V, O, L, W, T, P) \
	V(S, NUMBER, NS, from_ns, always, "from", "the shortest time in the bin") \
	V(S, NUMBER, NS, to_ns, always, "shorter than", "its end, which is no longer in it") \
	V(S, COUNT, NONE, n, always, "n", "exchanges, or calls") \
	V(S, NUMBER, SHARE, below, always, "CDF", "share of all with a time below the end: the distribution function")

#define MG_KNOWN_cause(S, K)
#define MG_FIGURES_cause(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, at, always, "at", "\"client\", \"server\", or \"network\"") \
	V(S, TEXT, NONE, cause, always, "cause", "name of the cause; method.md lists them") \
	V(S, NUMBER, NS, mean_ns, always, "time", "mean time due to it") \
	V(S, NUMBER, SHARE, share, always, "share", "its part of the whole time")

#define MG_KNOWN_answer_column(S, K)
#define MG_FIGURES_answer_column(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, title, always, "exchanges", "\"median\": exchanges about as long as it; \"slowest 1 %\", or a larger " \
		"part if that were fewer than ten; \"slowest\", alone if there is one") \
	V(S, NUMBER, NONE, from, always, "from", "quantile of the first of them") \
	V(S, NUMBER, NONE, to, always, "to", "quantile of the last of them") \
	V(S, COUNT, NONE, n, always, "n", "number of exchanges; where some of those that are in one eighth of a doubling of the time do " \
		"not belong to them, each counts with the mean of these") \
	V(S, NUMBER, NS, mean_ns, always, "time", "mean of the whole time: server: from the arrival of the request's last byte until the reply " \
		"had left; client: from the call that wrote the request's first byte until the reply's last byte was read") \
	L(S, cause, causes, always, "what took it, the largest first; they sum to it")

#define MG_KNOWN_exchange_group(S, K) \
	K(S, closings, "magnet's own kernel side was recorded, with another layer than those of the scheduler")
#define MG_FIGURES_exchange_group(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, role, always, "role", "\"server\": the program was asked; \"client\": it asked") \
	V(S, TEXT, NONE, proto, always, "kind", "kind of socket") \
	V(S, TEXT, NONE, comm, recorded, "program", "name of the program") \
	V(S, TEXT, NONE, address, recorded, "server's address", "of a client: the server's address and port") \
	V(S, COUNT, NONE, port, recorded, "server's port", "port of the server") \
	V(S, COUNT, NONE, answered, always, "exchanges", "requests with a reply") \
	V(S, COUNT, NONE, unanswered, always, "without a reply", "requests that had no reply when the connection or the recording ended") \
	O(S, exchange_time, unanswered_ns, closings, "of those of TCP, from the request's last byte until the end that might have replied closed " \
		"its direction, the socket was closed, or the recording ended (method.md, Exchanges)") \
	V(S, NUMBER, NS, unanswered_total_ns, closings, "in all", "sum of these times") \
	V(S, NUMBER, NS, in_requests_ns, always, "in requests", "sum of the times from requests' first byte to their last, as the program read or " \
		"wrote them, of those with a reply") \
	V(S, COUNT, NONE, unasked, always, "without a request", "replies without a request before them, as a server's greeting") \
	V(S, COUNT, NONE, unsure, always, "uncertain", "exchanges of which it is not certain which bytes belong together, or of " \
		"which calls may be missing: they have no times") \
	V(S, COUNT, NONE, role_assumed, always, "role assumed", "exchanges whose role is a guess: neither events nor TCP's counters tell " \
		"who is the server, so a port on which another connection was accepted was taken, the lower port, or who reads first") \
	V(S, COUNT, NONE, pipelined, always, "pipelined", "of a server: requests that had arrived before the reply before them was begun") \
	V(S, COUNT, NONE, half_closed, always, "ended by the client", "requests that ended with the client's direction of the connection") \
	V(S, COUNT, BYTES, request_bytes, always, "requests", "bytes of all requests") \
	V(S, COUNT, BYTES, reply_bytes, always, "replies", "bytes of all replies") \
	O(S, exchange_time, to_reply_ns, always, "server: from the arrival of the request's last byte at the device until the driver had the " \
		"reply's first byte; client: from the call that wrote the request's last byte until the reply's first byte was read") \
	O(S, exchange_time, request_way_ns, always, "part of it until the server's program had the request; of a client if the server is recorded, too") \
	O(S, exchange_time, in_program_ns, always, "part of it in the server's program, likewise") \
	O(S, exchange_time, reply_way_ns, always, "the rest") \
	L(S, time_bin, to_reply_histogram, always, "how many exchanges took how long to the reply; empty bins are left out") \
	L(S, time_bin, in_program_histogram, always, "how many took how long in the program, likewise") \
	L(S, program_part, program_parts, always, "server: what became of the time in the program, the longest part first; they sum to it") \
	L(S, program_part, before_read_parts, always, "what the threads that read requests at the server, or replies at the client, did from " \
		"their arrival until they were read, likewise; of requests that waited an eighth of the time until the reply, " \
		"or longer, and of replies that waited a quarter of it") \
	L(S, program_part, during_reply_parts, always, "what the threads that wrote replies at the server, or read them at the client, did from " \
		"the first of these calls to the last, likewise, without waits for the other end, where that has an address; of replies for which that is a quarter " \
		"of the time since the request's arrival, or longer, and at the client since it was sent") \
	L(S, answer_column, answer, always, "where the whole time went, of typical, slow and the slowest exchanges")

#define MG_KNOWN_slow_exchange(S, K)
#define MG_FIGURES_slow_exchange(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, role, always, "role", "whose end this is; the client's if both are recorded") \
	V(S, TEXT, NONE, proto, always, "kind", "kind of socket") \
	V(S, TEXT, NONE, comm, recorded, "program", "name of the program") \
	V(S, TEXT, NONE, local, recorded, "local", "own address and port") \
	V(S, TEXT, NONE, remote, recorded, "peer", "the peer's address and port") \
	V(S, TEXT, NONE, request, always, "request", "flow of the request") \
	V(S, TEXT, NONE, reply, always, "reply", "flow of the reply") \
	V(S, COUNT, NONE, ordinal, always, "number", "its number on this socket, from 0") \
	V(S, COUNT, BYTES, request_offset, always, "request at", "offset of the request's first byte") \
	V(S, COUNT, BYTES, request_bytes, always, "request", "bytes of the request") \
	V(S, COUNT, BYTES, reply_offset, always, "reply at", "offset of the reply's first byte") \
	V(S, COUNT, BYTES, reply_bytes, always, "reply", "bytes of the reply") \
	V(S, COUNT, NONE, request_tid, always, "thread", "thread that read, or wrote, the request's last byte") \
	V(S, COUNT, NONE, reply_tid, always, "thread", "thread that wrote, or read, the reply's first byte") \
	V(S, COUNT, NS, time_ns, always, "at", "when that call returned, or began (CLOCK_MONOTONIC)") \
	V(S, NUMBER, NS, whole_ns, always, "whole time", "as of `answer`, by which they are sorted; the time to the reply if it is not known") \
	V(S, NUMBER, NS, to_reply_ns, recorded, "to the reply", "as of all exchanges") \
	V(S, NUMBER, NS, request_way_ns, recorded, "request's way", "likewise") \
	V(S, NUMBER, NS, in_program_ns, recorded, "in the program", "likewise") \
	V(S, NUMBER, NS, reply_way_ns, recorded, "reply's way", "likewise") \
	L(S, program_time, program_parts, always, "what became of the time in the server's program, the longest part first; they sum to it") \
	L(S, cause, causes, always, "what took the whole time, the largest first; empty if it is not known")

#define MG_KNOWN_slow_stage(S, K)
#define MG_FIGURES_slow_stage(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, stage, always, "stage", "name of the stage") \
	V(S, NUMBER, NS, ns, always, "time", "time of these bytes in the stage")

#define MG_KNOWN_slow_range(S, K)
#define MG_FIGURES_slow_range(S, V, O, L, W, T, P) \
	V(S, TEXT, NONE, flow, always, "flow", "flow of the bytes") \
	V(S, COUNT, BYTES, offset, always, "at", "offset of the first byte") \
	V(S, COUNT, BYTES, length, always, "bytes", "their number") \
	V(S, COUNT, NS, time_ns, always, "at", "when the call began that sent them, or a device, or the first layer " \
		"that saw them, had them (CLOCK_MONOTONIC)") \
	V(S, NUMBER, NS, total_ns, always, "total", "time in all stages, by which they are sorted") \
	V(S, TEXT, NONE, why, recorded, "why", "sent bytes: the last reason that held them in the send buffer") \
	L(S, slow_stage, stages, always, "their stages, which sum to the total")

#define MG_KNOWN_flow_exchanges(S, K)
#define MG_FIGURES_flow_exchanges(S, V, O, L, W, T, P) \
	V(S, COUNT, NONE, answered, always, "exchanges", "requests with a reply") \
	V(S, COUNT, NONE, unanswered, always, "without a reply", "requests that had no reply when the connection or the recording ended") \
	V(S, COUNT, NONE, unasked, always, "without a request", "replies without a request before them") \
	V(S, COUNT, NONE, unsure, always, "uncertain", "exchanges without times, as of all") \
	O(S, exchange_time, to_reply_ns, always, "as of all exchanges of a port or peer") \
	O(S, exchange_time, in_program_ns, always, "likewise")
/* clang-format on */

#endif
