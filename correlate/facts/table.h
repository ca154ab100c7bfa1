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
 *   TIME      cycles of the counter, 0 if unknown; printed as ns of CLOCK_MONOTONIC
 *   SPAN      cycles, FACT_NONE if unknown; printed as ns
 *   COUNT     a number or bytes, FACT_NONE if unknown
 *   SIGNED    a number with a sign
 *   CPU       a CPU, -1 if unknown
 *   FLAG      0 or 1
 *   MAYBE     0 or 1, FACT_MAYBE if unknown
 *   FLOW      one direction of a socket, as "4097/tx"; empty if there is none
 *   FUNCTION  what was called: MG_FN_*, or FACT_SYSTEM_CALL | MG_SYS_*
 *   TEXT      a word; NULL is printed empty
 *   ADDRESS   address and port
 *
 * Values that are unknown, or do not apply, are printed as empty fields.
 */
#ifndef MAGNET_CORRELATE_FACTS_TABLE_H
#define MAGNET_CORRELATE_FACTS_TABLE_H

/* clang-format off */
#define MG_FACT_call(F, C, E, A) \
	C(F, TIME, begin, "when the program called the function; for a system call alone, when it entered the kernel") \
	C(F, TIME, end, "when the function, or else the system call, returned") \
	C(F, TIME, kernel_begin, "when the system call entered the kernel") \
	C(F, TIME, kernel_end, "when the system call left the kernel") \
	C(F, COUNT, pid, "process") \
	C(F, COUNT, tid, "thread") \
	C(F, FUNCTION, function, "function of the C library, or the system call if libmagnet.so recorded none") \
	E(F, fact_seen_by, seen_by, "sides of the recording that have it") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, FLOW, flow, "flow whose bytes it moved; for other calls on a socket, the direction that sends") \
	C(F, SIGNED, result, "return value; below 0, a system call's error") \
	C(F, COUNT, bytes, "payload it moved") \
	C(F, COUNT, offset, "offset of the first of these bytes in the flow") \
	C(F, MAYBE, complete, "1: no event of its thread is missing during the call") \
	C(F, COUNT, blocked_times, "number of times its thread left the CPU to wait") \
	C(F, SPAN, locked_out, "part of `blocked` in which it waited for the socket's lock") \
	C(F, COUNT, events, "events recorded in its thread during the call, which are its tracing overhead") \
	C(F, COUNT, waker_events, "events recorded on the waker's CPU before the wakeups that ended its waits") \
	C(F, SPAN, logged, "time libmagnet.so took to record it after its end") \
	E(F, fact_no_system_call, no_system_call, "application call only: seen: it has one, or is of a kind that is not followed into the kernel; " \
		"lost: its system call may be among the missing events; none: none was recorded") \
	A(F, fact_states, STATES, state, "time of the call in this state")

#define MG_FACT_range(F, C, E, A) \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, offset, "offset of the first byte") \
	C(F, COUNT, length, "number of bytes, which passed every layer together") \
	E(F, fact_outcomes, outcome, "followed: every timestamp is known; sent_again: timestamps may be of different copies; " \
		"undivided: the wait for earlier bytes cannot be separated from TCP's processing; incomplete: a timestamp is missing") \
	C(F, TIME, begin, "sent bytes: time of the call; received bytes: time at the device, or at the first recorded layer above it") \
	C(F, SPAN, total, "sent bytes: until the last recorded layer, as a rule the driver; received bytes: until the call returned") \
	A(F, fact_stages, STAGES_BOTH, stage, "time in this stage; the first five stages are those of sent bytes; for datagrams ip_to_tcp ends in the socket's queue") \
	E(F, fact_reasons, why, "TCP, sent bytes: the last reason that held them in the send buffer") \
	E(F, fact_releases, released_by, "TCP, sent bytes: the event that released them from the send buffer") \
	A(F, fact_reasons, WHYS, held, "TCP, sent bytes: time in the send buffer due to this reason") \
	C(F, COUNT, calls_end, "calls whose last byte is among these") \
	C(F, TIME, transmitted, "sent bytes: when the driver was asked to transmit them; where they were sent again, a copy of them") \
	C(F, SPAN, elapsed, "followed or sent_again: from the first time to the last, of whichever copy each is")

