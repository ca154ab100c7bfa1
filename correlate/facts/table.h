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
 *   FUNCTION  what was called: MG_FN_*, or FACT_SYSTEM_CALL | MG_SYS_*; FACT_NO_FUNCTION: nothing
 *   TEXT      a word; NULL is printed empty
 *   NS        ns of CLOCK_MONOTONIC, 0 if unknown
 *   NUMBER    a number with a fraction; NAN if unknown
 *   EVENTS    a set of events; printed with commas between their names
 *   LAYERS    layers as bits 1 << enum mg_layer; printed likewise
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
	C(F, SIGNED, result, "return value, also of a call that moved nothing (MSG_PEEK); below 0, a system call's error") \
	C(F, COUNT, bytes, "payload it moved; 0 with MSG_PEEK and MSG_ERRQUEUE") \
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
	C(F, TIME, transmitted, "sent bytes: when the driver was asked to transmit them; where they were sent again, a copy of them; " \
		"received bytes that came again before they could be read: when TCP first had them, if that was a later copy") \
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
	C(F, TEXT, program, "name of its program") \
	E(F, fact_waits, why, "blocked: it waited for an event; preempted: another thread got its CPU; throttled: it could run, but its cgroup had " \
		"used up its CPU quota") \
	C(F, FLAG, in_call, "1: within a system call on a socket") \
	E(F, fact_blocked_in, blocked_in, "blocked: what it did: system_call; page_fault: a page fault, or other work of the kernel " \
		"on its way back from an exception or interrupt; kernel: it is a thread of the kernel; stopped: by a signal or " \
		"debugger; empty: not recorded") \
	C(F, TEXT, call, "name of that system call, or its number") \
	C(F, COUNT, descriptor, "descriptor that the call names first, if it takes one") \
	C(F, MAYBE, io, "1: the kernel counts it as waiting for a disk") \
	C(F, COUNT, socket, "number of the socket that the call is on") \
	C(F, ADDRESS, remote, "peer of that socket; of a call that waits for several (epoll_wait, poll, select), peer of the one " \
		"whose bytes woke it") \
	C(F, COUNT, woken_by, "number of the socket whose bytes woke it") \
	C(F, COUNT, waker, "thread that woke it, if it is traced and did so itself, not an interrupt on top of it") \
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

/*
 * How the core makes these of TCP's events: for each event V(column, value, known), where `p` is
 * its payload and `s` the connection. Where not `known`, the column is empty. A text that ends at
 * its array's end has none behind it: TERMINATED() adds it.
 */
#define MG_STATE_tcp_state(V) \
	V(srtt_us, p->srtt_us, p->srtt_us) \
	V(rto_us, p->rto_us, true) \
	V(cwnd, p->snd_cwnd, true) \
	V(ssthresh, p->snd_ssthresh, true) \
	V(snd_wnd, p->snd_wnd, s->state != MG_TCP_SYN_SENT) \
	V(rcv_wnd, p->rcv_wnd, s->state != MG_TCP_SYN_SENT)
#define MG_STATE_tcp_more(V) \
	V(pacing_rate, p->pacing_rate, p->pacing_rate != UINT64_MAX) \
	V(notsent, p->notsent, true) \
	V(delivered, p->delivered, true) \
	V(lost, p->lost, true)
#define MG_STATE_tcp_limits(V) \
	V(busy_us, p->busy_us, true) \
	V(rwnd_limited_us, p->rwnd_limited_us, true) \
	V(sndbuf_limited_us, p->sndbuf_limited_us, true)
#define MG_STATE_tcp_algorithm(V) V(algorithm, TERMINATED(p->name), true)
#define MG_STATE_tcp_cong(V)      V(congestion, mg_ca_state_name(p->now), true)
#define MG_STATE_tcp_timeout(V)   V(timeouts, p->count, true)
#define MG_STATE_tcp_window(V) \
	V(own_window_zero, p->closed != 0, p->own) \
	V(peer_window_zero, p->closed != 0, !p->own)
