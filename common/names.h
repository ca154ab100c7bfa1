/* SPDX-License-Identifier: MIT */
/*
 * Names of numbers in events: V(value, "name") or V(value, NAME, "name"), where the code has a
 * constant for it. From these lists come the constants, the enumerations of the CTF metadata, the
 * names that magnet prints, and the lists in magnet-events(5). Values are stored in traces.
 */
#ifndef MAGNET_COMMON_NAMES_H
#define MAGNET_COMMON_NAMES_H

#include "calls.h"
#include "tcp_names.h"

/* clang-format off */

/* AF_* */
#define MG_FAMILIES(V) \
	V(0, "unspecified") V(1, "unix") V(2, "inet") V(10, "inet6") V(16, "netlink") \
	V(17, "packet") V(38, "alg") V(40, "vsock") V(44, "xdp")

/* IP protocols and next headers */
#define MG_PROTOCOLS(V) \
	V(1, "icmp") V(2, "igmp") V(4, "ipip") V(6, "tcp") V(17, "udp") V(33, "dccp") V(41, "ipv6") \
	V(43, "routing") V(44, "fragment") V(47, "gre") V(50, "esp") V(51, "ah") V(58, "icmpv6") \
	V(60, "destination") V(89, "ospf") V(103, "pim") V(132, "sctp") V(136, "udplite")
/* of a socket: those of UNIX and netlink have none */
#define MG_SOCKET_PROTOCOLS(V) V(0, "none") MG_PROTOCOLS(V)

/* TCP_* of <netinet/tcp.h>; without a socket 0 */
#define MG_TCP_STATES(V) \
	V(0, NO_SOCKET, "none") V(1, ESTABLISHED, "established") V(2, SYN_SENT, "syn_sent") \
	V(3, SYN_RECV, "syn_recv") V(4, FIN_WAIT1, "fin_wait1") V(5, FIN_WAIT2, "fin_wait2") \
	V(6, TIME_WAIT, "time_wait") V(7, CLOSE, "close") V(8, CLOSE_WAIT, "close_wait") \
	V(9, LAST_ACK, "last_ack") V(10, LISTEN, "listen") V(11, CLOSING, "closing") \
	V(12, NEW_SYN_RECV, "new_syn_recv")

/* by which call a connection was opened */
#define MG_OPENERS(V) V(0, "unknown") V(1, "connect") V(2, "accept")

/* what uses a connection in place of the program */
#define MG_ULPS(V) V(0, NONE, "none") V(1, TLS, "tls") V(2, MPTCP, "mptcp") V(3, OTHER, "other")

#define MG_SOFTIRQS(V) \
	V(0, HI, "hi") V(1, TIMER, "timer") V(2, NET_TX, "net_tx") V(3, NET_RX, "net_rx") \
	V(4, BLOCK, "block") V(5, IRQ_POLL, "irq_poll") V(6, TASKLET, "tasklet") V(7, SCHED, "sched") \
	V(8, HRTIMER, "hrtimer") V(9, RCU, "rcu")

/* who lets a segment go: beside these, softirqs with their number + MG_CONTEXT_SOFTIRQ */
#define MG_CONTEXTS(V) V(0, UNKNOWN, "unknown") V(1, THREAD, "thread")
#define MG_CONTEXT_SOFTIRQ 2

/* X(NAME, tracepoint): kinds of interrupts, numbered as they stand, by their tracepoints' names */
#define MG_IRQS_ANYWHERE(X) X(DEVICE, irq_handler)
#define MG_IRQS_X86(X) \
	X(TIMER, local_timer) X(RESCHEDULE, reschedule) X(CALL, call_function) \
	X(CALL_SINGLE, call_function_single) X(WORK, irq_work)

/* where a packet is seen away from its socket's own way, on the way from it or to it */
#define MG_VIAS(V) V(0, OWN, "own") V(1, FROM, "from_socket") V(2, TO, "to_socket")

/* why events are missing */
#define MG_LOSSES(V) \
	V(1,  RING_FULL,    "ring_full") \
	V(2,  SKIPPED,      "skipped")                /* a program, since it interrupted itself */ \
	V(3,  APP,          "app_ring_full")          /* from here up to 16: calls of the program */ \
	V(4,  APP_NO_ROOM,  "app_no_room")            /* its limit on address space left none for a ring */ \
	V(5,  APP_UNFINISHED, "app_unfinished")       /* the thread ended while it logged the call */ \
	V(6,  APP_NOT_COUNTED, "app_not_counted")     /* the count was written over: 1 or more */ \
	V(7,  APP_UNSERVED, "app_unserved")           /* of so many programs without a ring, 1 or more each */ \
	V(8,  APP_UNTIMED,  "app_untimed")            /* the cycle counter is forbidden to the program */ \
	V(9,  APP_UNREACHED, "app_unreached")         /* of so many programs that libmagnet.so is not loaded into */ \
	V(16, CHOSEN,       "chosen_ring_full")       /* events chosen by --event: no flow misses them */ \
	V(17, NOT_FOLLOWED, "connection_not_followed") \
	V(18, PAUSED,       "paused")                 /* these two are gaps, but no losses */ \
	V(19, NOT_KEPT,     "not_kept") \
	V(20, CALLS,        "calls_32bit")            /* no event of a layer below is missing */ \
	V(21, NOT_COVERED,  "not_covered")            /* in no trace: a side had not begun, or had ended */ \
	V(22, THREADS,      "thread_not_followed")    /* there was no memory: all that it did is missing */ \
	V(23, NOT_HERE,     "not_here")               /* was written; the reader's, of packets and parts */ \
	V(24, APP_NOT_HERE, "app_not_here")           /* the same of the program's; among gaps it is 23 */ \
	V(25, NOT_RUN,      "not_run")                /* packets that only netfilter's programs saw: each lacks 1 or more */ \
	V(26, LAYER_OFF,    "layer_off")              /* in no trace: magnet ctl had switched the layer off; no loss */

