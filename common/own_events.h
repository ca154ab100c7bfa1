/* SPDX-License-Identifier: MIT */
/*
 * The part of the event table (events.h, which includes it) that is magnet's own: events about the
 * recording, which the tracer and the collector write, and calls and marks of the program.
 */
#ifndef MAGNET_COMMON_OWN_EVENTS_H
#define MAGNET_COMMON_OWN_EVENTS_H

/* clang-format off */

#define MG_TRACER_BASE 104 /* ids below are events of the system, from here on of the tracer */

/* ---- written by the tracer itself, in the stream where they belong ------------------------- */

#define MG_EV_CLOCK_SYNC(F, S) \
	F(S, u64, cycles,     "cycle counter") \
	F(S, u64, mono_ns,    "CLOCK_MONOTONIC at the same instant") \
	F(S, u32, half_width, "the instant lies within this many cycles") \
	F(S, u32, cpu,        "CPU on which it was read")

#define MG_EV_LOST(F, S) \
	F(S, u64,    count,    "events that are missing here") \
	F(S, u64,    from_ns,  "start of the gap") \
	F(S, u64,    to_ns,    "end of the gap") \
	F(S, s32,    cpu,      "CPU, -1 if unknown") \
	F(S, e_lost, reason, "reason; app_*: calls of the program; paused and not_kept: not lost, but not recorded") \
	F(S, text32, producer, "part of magnet that lost them")

#define MG_EV_HOOK(F, S) \
	F(S, text16, layer,  "layer of the stack") \
	F(S, text32, hook,   "the event it provides and how it is attached") \
	F(S, e_status, status, "0 attached, else a negative errno") \
	F(S, u32,    netns,  "network namespace, 0 = all")

#define MG_EV_CALIBRATION(F, S) \
	F(S, u64, counter_hz,       "cycle counter frequency, Hz") \
	F(S, u32, read_cycles,      "cost of two readings of the counter around an empty call, cycles") \
	F(S, u32, event_cycles,     "cost of one recorded kernel event: half the cost of the two of a system call, cycles") \
	F(S, u32, event_spread,     "its uncertainty, cycles") \
	F(S, u32, invariant,        "1 if the counter has a constant rate and never stops") \
	F(S, u32, event_scatter,    "standard deviation of one event's cost, cycles; 0 unknown") \
	F(S, u32, system_cycles,    "additional cost of a system call while hooks are attached, apart from its events, cycles; 0 unknown") \
	F(S, u32, copies,           "largest number of copies of the hooks with which that was measured; below 2: only with and without them")

/* another CPU's counter less that of `ref` lies between the two */
#define MG_EV_CLOCK_CPUS(F, S) \
	F(S, s64, offset_low,  "its counter is ahead by at least this many cycles; negative: behind") \
	F(S, s64, offset_high, "its counter is ahead by at most this many cycles") \
	F(S, u32, cpu,         "CPU") \
	F(S, u32, ref,         "CPU it was compared with")

#define MG_EV_TRACE_END(F, S) \
	F(S, u64, events, "events written") \
	F(S, u64, lost,   "events lost") \
	F(S, u64, cpu_ns, "CPU time the tracer used") \
	F(S, text32, why, "why the kernel side ended before it was asked to; empty = it was asked to")

/* Why it ended, where magnet ctl stop asked for it: the other side may go on. */
#define MG_ENDED_BY_CTL "stopped by ctl"

#define MG_EV_APP_BEGIN(F, S) \
	F(S, u64, from_ns, "the part contains calls that return after this time") \
	F(S, u64, events,  "calls and marks written to the parts before it") \
	F(S, u32, number,  "number of the part, from 1 on; 0 = the application side is not in parts") \
	F(S, u8,  flight,  "1 other parts between two parts may have been deleted (flight recorder)")

#define MG_EV_APP_UNTIL(F, S) \
	F(S, u64, until_ns, "all calls that returned before this time are in the trace")