#define MG_STATE_tcp_reset(V) \
	V(reset_sent, p->sent != 0, true) \
	V(reset_reason, mg_reset_name(p->reason), p->reason)
#define MG_STATE_stamp_send(V) \
	V(srtt_us, p->srtt_us, p->srtt_us) \
	V(cwnd, p->cwnd, true) \
	V(snd_wnd, p->snd_wnd, true)
#define MG_STATE_EVENTS(S) \
	S(stamp_send) S(tcp_state) S(tcp_more) S(tcp_limits) S(tcp_algorithm) S(tcp_cong) S(tcp_timeout) S(tcp_window) S(tcp_reset)

#define MG_FACT_buffer(F, C, E, A) \
	C(F, TIME, time, "time") \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, bytes, "sent bytes: written and not acknowledged; received bytes: in order, and not read by the program") \
	C(F, COUNT, unsent, "sent bytes: those of them that were not sent yet")

#define MG_FACT_ack(F, C, E, A) \
	C(F, FLOW, flow, "flow whose bytes are acknowledged, at the end that sent them, or at the one that received them") \
	C(F, COUNT, offset, "offset up to which they are acknowledged") \
	C(F, COUNT, length, "bytes that no acknowledgement before covered") \
	C(F, TIME, device, "sent bytes: when a device delivered the segment with the acknowledgement; received bytes: when the driver " \
		"was asked to transmit it") \
	C(F, TIME, ip, "sent bytes: when IP handed the segment to TCP; received bytes: when TCP handed it to IP") \
	C(F, TIME, tcp, "sent bytes: when TCP processed it; empty where that is not recorded, as before and after the connection is established")