#define MG_FACT_packet(F, C, E, A) \
	C(F, TIME, time, "time at which it passed the layer") \
	C(F, FLOW, flow, "flow of the packet") \
	E(F, fact_layers, layer, "call and copy: one row for each call, or piece of one; tcp: handed to IP; queue: put into the qdisc; " \
		"in_order: the bytes that became readable together") \
	C(F, COUNT, offset, "offset of its first byte in the flow, if bytes have sequence numbers") \
	C(F, COUNT, payload, "bytes of the flow") \
	C(F, COUNT, fresh, "those of them that had not passed the layer before") \
	C(F, COUNT, packets, "segments, datagrams or fragments that it stands for") \
	C(F, COUNT, wire, "bytes of all of them with headers")

#define MG_FACT_wait(F, C, E, A) \
	C(F, TIME, begin, "when the thread left the CPU; empty if not recorded") \
	C(F, TIME, woken, "when it was made runnable") \
	C(F, TIME, queued, "when it was on a run queue after that, if recorded") \
	C(F, TIME, end, "when it ran again; empty if not recorded") \
	C(F, COUNT, pid, "process") \
	C(F, COUNT, tid, "thread") \
	E(F, fact_waits, why, "blocked: it waited for an event; preempted: another thread got its CPU") \
	C(F, FLAG, in_call, "1: within a system call on a socket") \
	C(F, COUNT, woken_by, "number of the socket whose bytes woke it") \
	C(F, CPU, cpu_before, "CPU that it left or last ran on") \
	C(F, CPU, cpu_after, "CPU on which it ran again") \
	C(F, FLAG, complete, "1: its beginning, its end and its wakeup were recorded, and no event of the scheduler is missing")

#define MG_FACT_switch(F, C, E, A) \
	C(F, TIME, time, "time") \
	C(F, CPU, cpu, "CPU") \
	C(F, COUNT, from, "thread that left it; 0: the idle task") \
	C(F, COUNT, to, "thread that got it; 0: the idle task")

#define MG_FACT_switch_cost(F, C, E, A) \
	C(F, TIME, time, "time") \
	C(F, CPU, cpu, "CPU") \
	C(F, COUNT, from, "thread that left it; 0: the idle task") \
	C(F, COUNT, to, "thread that got it; 0: the idle task") \
	C(F, COUNT, decide, "time to choose the next thread, ns") \
	C(F, COUNT, reload, "time to change to it, ns") \
	C(F, COUNT, interrupts, "interrupts in between; their time is included")

#define MG_FACT_state(F, C, E, A) \
	C(F, TIME, time, "time of the event; each row has the columns of its event, the others are empty") \
	C(F, FLOW, flow, "the sending direction of the connection") \
	C(F, COUNT, srtt_us, "smoothed round-trip time, microseconds") \
	C(F, COUNT, rto_us, "retransmission timeout, microseconds") \
	C(F, COUNT, cwnd, "congestion window, segments") \
	C(F, COUNT, ssthresh, "slow start threshold, segments") \
	C(F, COUNT, snd_wnd, "window the peer offers, bytes") \
	C(F, COUNT, rcv_wnd, "window offered to the peer, bytes") \
	C(F, COUNT, pacing_rate, "pacing rate, bytes per second") \
	C(F, COUNT, notsent, "bytes in the send buffer that have not been sent") \
	C(F, COUNT, delivered, "segments delivered to the peer since the connection began") \
	C(F, COUNT, lost, "segments presumed lost now") \
	C(F, COUNT, busy_us, "time with data to send, microseconds since the connection began") \
	C(F, COUNT, rwnd_limited_us, "part of it in which the peer's window limited sending") \
	C(F, COUNT, sndbuf_limited_us, "part of it in which the send buffer's size limited sending") \
	C(F, TEXT, congestion, "state that congestion control entered") \
	C(F, TEXT, algorithm, "congestion control in use") \
	C(F, COUNT, timeouts, "retransmission timeouts since the last row with this column") \
	C(F, MAYBE, own_window_zero, "1: the window offered to the peer closed; 0: it opened") \
	C(F, MAYBE, peer_window_zero, "1: the window the peer offers closed; 0: it opened") \
	C(F, MAYBE, reset_sent, "1: a reset was sent; 0: one was received") \
	C(F, TEXT, reset_reason, "reason of a reset that was sent, if the kernel reports it")