#define MG_EV_APP_END(F, S) \
	F(S, u64, events, "calls and marks written") \
	F(S, u64, lost,   "calls lost") \
	F(S, u64, cpu_ns, "CPU time the collector used") \
	F(S, text32, why, "why the application side ended before it was asked to; empty = it was asked to")

#define MG_EV_CONTENTS(F, S) \
	F(S, u64, events, "events in the files of this trace, including this one and the end after it") \
	F(S, e_side, side, "side of the recording")

#define MG_EV_CHANGE(F, S) \
	F(S, text16, what,  "setting that changed while recording") \
	F(S, text32, value, "its new value")

#define MG_EV_CHUNK(F, S) \
	F(S, u64, from_ns,   "the part contains events recorded since this time") \
	F(S, u64, before_ns, "end of the part before; 0 = there was none") \
	F(S, u32, number,    "number of the part, from 1 on")

#define MG_EV_CHUNK_END(F, S) \
	F(S, u64, events, "events written so far, in all parts") \
	F(S, u32, number, "the part's number")

#define MG_EV_DUMP(F, S) \
	F(S, u64,    sock,     "socket cookie of the connection, 0 = none") \
	F(S, u64,    value_ns, "measured time, if the trigger is a time") \
	F(S, u64,    fired_ns, "CLOCK_MONOTONIC when the trigger fired; 0 = it was asked for") \
	F(S, text24, why,      "trigger, or origin of the request")

/* Texts longer than a field are written in pieces, each in an event of its own, in order. */
#define MG_EV_SYMBOL(F, S) \
	F(S, u64,    place,  "number of the place in a program or the kernel") \
	F(S, u64,    offset, "its offset in the file, or from the function if there is no file") \
	F(S, u32,    piece,  "number of the piece of the text, from 0 on") \
	F(S, e_symbol, what, "text: name of the function, of the file, or why the function is not known") \
	F(S, text32, text,   "piece of the text")

#define MG_EV_STACK_FRAME(F, S) \
	F(S, u64, stack,   "number of the stack") \
	F(S, x64, address, "address in the process or the kernel; 0: callers that are not known") \
	F(S, u64, place,   "place of the symbol events before; 0: callers that are not known") \
	F(S, u32, depth,   "0 is the innermost frame")

#define MG_EV_STACKS(F, S) \
	F(S, u64, block_ns,   "stacks are recorded of blocks from this duration on") \
	F(S, u64, distinct,   "distinct stacks recorded") \
	F(S, u64, unreadable, "stacks that could not be taken: no frame could be read") \
	F(S, u64, no_room,    "stacks that could not be taken: there was no room for more distinct ones") \
	F(S, u64, mappings_lost, "programs and libraries whose mapping was not seen, by the kernel's count") \
	F(S, text32, kernel,   "why the kernel's functions could not be named; empty = they could")