#define MG_FACT_flow(F, C, E, A) \
	C(F, FLOW, flow, "one direction of a socket") \
	E(F, fact_kinds, kind, "kind of the socket") \
	C(F, TIME, first, "its first event: a sending flow of TCP has those of the connection's state, from its opening on") \
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
	C(F, COUNT, dropped, "segments or datagrams the kernel dropped") \
	C(F, FLOW, sending, "the direction of its socket that sends") \
	E(F, fact_sides, side, "end of the connection that it is, if its opening was recorded or TCP's counters tell") \
	C(F, FLAG, opened, "1: the recording has the opening of its connection") \
	C(F, COUNT, isn, "TCP: its own initial sequence number, if the opening was recorded") \
	C(F, COUNT, irs, "TCP: the peer's, likewise") \
	C(F, TEXT, device, "device that stands for the socket, where the kernel's events come from another tracer") \
	C(F, COUNT, peer_sock, "number of the socket at the other end of the connection, if recorded") \
	C(F, ADDRESS, first_remote, "unconnected socket: the first far end that it exchanged datagrams with") \
	C(F, MAYBE, several_remotes, "unconnected socket: 1 if there are several far ends") \
	C(F, FLAG, unclaimed, "1: no call reports what became of its bytes") \
	E(F, fact_ulps, ulp, "protocol between TCP and the program, by which its bytes cannot be mapped to the program's") \
	C(F, COUNT, offset, "offset of its first byte in the recording; 0 if the opening was recorded") \
	C(F, COUNT, end, "offset after its last byte") \
	C(F, FLAG, relative, "1: offsets count from the recording's first byte, 0: from the connection's") \
	C(F, COUNT, acknowledged, "TCP, sent bytes: offset up to which the peer acknowledged them") \
	C(F, TIME, first_call, "start of the first call that moved bytes") \
	C(F, TIME, last_call, "start of the last one") \
	C(F, COUNT, threads, "threads that made these calls; more than 4 are not distinguished") \
	C(F, SPAN, blocked, "time for which they were blocked in these calls") \
	C(F, COUNT, open_calls, "calls begun whose end is not recorded") \
	C(F, COUNT, kernel_only, "bytes moved by system calls that libmagnet.so did not record") \
	C(F, COUNT, syn_retries, "those of the segments sent again that are SYNs") \
	C(F, COUNT, synack_retries, "SYN-ACKs sent again, which are not among them") \
	C(F, COUNT, retransmitted, "bytes that TCP sent again as they were not acknowledged") \
	C(F, COUNT, resent, "bytes that TCP sent again after a drop on this machine") \
	C(F, COUNT, ambiguous, "bytes left out of the stages, as they passed more than once") \
	C(F, COUNT, transit_ambiguous, "received bytes left out of the transit, likewise") \
	C(F, COUNT, undivided, "received bytes left out of the stages, as the wait for earlier bytes is not known") \
	C(F, COUNT, incomplete_again, "those of the incomplete bytes that were sent again") \
	C(F, COUNT, never_sent, "bytes written that never left the send buffer or a queue") \
	C(F, FLAG, never_sent_known, "1: that was recorded") \
	C(F, COUNT, opening, "received bytes that came before the socket existed, which no layer below TCP saw") \
	C(F, COUNT, urgent_unread, "urgent bytes that no call read") \
	C(F, COUNT, refused_calls, "calls refused because the send buffer was full (EAGAIN)") \
	C(F, COUNT, driver_refused, "times the driver refused a packet") \
	C(F, COUNT, dropped_bytes, "datagrams: bytes sent that were dropped before they left") \
	C(F, COUNT, discarded, "those of the dropped segments without payload that TCP itself discarded") \
	C(F, COUNT, closure, "sum over all ranges by which the stages miss the total, cycles; must be 0") \
	C(F, COUNT, zerocopy_sends, "messages sent with MSG_ZEROCOPY whose pages the kernel took") \
	C(F, COUNT, zerocopy_copied, "those of them that the kernel had copied after all") \
	C(F, COUNT, zerocopy_pending, "those of them that it still held at the end") \
	C(F, COUNT, zerocopy_unsure, "sends whose number or end is not certain") \
	C(F, COUNT, gaps, "losses during its life") \
	C(F, LAYERS, missing_layers, "layers that lack something") \
	C(F, EVENTS, missing_events, "events of which some are missing") \
	C(F, NUMBER, missing_share, "datagrams: share of the missing events that would describe its bytes") \
	C(F, NUMBER, missing_time, "share of its life after the end of the kernel side") \
	C(F, COUNT, missing_bytes, "datagrams: bytes of calls whose system call was not recorded") \
	C(F, COUNT, unmatched, "datagrams that could not be matched to a call with certainty") \
	C(F, TIME, first_moved, "the first event that bytes of it passed") \
	C(F, TIME, last_moved, "the last one")

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
	C(F, SIGNED, result, "negative: the error with which TCP refused to send it; else 0, or 1 if it was dropped on this machine") \
	C(F, COUNT, sent, "bytes that were handed to IP again, even if a part was refused") \
	C(F, COUNT, syn, "those of the segments that opened the connection")

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

#define MG_FACT_timed_send(F, C, E, A) \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, end, "offset behind the last byte of the send, to which the times belong") \
	E(F, fact_timed, outcome, "acknowledged: it has all timestamps that this device gives; acknowledged_later: its acknowledgement " \
		"has none, but that of a later send; merged: only a later send has timestamps, as a rule that of the same segment; left: its " \
		"last byte had left the send buffer before the call ended; unfinished: no acknowledgement was seen; lost: events of it may " \
		"be missing") \
	C(F, TIME, begin, "when TCP had taken all its bytes") \
	A(F, fact_timed_stages, TIMED_STAGES, stage, "time of its last byte in this stage, if both ends are known") \
	C(F, SPAN, total, "until its acknowledgement came") \
	C(F, SPAN, at_most, "the same, or until the later send's acknowledgement, which covers it: it took no longer than that") \
	C(F, COUNT, bytes, "its bytes, since the send before; 0 where system calls are recorded, which have them, and for the first send " \
		"after the layer was off") \
	C(F, COUNT, queued, "times that its last segment came to the queue of its first device: more than once if it was sent again; the times " \
		"are those of the first")

