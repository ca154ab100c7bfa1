/* SPDX-License-Identifier: MIT */
/*
 * The facts that the core establishes from a recording's events: one row a fact, with its columns.
 * The structs of listeners, the columns of `magnet show --facts` and the page magnet-facts(5) are
 * made from this table.
 *
 * C(F, TYPE, name, doc) is a column of the fact F; E(F, names, name, doc) one that is a word of a
 * list; A(F, names, count, name, doc) one column for each word, times. Types, and how they are kept
 * and printed:
 *
 *   TIME      cycles of the counter, 0 where it is not known; printed as ns of CLOCK_MONOTONIC
 *   SPAN      cycles, FACT_NONE where it is not known; printed as ns
 *   COUNT     a number or bytes, FACT_NONE where it is not known
 *   SIGNED    a number with a sign
 *   CPU       a CPU, -1 where it is not known
 *   FLAG      0 or 1
 *   MAYBE     0 or 1, FACT_MAYBE where it is not known
 *   FLOW      one direction of a socket, as "4097/tx"; empty if there is none
 *   FUNCTION  what was called: MG_FN_*, or FACT_SYSTEM_CALL | MG_SYS_*
 *   TEXT      a word; NULL is printed empty
 *   ADDRESS   address and port
 *
 * What is not known, or does not apply, is printed as nothing.
 */
#ifndef MAGNET_CORRELATE_FACTS_TABLE_H
#define MAGNET_CORRELATE_FACTS_TABLE_H

/* clang-format off */
#define MG_FACT_call(F, C, E, A) \
	C(F, TIME, begin, "when the program called the function; of a system call alone, when it entered the kernel") \
	C(F, TIME, end, "when the function, or else the system call, returned") \
	C(F, TIME, kernel_begin, "when its system call entered the kernel") \
	C(F, TIME, kernel_end, "when its system call left the kernel") \
	C(F, COUNT, pid, "process") \
	C(F, COUNT, tid, "thread") \
	C(F, FUNCTION, function, "the function of the C library, or the system call where libmagnet.so saw none") \
	E(F, fact_seen_by, seen_by, "which sides recorded it") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, FLOW, flow, "the flow whose bytes it moved; of another call on a socket, the direction that sends") \
	C(F, SIGNED, result, "what it returned; below 0, a system call's error") \
	C(F, COUNT, bytes, "payload it moved") \
	C(F, COUNT, offset, "the first of these bytes in the flow") \
	C(F, MAYBE, complete, "1: no event of what its thread did meanwhile is missing") \
	C(F, COUNT, blocked_times, "how often its thread left the CPU to wait") \
	C(F, SPAN, locked_out, "how long of `blocked` it waited for the socket's lock") \
	C(F, COUNT, events, "events recorded in its thread while it ran: what tracing cost it") \
	C(F, COUNT, waker_events, "events recorded by who ended its waits, before it was woken") \
	C(F, SPAN, logged, "time libmagnet.so took to record it, after it had ended") \
	E(F, fact_no_system_call, no_system_call, "of an application call: seen: it had one, or is of a kind that is not followed into the kernel; " \
		"lost: it may be among events that are missing; none: none was recorded") \
	A(F, fact_states, STATES, state, "time of the call in this state of its thread")