#define MG_TRACER_EVENTS(E) \
	E(104,clock_sync,      CLOCK_SYNC,    TRACER,    ANY, NONE,    NONE,   clock_sync,    "cycle counter and CLOCK_MONOTONIC at one instant; earlier events are in the files before it") \
	E(105,clock_cpus,      CLOCK_CPUS,    TRACER,    ANY, NONE,    NONE,   none,          "difference between the counters of two CPUs") \
	E(106,calibration,     CALIBRATION,   TRACER,    ANY, NONE,    NONE,   calibration,   "cost of magnet's own events on this machine") \
	E(107,hook,            HOOK,          TRACER,    ANY, NONE,    NONE,   hook,          "a hook was attached or refused") \
	E(108,lost,            LOST,          TRACER,    ANY, NONE,    NONE,   lost,          "events were lost here") \
	E(109,change,          CHANGE,        TRACER,    ANY, NONE,    NONE,   change,        "a setting was changed while recording") \
	E(110,dump,            DUMP,          TRACER,    ANY, NONE,    NONE,   dump,          "the flight recorder was dumped, and why") \
	E(111,chunk,           CHUNK,         TRACER,    ANY, NONE,    NONE,   chunk,         "a part of the recording that can be read alone begins") \
	E(112,chunk_end,       CHUNK_END,     TRACER,    ANY, NONE,    NONE,   chunk_end,     "the part ends in order, and another may follow") \
	E(113,app_begin,       APP_BEGIN,     TRACER,    ANY, NONE,    NONE,   none,          "the application side begins; it ends with an app_end") \
	E(114,app_end,         APP_END,       TRACER,    ANY, NONE,    NONE,   none,          "the application side ended in order") \
	E(115,contents,        CONTENTS,      TRACER,    ANY, NONE,    NONE,   none,          "number of events in the files of this trace") \
	E(116,trace_end,       TRACE_END,     TRACER,    ANY, NONE,    NONE,   trace_end,     "the recording ended in order") \
	E(117,symbol,          SYMBOL,        TRACER,    ANY, NONE,    NONE,   symbol,        "a piece of the name of a place in a program or the kernel, with --stacks") \
	E(118,stack_frame,     STACK_FRAME,   TRACER,    ANY, NONE,    NONE,   stack_frame,   "a frame of a recorded stack; those of a stack follow each other") \
	E(119,stacks,          STACKS,        TRACER,    ANY, NONE,    NONE,   stacks,        "how many stacks were recorded, and how many could not be") \
	E(120,app_until,       APP_UNTIL,     TRACER,    ANY, NONE,    NONE,   none,          "the application side is idle; for those who follow the recording as it grows")

/* ---- written by libmagnet.so, one event name a wrapped call --------------------------------- */

#define MG_EV_CALL(F, S) \
	F(S, u64, enter,  "cycle counter before the real call") \
	F(S, u64, exit,   "cycle counter after it") \
	F(S, u64, asked,  "bytes asked for; 0 if the call names no single length") \
	F(S, s64, ret,    "return value") \
	F(S, s32, fd,     "file descriptor") \
	F(S, s32, error,  "errno if ret is -1, else 0") \
	F(S, u32, tid,    "thread") \
	F(S, u32, pid,    "process") \
	F(S, x32, flags,  "MSG_* flags; else 0") \
	F(S, e_option, option, "of setsockopt and getsockopt: the option's level * 65536 + its name; else 0") \
	F(S, s32, value,  "of setsockopt and getsockopt: the option's value if it is an int; else 0") \
	F(S, u32, waited, "of a wait: number of descriptors waited for, of epoll the largest number of events; else 0") \
	F(S, u32, logged, "cycles this thread's previous traced call spent in magnet, 0 if not measured") \
	F(S, u32, bytes,  "bytes of all messages of sendmmsg and recvmmsg, which return messages; else 0") \
	F(S, e_kind, kind, "socket kind")

#define MG_EV_MARK(F, S) \
	F(S, u64,    id,    "identifier among the marks of this name") \
	F(S, u64,    at,    "cycle counter") \
	F(S, s64,    value, "value given by the program") \
	F(S, u32,    tid,   "thread") \
	F(S, u32,    pid,   "process") \
	F(S, text24, name,  "name of the mark")

/* P(NAME, struct): the payloads above */
#define MG_OWN_PAYLOADS(P) \
	P(CLOCK_SYNC, clock_sync) P(LOST, lost) P(HOOK, hook) P(CALIBRATION, calibration) \
	P(TRACE_END, trace_end) P(CHANGE, change) P(CHUNK, chunk) P(DUMP, dump) P(CHUNK_END, chunk_end) \
	P(APP_BEGIN, app_begin) P(APP_UNTIL, app_until) P(APP_END, app_end) P(CONTENTS, contents) P(CLOCK_CPUS, clock_cpus) \
	P(SYMBOL, symbol) P(STACK_FRAME, stack_frame) P(STACKS, stacks) P(CALL, call) P(MARK, mark)
/* clang-format on */

#endif