#define MG_FACT_exchange(F, C, E, A) \
	C(F, FLOW, request, "flow of the request's bytes") \
	C(F, FLOW, reply, "flow of the reply's bytes") \
	C(F, COUNT, ordinal, "its number on this socket, from 0") \
	E(F, fact_kinds, kind, "kind of the socket") \
	E(F, fact_roles, role, "server: the program reads requests and writes replies; client: the reverse") \
	C(F, FLAG, role_assumed, "1: neither events nor TCP's counters tell who is the server; a port on which another " \
		"connection was accepted was taken, the lower port, or who reads first") \
	E(F, fact_answers, answer, "answered; unanswered: a request without a reply; unasked: a reply without a request") \
	C(F, ADDRESS, local, "own address and port") \
	C(F, ADDRESS, remote, "the peer's address and port") \
	C(F, TEXT, program, "name of the program that used the socket last") \
	C(F, COUNT, request_offset, "offset of the request's first byte in its flow, in bytes that calls moved") \
	C(F, COUNT, request_bytes, "bytes of the request") \
	C(F, COUNT, request_calls, "calls that moved them") \
	C(F, COUNT, reply_offset, "offset of the reply's first byte in its flow") \
	C(F, COUNT, reply_bytes, "bytes of the reply") \
	C(F, COUNT, reply_calls, "calls that moved them") \
	C(F, TIME, request_first, "server: when the call returned that read the request's first byte; client: when the call began that wrote it") \
	C(F, TIME, request_last, "the same of its last byte; if half_closed: of the call that read, or wrote, its end") \
	C(F, TIME, reply_first, "server: when the call began that wrote the reply's first byte; client: when the call returned that read it") \
	C(F, TIME, reply_last, "the same of its last byte") \
	C(F, TIME, arrived, "server: when the device had the request's last byte; client: the reply's first byte; without a device: when it was readable") \
	C(F, TIME, departed, "server: when the driver had the reply's first byte; client: the request's last byte; without a driver: when it was in the peer's queue") \
	C(F, TIME, server_request_last, "client: request_last at the server, if that is recorded too and divides the bytes alike") \
	C(F, TIME, server_reply_first, "client: reply_first at the server, likewise") \
	C(F, COUNT, request_pid, "process of the call of request_last") \
	C(F, COUNT, request_tid, "its thread") \
	C(F, FUNCTION, request_function, "that call") \
	C(F, COUNT, reply_pid, "process of the call of reply_first") \
	C(F, COUNT, reply_tid, "its thread") \
	C(F, FUNCTION, reply_function, "that call") \
	C(F, SPAN, in_program, "from request_last to reply_first at the server") \
	C(F, SPAN, to_reply, "server: from arrived to departed; client: from request_last to reply_first") \
	C(F, SPAN, since_reply, "from the end of the reply before to request_first") \
	A(F, fact_exchange_parts, EXCHANGE_PARTS, part, "part of the time from request_first to reply_last; of a client without the server's times " \
		"request_way is all of the time to the reply") \
	C(F, MAYBE, pipelined, "server, 1: bytes of the request had arrived before the reply to the one before was begun") \
	C(F, FLAG, half_closed, "1: the request's direction was ended before the reply began") \
	C(F, FLAG, overlaps, "1: bytes of a request were read or written before the reply to the one before was finished, or the reverse: " \
		"what belongs together is not certain") \
	C(F, FLAG, several_peers, "1: a socket that is not connected, several messages and far ends: which reply belongs to which request is not known") \
	C(F, FLAG, begun_before, "1: the connection is older than the recording, and this is its first exchange there") \
	C(F, FLAG, lost, "1: calls in it may be missing") \
	C(F, FLAG, unseen, "1: arrived or departed is empty, and the kernel side did not record all of that time") \
	C(F, TIME, ended, "unanswered, TCP: when the end that might have replied closed its direction, or the socket was closed, or the recording ended; " \
		"empty if a reply came but was not read, or of streams in one direction") \
	C(F, SPAN, waited, "unanswered, TCP: from the request's last byte until then") \
	C(F, FLAG, open, "unanswered, TCP, 1: the connection was open when the recording ended")