#define MG_FACT_range(F, C, E, A) \
	C(F, FLOW, flow, "whose bytes") \
	C(F, COUNT, offset, "the first byte") \
	C(F, COUNT, length, "so many bytes, which passed every layer together") \
	E(F, fact_outcomes, outcome, "followed: every time is known; sent_again: of which copy a time is, is not known; " \
		"undivided: the wait for earlier bytes cannot be told from TCP's work; incomplete: a time is missing") \
	C(F, TIME, begin, "sent bytes: the call; received ones: the device, or the first layer above it that is recorded") \
	C(F, SPAN, total, "until the last layer that is recorded had sent bytes, as a rule the driver; until the call returned with received ones") \
	A(F, fact_stages, STAGES_BOTH, stage, "time in this stage; the first five are of sent bytes; of datagrams ip_to_tcp ends in the socket's queue") \
	E(F, fact_reasons, why, "TCP, sent bytes: what held them in the send buffer last") \
	E(F, fact_releases, released_by, "and what let them go") \
	A(F, fact_reasons, WHYS, held, "TCP, sent bytes: time in the send buffer that is due to this") \
	C(F, COUNT, calls_end, "calls whose last byte is among these") \
	C(F, TIME, transmitted, "sent bytes: when the driver was asked to transmit them; where they were sent again, a copy of them") \
	C(F, SPAN, elapsed, "followed or sent_again: from the first time to the last, of whichever copy each is")

#define MG_FACT_packet(F, C, E, A) \
	C(F, TIME, time, "when it passed the layer") \
	C(F, FLOW, flow, "whose packet") \
	E(F, fact_layers, layer, "call and copy: one row a call, or a piece of one; tcp: handed to IP; queue: put into the qdisc; " \
		"in_order: what became readable at once") \
	C(F, COUNT, offset, "its first byte in the flow, where bytes have numbers") \
	C(F, COUNT, payload, "bytes of the flow") \
	C(F, COUNT, fresh, "of these, bytes that had not passed the layer before") \
	C(F, COUNT, packets, "segments, datagrams or fragments it stands for") \
	C(F, COUNT, wire, "bytes with headers, of all of them")

#define MG_FACT_wait(F, C, E, A) \
	C(F, TIME, begin, "when the thread left the CPU; empty: that was not seen") \
	C(F, TIME, woken, "when it was made runnable") \
	C(F, TIME, queued, "when it was on a run queue then, where that is recorded") \
	C(F, TIME, end, "when it ran again; empty: that was not seen") \
	C(F, COUNT, pid, "process") \
	C(F, COUNT, tid, "thread") \
	E(F, fact_waits, why, "blocked: it waited for something; preempted: others got its CPU") \
	C(F, FLAG, in_call, "1: within a system call on a socket") \
	C(F, COUNT, woken_by, "the socket whose bytes woke it, by its number") \
	C(F, CPU, cpu_before, "where it left the CPU, or had it last") \
	C(F, CPU, cpu_after, "where it ran again") \
	C(F, FLAG, complete, "1: its beginning, its end and its waking were seen, and no event of the scheduler is missing")

#define MG_FACT_switch(F, C, E, A) \
	C(F, TIME, time, "when") \
	C(F, CPU, cpu, "on which CPU") \
	C(F, COUNT, from, "thread that left it; 0: the idle task") \
	C(F, COUNT, to, "thread that got it; 0: the idle task")

#define MG_FACT_switch_cost(F, C, E, A) \
	C(F, TIME, time, "when") \
	C(F, CPU, cpu, "on which CPU") \
	C(F, COUNT, from, "thread that left it; 0: the idle task") \
	C(F, COUNT, to, "thread that got it; 0: the idle task") \
	C(F, COUNT, decide, "time to choose the next thread, ns") \
	C(F, COUNT, reload, "time to change to it, ns") \
	C(F, COUNT, interrupts, "interrupts in between, whose time is in the two")