/* of a hook; others are a negative errno all the same */
#define MG_STATUSES(V) \
	V(0, "attached") V(-1, "EPERM") V(-2, "ENOENT") V(-3, "ESRCH") V(-4, "EINTR") V(-5, "EIO") \
	V(-7, "E2BIG") V(-9, "EBADF") V(-11, "EAGAIN") V(-12, "ENOMEM") V(-13, "EACCES") \
	V(-16, "EBUSY") V(-17, "EEXIST") V(-19, "ENODEV") V(-22, "EINVAL") V(-24, "EMFILE") \
	V(-28, "ENOSPC") V(-38, "ENOSYS") V(-95, "EOPNOTSUPP") V(-110, "ETIMEDOUT") \
	V(-125, "ECANCELED") V(-524, "ENOTSUPP")

/* how a thread that blocks had entered the kernel: by a system call of one of these tables, or else */
#define MG_ENTRIES(V) \
	V(0, UNKNOWN, "unknown") V(1, EXCEPTION, "exception") V(2, KERNEL, "kernel_thread") \
	V(3, X86_64, "x86_64") V(4, I386, "i386") V(5, X32, "x32") V(6, AARCH64, "aarch64") \
	V(7, ARM, "arm")

/* what a piece of text says of a place in a program or the kernel */
#define MG_SYMBOLS(V) V(0, FUNCTION, "function") V(1, FILE, "file") V(2, WHY, "why_unknown")

#define MG_SIDES(V) V(0, "app") V(1, "kernel")

/* options that shape traffic, or that magnet looks at: level * 65536 + name */
#define MG_OPTIONS(V) \
	V(0, "none") \
	V(0x10002, "SO_REUSEADDR") V(0x10004, "SO_ERROR") V(0x10007, "SO_SNDBUF") \
	V(0x10008, "SO_RCVBUF") V(0x10009, "SO_KEEPALIVE") V(0x1000d, "SO_LINGER") \
	V(0x10012, "SO_RCVLOWAT") V(0x1003c, "SO_ZEROCOPY") \
	V(0x60001, "TCP_NODELAY") V(0x60003, "TCP_CORK") V(0x6000c, "TCP_QUICKACK") \
	V(0x6000d, "TCP_CONGESTION") V(0x60019, "TCP_NOTSENT_LOWAT") V(0x6001f, "TCP_ULP") \
	V(0x60023, "TCP_ZEROCOPY_RECEIVE")

/* clang-format on */

#define MG_TCP_ID(value, NAME, name)     MG_TCP_##NAME = value,
#define MG_ULP_ID(value, NAME, name)     MG_ULP_##NAME = value,
#define MG_SOFTIRQ_ID(value, NAME, name) MG_SOFTIRQ_##NAME = value,
#define MG_CONTEXT_ID(value, NAME, name) MG_CONTEXT_##NAME = value,
#define MG_IRQ_ID(NAME, tracepoint)      MG_IRQ_##NAME,
#define MG_VIA_ID(value, NAME, name)     MG_VIA_##NAME = value,
#define MG_LOST_ID(value, NAME, name)    MG_LOST_##NAME = value,
#define MG_ENTRY_ID(value, NAME, name)   MG_ENTRY_##NAME = value,
#define MG_SYMBOL_ID(value, NAME, name)  MG_SYMBOL_##NAME = value,
enum { MG_TCP_STATES(MG_TCP_ID) };
enum { MG_ULPS(MG_ULP_ID) };
enum { MG_SOFTIRQS(MG_SOFTIRQ_ID) };
enum { MG_CONTEXTS(MG_CONTEXT_ID) };
enum mg_irq_kind { MG_IRQS_ANYWHERE(MG_IRQ_ID) MG_IRQS_X86(MG_IRQ_ID) MG_IRQ_END };
enum { MG_VIAS(MG_VIA_ID) };
enum mg_symbol_text { MG_SYMBOLS(MG_SYMBOL_ID) };
enum mg_lost_reason { MG_LOSSES(MG_LOST_ID) };
enum mg_entry { MG_ENTRIES(MG_ENTRY_ID) };
#undef MG_TCP_ID
#undef MG_ULP_ID
#undef MG_SOFTIRQ_ID
#undef MG_CONTEXT_ID
#undef MG_IRQ_ID
#undef MG_VIA_ID
#undef MG_LOST_ID
#undef MG_ENTRY_ID
#undef MG_SYMBOL_ID

#endif