/* in_program, before_read and during_reply have the same columns */
#define MG_PROGRAM_COLUMNS(F, C, E, A, of) \
	C(F, FLOW, request, "flow of the request's bytes, as in `exchange`") \
	C(F, COUNT, ordinal, "number of the exchange on this socket") \
	C(F, TIME, begin, "start of the first interval of this part") \
	C(F, SPAN, time, "time in this part; those of an exchange sum to " of) \
	C(F, COUNT, times, "intervals") \
	C(F, COUNT, pid, "process of the thread") \
	C(F, COUNT, tid, "the thread; empty if there were several") \
	E(F, fact_program_parts, part, "on_cpu: it ran, interrupts included; run_queue: it could run and waited for a CPU; throttled: it could run, " \
		"but its cgroup had used up its CPU quota; blocked: it waited for an event; undivided: it was off the CPU, and its wakeup was not recorded; handed_over: another thread " \
		"began the reply than had read the request, without a chain of wakings between them: until that one had " \
		"begun its last other reply, or all of the time; unknown: see why_unknown") \
	E(F, fact_blocked_in, blocked_in, "blocked, undivided: what it did, as in `wait`") \
	C(F, TEXT, call, "its system call, as in `wait`") \
	C(F, COUNT, descriptor, "descriptor that the call names first; empty if there were several") \
	C(F, MAYBE, io, "1: the kernel counts it as waiting for a disk") \
	C(F, ADDRESS, remote, "peer that it waited for, as in `wait`; a client of the program that was the first to ask is none") \
	C(F, COUNT, waker, "thread that ended the block, as in `wait`; empty if there were several") \
	E(F, fact_not_divided, why_unknown, "unknown: not_recorded: events of the scheduler were not recorded; lost: some are missing; forgotten: " \
		"more waits followed than are kept; unseen: what the thread did then was not seen")
#define MG_FACT_in_program(F, C, E, A) MG_PROGRAM_COLUMNS(F, C, E, A, "its in_program")
#define MG_FACT_before_read(F, C, E, A) \
	MG_PROGRAM_COLUMNS(F, C, E, A, "the time from its arrived to its request_last; of a client to its reply_first")
#define MG_FACT_during_reply(F, C, E, A) MG_PROGRAM_COLUMNS(F, C, E, A, "the time from its reply_first to its reply_last")

#define MG_FACT_connect(F, C, E, A) \
	C(F, FLOW, flow, "the sending direction of the socket") \
	C(F, ADDRESS, local, "own address and port") \
	C(F, ADDRESS, remote, "the peer's address and port") \
	C(F, COUNT, pid, "process that asked for it") \
	C(F, COUNT, tid, "its thread") \
	C(F, TEXT, program, "name of its program") \
	C(F, TIME, begin, "when TCP began to connect") \
	C(F, TIME, end, "when the connection was established, or was given up; empty: the recording ended before, or that was not seen") \
	C(F, SPAN, took, "time from begin to end, or to the end of the recording; empty: the end was not seen, or events of the layer tcp may be missing") \
	E(F, fact_connects, outcome, "connected; failed: it was refused, timed out, or the program closed the socket; open: the recording ended before")

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

#define MG_FACT_stack(F, C, E, A) \
	C(F, TIME, time, "time; block: when the thread ran again") \
	E(F, fact_stack_whys, why, "block: the thread had been off the CPU for long after it blocked; call: a call on a socket began; " \
		"drop: a packet was dropped; retransmit: TCP sent bytes again") \
	C(F, COUNT, pid, "process; empty where the current thread did not cause it, or is not traced") \
	C(F, COUNT, tid, "thread, likewise") \
	C(F, TEXT, program, "name of its program") \
	C(F, FLOW, flow, "the sending direction of the socket that it is about; block: of the call it was in") \
	C(F, COUNT, off, "block: time off the CPU, ns") \
	E(F, fact_blocked_in, blocked_in, "block: what it did, as in `wait`") \
	C(F, TEXT, call, "block: its system call, as in `wait`") \
	C(F, COUNT, user, "number of the program's stack, as in `frame`; empty: none was taken") \
	C(F, COUNT, kernel, "number of the kernel's stack, likewise")