#define MG_FACT_flow(F, C, E, A) \
	C(F, FLOW, flow, "one direction of a socket") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, TIME, first, "its first event") \
	C(F, TIME, last, "its last event") \
	C(F, COUNT, pid, "process that used the socket last") \
	C(F, TEXT, program, "name of the program of that process") \
	C(F, ADDRESS, local, "own address and port") \
	C(F, ADDRESS, remote, "the peer's address and port") \
	C(F, FLOW, peer, "flow of the same bytes at the other end, if that is recorded too") \
	C(F, COUNT, netns, "inode number of its network namespace") \
	C(F, COUNT, bytes, "payload sent or read by the program") \
	C(F, COUNT, followed, "those of them with every timestamp") \
	C(F, COUNT, incomplete, "bytes that lack a timestamp") \
	C(F, COUNT, calls, "calls that moved bytes") \
	C(F, COUNT, retransmits, "segments sent again") \
	C(F, COUNT, dropped, "segments or datagrams the kernel dropped")

#define MG_FACT_drop(F, C, E, A) \
	C(F, TIME, time, "time") \
	C(F, FLOW, flow, "flow of the packet; empty if its socket is unknown") \
	C(F, FLAG, received, "1: on its way to the socket") \
	C(F, TEXT, layer, "layer, by the name of the function") \
	C(F, TEXT, reason, "the kernel's reason") \
	C(F, TEXT, location, "the kernel function that dropped it") \
	C(F, COUNT, segments, "segments or datagrams that it stood for") \
	C(F, COUNT, payload, "their payload") \
	C(F, COUNT, discarded, "those of the segments without payload that TCP itself discarded") \
	C(F, CPU, cpu, "CPU on which it was dropped")

#define MG_FACT_retransmit(F, C, E, A) \
	C(F, TIME, time, "time") \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, offset, "offset of the first byte") \
	C(F, COUNT, length, "bytes") \
	C(F, COUNT, segments, "segments") \
	C(F, SIGNED, result, "0, or the error if it was not sent")

#define MG_FACT_resent(F, C, E, A) \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, offset, "offset of the first byte") \
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
	C(F, FLOW, flow, "flow of the bytes") \
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
	C(F, FLOW, received, "flow from which its thread had received last") \
	C(F, COUNT, received_offset, "offset of the first byte that call received") \
	C(F, COUNT, received_length, "bytes of that call") \
	C(F, FLOW, sent, "flow into which its thread sent next") \
	C(F, COUNT, sent_offset, "offset of the first byte that call sent") \
	C(F, COUNT, sent_length, "bytes of that call")

#define MG_FACT_loss(F, C, E, A) \
	C(F, TIME, begin, "begin of the interval in which events are missing") \
	C(F, TIME, end, "end of that interval") \
	C(F, TEXT, reason, "reason") \
	C(F, TEXT, producer, "part of magnet, or of LTTng, that lost them") \
	C(F, CPU, cpu, "CPU; empty if any") \
	C(F, COUNT, events, "number of missing events") \
	C(F, TEXT, layers, "their layers, separated by commas")

/* F(name, doc): the order is that of the manual */
#define MG_FACTS(F) \
	F(call, "A call of the program, or a system call on a socket that libmagnet.so did not record.") \
	F(range, "Bytes of a flow that passed every layer together, with the time in each stage. " \
		"Bytes of which only the existence was recorded have no row: see `incomplete` of `flow`.") \
	F(packet, "A packet, or whatever a layer handles as one, passing that layer.") \
	F(wait, "An interval in which a traced thread was not on a CPU.") \
	F(switch, "A context switch on a CPU that has a traced thread on one side.") \
	F(switch_cost, "The duration of a context switch, if recorded (--layers +switch).") \
	F(state, "A sample of a TCP connection's state.") \
	F(flow, "One direction of a socket, at the end of the recording.") \
	F(drop, "A packet that the kernel dropped.") \
	F(retransmit, "A segment that TCP sent again, except for answers to a SYN.") \
	F(resent, "Bytes that were handed to IP more than once.") \
	F(crossing, "Bytes that both ends of a connection recorded, or of a message.") \
	F(unsent, "A time that the first unsent byte of a connection spent in the send buffer.") \
	F(refusal, "A time in which a send buffer was full and calls were refused (EAGAIN).") \
	F(zerocopy, "A send with MSG_ZEROCOPY whose pages the kernel gave back.") \
	F(mark, "A point that the program marked.") \
	F(loss, "An interval in which events are missing.")
/* clang-format on */

#endif