#define MG_FACT_state(F, C, E, A) \
	C(F, TIME, time, "when it was recorded; each row holds what that event has, the rest is empty") \
	C(F, FLOW, flow, "the sending direction of the connection") \
	C(F, COUNT, srtt_us, "smoothed round-trip time, microseconds") \
	C(F, COUNT, rto_us, "retransmission timeout, microseconds") \
	C(F, COUNT, cwnd, "congestion window, segments") \
	C(F, COUNT, ssthresh, "slow start threshold, segments") \
	C(F, COUNT, snd_wnd, "window the peer offers, bytes") \
	C(F, COUNT, rcv_wnd, "window offered to the peer, bytes") \
	C(F, COUNT, pacing_rate, "pacing rate, bytes per second") \
	C(F, COUNT, notsent, "bytes in the send buffer that have not been sent") \
	C(F, COUNT, delivered, "segments the peer has, since the connection began") \
	C(F, COUNT, lost, "segments held to be lost now") \
	C(F, COUNT, busy_us, "time with something to send, microseconds since the connection began") \
	C(F, COUNT, rwnd_limited_us, "of it, held by the peer's window") \
	C(F, COUNT, sndbuf_limited_us, "of it, held by the send buffer's size") \
	C(F, TEXT, congestion, "state of congestion control it entered") \
	C(F, TEXT, algorithm, "congestion control in use") \
	C(F, COUNT, timeouts, "retransmission timeouts since the last row that has them") \
	C(F, MAYBE, own_window_zero, "1: the window offered to the peer closed; 0: it opened") \
	C(F, MAYBE, peer_window_zero, "1: the window the peer offers closed; 0: it opened") \
	C(F, MAYBE, reset_sent, "1: a reset was sent; 0: one was received") \
	C(F, TEXT, reset_reason, "why it was sent, where the kernel says so")

#define MG_FACT_flow(F, C, E, A) \
	C(F, FLOW, flow, "one direction of a socket") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, TIME, first, "the first event of it") \
	C(F, TIME, last, "the last event of it") \
	C(F, COUNT, pid, "process that used it last") \
	C(F, TEXT, program, "what that ran") \
	C(F, ADDRESS, local, "own address and port") \
	C(F, ADDRESS, remote, "the peer's address and port") \
	C(F, FLOW, peer, "the same bytes at the other end, where that is recorded too") \
	C(F, COUNT, netns, "inode number of its network namespace") \
	C(F, COUNT, bytes, "payload: sent by the program, or read by it") \
	C(F, COUNT, followed, "of these, bytes with every time") \
	C(F, COUNT, incomplete, "bytes of which a time is missing") \
	C(F, COUNT, calls, "calls that moved bytes") \
	C(F, COUNT, retransmits, "segments sent again") \
	C(F, COUNT, dropped, "segments or datagrams the kernel dropped")

#define MG_FACT_drop(F, C, E, A) \
	C(F, TIME, time, "when") \
	C(F, FLOW, flow, "whose packet; empty if its socket is not known") \
	C(F, FLAG, received, "1: on its way in") \
	C(F, TEXT, layer, "where in the stack, by the function's name") \
	C(F, TEXT, reason, "the kernel's reason") \
	C(F, TEXT, location, "the kernel function that dropped it") \
	C(F, COUNT, segments, "segments or datagrams it stood for") \
	C(F, COUNT, payload, "their payload") \
	C(F, COUNT, discarded, "of the segments, those without payload that TCP itself had no use for") \
	C(F, CPU, cpu, "where")

#define MG_FACT_retransmit(F, C, E, A) \
	C(F, TIME, time, "when") \
	C(F, FLOW, flow, "whose bytes") \
	C(F, COUNT, offset, "the first byte") \
	C(F, COUNT, length, "bytes") \
	C(F, COUNT, segments, "segments") \
	C(F, SIGNED, result, "0, or the error if it was not sent")

#define MG_FACT_resent(F, C, E, A) \
	C(F, FLOW, flow, "whose bytes") \
	C(F, COUNT, offset, "the first byte") \
	C(F, COUNT, length, "bytes") \
	C(F, TIME, begin, "when their first copy was handed to IP") \
	C(F, TIME, end, "when their last copy was")