#define MG_FACT_frame(F, C, E, A) \
	C(F, COUNT, stack, "number of the stack") \
	C(F, COUNT, depth, "0: the innermost frame") \
	C(F, COUNT, address, "where it was, or returns to; empty: callers that are not known") \
	C(F, TEXT, function, "name of the function, as the linker has it") \
	C(F, TEXT, file, "program or library; of the kernel: kernel, or the module") \
	C(F, COUNT, offset, "offset of the function in the file; of the frame, if the function is not known") \
	C(F, TEXT, why_unknown, "why the function is not known")

#define MG_FACT_stacks(F, C, E, A) \
	C(F, COUNT, block, "stacks were recorded of blocks from this time on, ns") \
	C(F, COUNT, distinct, "distinct stacks") \
	C(F, COUNT, unreadable, "stacks that could not be taken, as no frame could be read") \
	C(F, COUNT, no_room, "stacks that could not be taken, as there was no room for more distinct ones") \
	C(F, COUNT, mappings_lost, "mappings of programs and libraries that were not seen") \
	C(F, TEXT, kernel_unnamed, "why functions of the kernel are not named; empty: they are")

#define MG_FACT_loss(F, C, E, A) \
	C(F, NS, begin, "start of the interval in which events are missing") \
	C(F, NS, end, "end of that interval") \
	E(F, fact_losses, reason, "reason") \
	C(F, TEXT, producer, "part of magnet, or of LTTng, that lost them") \
	C(F, CPU, cpu, "CPU; empty if any") \
	C(F, COUNT, events, "number of missing events") \
	C(F, LAYERS, layers, "their layers") \
	C(F, EVENTS, missing, "those of them, or all that may be among them, that are events of the kernel")

#define MG_FACT_recording(F, C, E, A) \
	C(F, NS, first, "time of the first event that was read") \
	C(F, NS, last, "time of the last one") \
	C(F, NS, begin, "start of the recording by session.json") \
	C(F, NS, end, "its end by session.json") \
	C(F, NS, kernel_last, "time of the last event of the kernel side, except losses") \
	C(F, COUNT, wall_clock, "CLOCK_REALTIME less CLOCK_MONOTONIC when the first trace began, ns") \
	C(F, COUNT, app_events, "events of the application side") \
	C(F, COUNT, kernel_events, "events of the kernel side") \
	C(F, COUNT, tracer_events, "events about the recorders themselves") \
	C(F, COUNT, app_notes, "those of them in the application side's trace") \
	C(F, COUNT, lost_app, "events the application side lost") \
	C(F, COUNT, lost_kernel, "events the kernel side lost") \
	C(F, COUNT, app_gone, "events in parts of the application side that are not there any more") \
	C(F, COUNT, app_written, "events that the application side wrote, by its trace") \
	C(F, COUNT, kernel_written, "events that the kernel side wrote, by its trace") \
	C(F, FLAG, has_end, "1: the kernel side's trace has its end") \
	C(F, TEXT, kernel_tracer, "tracer of the kernel's events, if it is not magnet's own") \
	C(F, TEXT, cut_off, "why the trace could not be read to its end") \
	C(F, TEXT, undescribed, "a directory with events but without metadata") \
	C(F, COUNT, part, "number of the newest part, if it was recorded in parts") \
	C(F, COUNT, first_part, "number of the oldest part that is there") \
	C(F, COUNT, first_app_part, "the same of the application side") \
	C(F, COUNT, parts_missing, "parts missing between them") \
	C(F, FLAG, part_ended, "1: the newest part ended in order, but later ones are not there") \
	E(F, fact_clocks, clock, "source of the counter's relation to time") \
	C(F, FLAG, clock_bounded, "events: 1 if that has an error bound") \
	C(F, FLAG, ns_only, "1: times are those of CLOCK_MONOTONIC, as the counter has no constant rate") \
	C(F, COUNT, clock_points, "readings of counter and time together") \
	C(F, COUNT, clock_longest, "longest time between two of them, ns") \
	C(F, COUNT, clock_gaps, "times between them that are longer than 100 ms") \
	C(F, NUMBER, clock_error, "bound of the error in joining the kernel's times with the program's, cycles") \
	C(F, NUMBER, clock_error_over, "the same over all of the recording, if the rate is estimated from events") \
	C(F, NUMBER, clock_rate_error, "bound of the relative error of the counter's rate") \
	C(F, FLAG, cpus_compared, "1: the CPUs' counters were compared") \
	C(F, NUMBER, cpus_error, "bound of the error of an interval between two CPUs, cycles") \
	C(F, NUMBER, hz, "cycles per second; 0 if not known") \
	C(F, FLAG, calibrated, "1: the cost of a recorded event was measured") \
	C(F, COUNT, event_cycles, "cost of a recorded kernel event, cycles") \
	C(F, COUNT, event_spread, "its uncertainty, cycles") \
	C(F, COUNT, event_scatter, "standard deviation of one event's cost, cycles") \
	C(F, COUNT, read_cycles, "cost of two readings of the counter, cycles") \
	C(F, COUNT, system_cycles, "additional cost of a system call, cycles") \
	C(F, COUNT, listen_drops, "packets that listening sockets dropped") \
	C(F, COUNT, synack_retries, "SYN-ACKs sent again for requests without a socket") \
	C(F, COUNT, unjoined, "calls of the program without their system call") \
	C(F, COUNT, state_mismatches, "calls whose states do not sum to the total; must be 0") \
	C(F, COUNT, marks_left_out, "marks beyond those kept")

#define MG_FACT_wire(F, C, E, A) \
	C(F, FLOW, flow, "flow of the bytes") \
	C(F, COUNT, offset, "offset of the first byte") \
	C(F, COUNT, length, "number of bytes, which are in one captured packet and were moved by one call") \
	C(F, NS, wire, "when the capture has them, by the recording's clock") \
	C(F, NUMBER, error, "bound of the error of that time, by which the two clocks are related, ns") \
	C(F, NS, device, "sent bytes: when the driver was asked to transmit them; received bytes: when the device delivered them") \
	C(F, NS, call, "sent bytes: start of the call; received bytes: return of the call; empty if no call is known to have moved them")

#define MG_FACT_side(F, C, E, A) \
	E(F, fact_side_names, side, "side of the recording") \
	C(F, NS, from, "start of the side, if it began after the recording") \
	C(F, NS, until, "its end, or its last event") \
	C(F, FLAG, known, "1: it is known which time it covers") \
	C(F, FLAG, begins_late, "1: it begins after the recording did") \
	C(F, FLAG, ends_early, "1: it ends before the recording did") \
	C(F, FLAG, in_order, "1: its end was read") \
	C(F, FLAG, end_known, "1: when the recording ended is known, after this side or together with it") \
	C(F, NUMBER, share, "share of the recording's time that it covers; 1 if it is not known to be less") \
	C(F, FLAG, tells_end, "1: its trace is of a kind that has an end") \
	C(F, TEXT, why, "why it ended early") \
	C(F, FLAG, expected, "1: the other side's trace mentions it") \
	C(F, FLAG, absent, "1: it is not there, but another recording's is") \
	C(F, COUNT, traces, "traces that end with their number of events") \
	C(F, COUNT, traces_ended, "those of them whose end was read") \
	C(F, COUNT, events, "events in its files, if counted") \
	C(F, COUNT, not_here, "events missing from traces whose end was read") \
	C(F, COUNT, too_many, "events beyond the number written there") \
	C(F, COUNT, unknown_events, "events of kinds that this version does not know") \
	C(F, TEXT, unknown_name, "name of the first of them")