#define MG_FACT_crossing(F, C, E, A) \
	C(F, FLOW, flow, "whose bytes, at the end that received them") \
	C(F, FLOW, sender, "the same bytes at the end that sent them") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, COUNT, offset, "the first byte, at the receiver; empty where one row has only a part of the times") \
	C(F, COUNT, length, "bytes") \
	C(F, TIME, begin, "when the sender called") \
	C(F, TIME, transmitted, "when the sender's driver was asked to transmit them") \
	C(F, TIME, arrived, "when the receiver's device had them; empty too if it is not known which copy that was") \
	C(F, TIME, end, "when the receiver's call returned")

#define MG_FACT_unsent(F, C, E, A) \
	C(F, FLOW, flow, "whose send buffer") \
	C(F, TIME, begin, "when its first unsent byte became the first") \
	C(F, TIME, end, "when that was handed to IP") \
	A(F, fact_reasons, WHYS, held, "time in which this held it")

#define MG_FACT_refusal(F, C, E, A) \
	C(F, FLOW, flow, "whose send buffer") \
	C(F, TIME, begin, "when the first call returned that was refused") \
	C(F, TIME, end, "when bytes were copied into it again; empty: that was not seen")

#define MG_FACT_zerocopy(F, C, E, A) \
	C(F, FLOW, flow, "whose bytes") \
	C(F, TIME, time, "when the kernel was done with the program's pages") \
	C(F, SPAN, held, "time since its call had returned") \
	C(F, FLAG, copied, "1: the kernel had copied them after all")

#define MG_FACT_mark(F, C, E, A) \
	C(F, TIME, time, "when the program set it") \
	C(F, COUNT, pid, "process") \
	C(F, COUNT, tid, "thread") \
	C(F, TEXT, name, "its name") \
	C(F, COUNT, id, "its identifier") \
	C(F, SIGNED, value, "its value") \
	C(F, FLOW, received, "the flow its thread had received from last") \
	C(F, COUNT, received_offset, "the first byte that call received") \
	C(F, COUNT, received_length, "bytes of that call") \
	C(F, FLOW, sent, "the flow its thread sent into next") \
	C(F, COUNT, sent_offset, "the first byte that call sent") \
	C(F, COUNT, sent_length, "bytes of that call")

#define MG_FACT_loss(F, C, E, A) \
	C(F, TIME, begin, "events are missing since then") \
	C(F, TIME, end, "and until then") \
	C(F, TEXT, reason, "why") \
	C(F, TEXT, producer, "which part of magnet, or of LTTng, lacks them") \
	C(F, CPU, cpu, "on which CPU; empty: on any") \
	C(F, COUNT, events, "how many") \
	C(F, TEXT, layers, "of which layers, with commas")

/* F(name, doc): the order is that of the manual */
#define MG_FACTS(F) \
	F(call, "A call of the program, or a system call on a socket that libmagnet.so did not see.") \
	F(range, "Bytes of a flow that passed every layer together, with the time they took from one to the next. " \
		"Bytes of which nothing was seen but that they exist have none: see `incomplete` of `flow`.") \
	F(packet, "A packet, or what a layer handles as one, as it passed the layer.") \
	F(wait, "A time that a traced thread was not on a CPU.") \
	F(switch, "A context switch on a CPU that has a traced thread on one side.") \
	F(switch_cost, "What a context switch took, where that is recorded (--layers +switch).") \
	F(state, "A sample of a TCP connection's state.") \
	F(flow, "One direction of a socket, as the recording ends.") \
	F(drop, "A packet that the kernel dropped.") \
	F(retransmit, "A segment that TCP sent again, but for answers to a SYN.") \
	F(resent, "Bytes that were handed to IP more than once.") \
	F(crossing, "Bytes that both ends of a connection recorded, or of a message.") \
	F(unsent, "A time that the first unsent byte of a connection spent in the send buffer.") \
	F(refusal, "A time in which a send buffer was full and calls were refused (EAGAIN).") \
	F(zerocopy, "A send with MSG_ZEROCOPY whose pages the kernel gave back.") \
	F(mark, "A point that the program marked.") \
	F(loss, "A time in which events are missing.")
/* clang-format on */

#endif