#define MG_FACT_hook(F, C, E, A) \
	C(F, TEXT, layer, "layer") \
	C(F, TEXT, hook, "what was hooked") \
	C(F, SIGNED, status, "0: attached; below 0: the error, or -ENOLINK if it was switched off") \
	C(F, COUNT, netns, "network namespace of the hook, if it belongs to one") \
	C(F, COUNT, event, "number of the event it feeds")

#define MG_FACT_bypass(F, C, E, A) \
	C(F, TEXT, program, "name of the program, if known") \
	C(F, COUNT, processes, "processes that ran it") \
	C(F, COUNT, calls, "their system calls on sockets that libmagnet.so did not record") \
	C(F, COUNT, io_uring, "their calls of io_uring_enter(), whose work is not followed")

#define MG_FACT_dump(F, C, E, A) \
	C(F, NS, time, "when the trigger fired, or the dump was asked for") \
	C(F, NS, written, "when it was written") \
	C(F, TEXT, why, "latency, retransmission or lost: the trigger; signal or asked: by whom; end: the recording ended") \
	C(F, COUNT, value, "latency: the measured time, ns") \
	C(F, FLOW, flow, "flow for which the trigger fired")

#define MG_FACT_chosen(F, C, E, A) \
	C(F, TEXT, name, "name of the event") \
	C(F, COUNT, events, "number of them")

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
	F(buffer, "Bytes in the send buffer of a TCP connection, or in its receive queue: as a call is about to copy bytes into it, as " \
		"segments arrive, at TCP's events (--level full), as bytes become readable, and after each copy to the program.") \
	F(flow, "One direction of a socket, at the end of the recording.") \
	F(drop, "A packet that the kernel dropped.") \
	F(retransmit, "A segment that TCP sent again, except for answers to a SYN.") \
	F(resent, "Bytes that were handed to IP more than once.") \
	F(ack, "An acknowledgement of a TCP connection that covers more than those before: at the sender of the bytes as it arrives, " \
		"at their receiver as it leaves.") \
	F(crossing, "Bytes that both ends of a connection recorded, or of a message.") \
	F(unsent, "A time that the first unsent byte of a connection spent in the send buffer.") \
	F(refusal, "A time in which a send buffer was full and calls were refused (EAGAIN).") \
	F(zerocopy, "A send with MSG_ZEROCOPY whose pages the kernel gave back.") \
	F(timed_send, "Bytes that TCP took at one time from a call, by the kernel's own timestamps (--layers timestamps): most calls are one " \
		"send, sendfile() is several.") \
	F(in_program, "What became of the time that a request was in a server's program, by thread, state and call. The rows of an " \
		"exchange come just before it.") \
	F(before_read, "What the thread that read a request at the server, or a reply at the client, did between its arrival and that. " \
		"Requests that waited less than an eighth of the time until the reply have no rows, nor replies that waited less than " \
		"a quarter of it.") \
	F(during_reply, "What the threads that wrote a reply at the server, or read it at the client, did from the first of these calls to the last, " \
		"the calls included. Replies for which that is less than a quarter of the time since the request arrived, or was sent, have no rows.") \
	F(exchange, "A request and its reply at one end of a connection, once the next request has come or the connection has ended.") \
	F(connect, "An attempt to open a TCP connection.") \
	F(mark, "A point that the program marked.") \
	F(stack, "A stack that was taken (--stacks).") \
	F(frame, "A frame of a stack.") \
	F(stacks, "How many stacks were recorded.") \
	F(loss, "An interval in which events are missing.") \
	F(recording, "The recording as a whole, at its end.") \
	F(wire, "Bytes of a recorded packet that a capture has, too. Only magnet show --pcap FILE has such rows.") \
	F(side, "The application side or the kernel side of the recording.") \
	F(hook, "A hook of the kernel tracer.") \
	F(bypass, "A program whose calls libmagnet.so did not record, or only in part.") \
	F(dump, "A dump of the flight recorder (--flight).") \
	F(chosen, "The events of one kind that were chosen with --event.")
/* clang-format on */

#endif
