/* SPDX-License-Identifier: MIT */
/*
 * The event table: every event and every field is written here, once.
 *
 * By preprocessor this gives the BPF and C structs, the ids, the LTTng-UST provider's fields, the
 * CTF metadata, the size assertions, the reader's decoding and the list in the man page. To add an
 * event: one MG_EV_* field list, one row below, one hook that fills it.
 *
 * A field is F(S, type, name, doc); S is passed through for expansions that need the struct.
 * Fields are ordered so that each is naturally aligned without padding (asserted in events.c):
 * then the C struct, the record in the ring and the CTF payload are the same bytes.
 *
 * Units are in the names or docs: bytes unless said otherwise; `seq` are 32-bit TCP sequence
 * numbers in host order; `_ns` is CLOCK_MONOTONIC; `sock` is the kernel's socket cookie for TCP,
 * for others 2^62 + the socket's inode number (as ss -e and /proc/PID/fd have it), 0 = none. A
 * request to connect, which has no socket yet, has a number of its own, 2^63 and more.
 */
#ifndef MAGNET_COMMON_EVENTS_H
#define MAGNET_COMMON_EVENTS_H

/*
 * In each trace's metadata, as `trace_format`: goes up when a field or its meaning changes, so that
 * no reader takes one thing for another. What is only added needs no new number.
 */
#define MG_TRACE_FORMAT 3

#include <linux/types.h>

#include "names.h"
#include "own_events.h"

typedef char mg_text16[16]; /* UTF-8, zero-padded */
typedef char mg_text24[24];
typedef char mg_text32[32];
typedef __u8 mg_addr[16]; /* IPv6 address, IPv4 as ::ffff:a.b.c.d, network order */

/* T(tag, C type, bytes, class): class is UINT, HEX, INT, TEXT or BYTES */
#define MG_PLAIN_TYPES(T)              \
	T(u8, __u8, 1, UINT)           \
	T(u16, __u16, 2, UINT)         \
	T(u32, __u32, 4, UINT)         \
	T(u64, __u64, 8, UINT)         \
	T(x8, __u8, 1, HEX)            \
	T(x32, __u32, 4, HEX)          \
	T(x64, __u64, 8, HEX)          \
	T(s32, __s32, 4, INT)          \
	T(s64, __s64, 8, INT)          \
	T(text16, mg_text16, 16, TEXT) \
	T(text24, mg_text24, 24, TEXT) \
	T(text32, mg_text32, 32, TEXT) \
	T(addr, mg_addr, 16, BYTES)

/* numbers with names, listed in names.h and related to these tags in enums.c */
#define MG_ENUM_TYPES(T)               \
	T(e_kind, __u8, 1, UINT)       \
	T(e_syscall, __u16, 2, UINT)   \
	T(e_family, __u8, 1, UINT)     \
	T(e_proto, __u8, 1, UINT)      \
	T(e_sock_proto, __u8, 1, UINT) \
	T(e_tcp_state, __u8, 1, UINT)  \
	T(e_opener, __u8, 1, UINT)     \
	T(e_ulp, __u8, 1, UINT)        \
	T(e_ca_state, __u8, 1, UINT)   \
	T(e_reset, __u8, 1, UINT)      \
	T(e_softirq, __u8, 1, UINT)    \
	T(e_context, __u8, 1, UINT)    \
	T(e_irq, __u8, 1, UINT)        \
	T(e_via, __u8, 1, UINT)        \
	T(e_lost, __u32, 4, UINT)      \
	T(e_status, __s32, 4, INT)     \
	T(e_side, __u32, 4, UINT)      \
	T(e_entry, __u8, 1, UINT)      \
	T(e_symbol, __u8, 1, UINT)     \
	T(e_option, __u32, 4, HEX)

#define MG_TYPES(T) MG_PLAIN_TYPES(T) MG_ENUM_TYPES(T)

/* clang-format off */

/* ---- recorded by BPF, one stream a CPU ---------------------------------------------------- */

#define MG_EV_SYS_ENTER(F, S) \
	F(S, u64, sock,  "socket cookie") \
	F(S, u64, asked, "bytes asked for; 0 if the call names no single length") \
	F(S, s32, fd,    "file descriptor; -1 for socket()") \
	F(S, x32, flags, "MSG_* flags of the call; 0 if it has none") \
	F(S, e_option, option, "of setsockopt and getsockopt: the option's level * 65536 + its name; else 0") \
	F(S, u32, seq,   "TCP: write_seq (sending) or copied_seq (receiving)") \
	F(S, e_syscall, call, "system call") \
	F(S, e_kind, kind, "socket kind") \
	F(S, x8,  nagle, "TCP, except for receiving calls: 1 TCP_NODELAY is set, 2 TCP_CORK") \
	F(S, u16, mss,   "TCP, except for receiving calls: bytes of a full segment at present; 0 unknown")

#define MG_EV_SYS_EXIT(F, S) \
	F(S, u64, sock, "socket cookie") \
	F(S, s64, ret,  "return value, negative errno on failure; -512 to -516: the call is to be restarted") \
	F(S, u32, seq,  "TCP: write_seq (sending) or copied_seq (receiving)") \
	F(S, u32, bytes, "bytes of all messages of sendmmsg and recvmmsg, 4294967295 if unknown; else 0") \
	F(S, e_syscall, call, "system call")

#define MG_EV_TCP_SEND(F, S) \
	F(S, u64, sock,        "socket cookie") \
	F(S, u32, seq,         "write_seq: the sequence number the next copied byte gets") \
	F(S, u32, left,        "bytes of the call not yet copied") \
	F(S, u32, snd_una,     "oldest byte not acknowledged") \
	F(S, u32, snd_nxt,     "next byte to be sent") \
	F(S, u32, snd_wnd,     "window the peer offers, bytes") \
	F(S, u32, cwnd,        "congestion window, segments") \
	F(S, u32, wmem_queued, "bytes of memory in the send queue") \
	F(S, u32, skb_len,     "bytes in the last queued buffer, 0 if none")

/*
 * A segment, datagram or fragment, or one that stands for several not yet split (segs > 1), on its
 * way through a layer. These fields fill a slot of the ring, which is a cache line (ring.h): that
 * is why `seq` is the one field with two meanings. `proto` says which: a field of its own for the
 * buffer would have each event of the kernel take two cache lines.
 */
#define MG_EV_PACKET(F, S) \
	F(S, u64, sock,      "socket of the local end, 0 if several may receive it") \
	F(S, u32, seq,       "TCP: sequence number of the first byte; else the buffer, as a hash of its address") \
	F(S, u32, len,       "payload of TCP, UDP or ICMP, for other protocols that of IP; bytes") \
	F(S, u32, ack,       "TCP: acknowledgement number; else 0") \
	F(S, u32, ifindex,   "network device, 0 before routing") \
	F(S, u16, headers,   "bytes in the buffer besides the payload: the headers present at this layer, and padding") \
	F(S, u16, segs,      "segments or datagrams it stands for") \
	F(S, u16, gso_size,  "payload of each of them, 0 if it stands for one") \
	F(S, u16, ip_id,     "not TCP: identification of the IP datagram, low 16 bits; else 0") \
	F(S, u16, frag,      "fragment: its offset in the IP datagram's payload, in units of 8 bytes, + 8192 if more follow it; whole datagram: 0") \
	F(S, x8,  tcp_flags, "TCP: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128; else 0") \
	F(S, u8,  zero_window, "TCP: 1 if the segment offers a window of 0; else 0") \
	F(S, u8,  icmp_type, "ICMP: type of the message; else 0") \
	F(S, e_proto, proto, "IP protocol") \
	F(S, e_context, context, "ip_out of TCP: context in which it is sent, a thread or a softirq; elsewhere, and if unknown, 0") \
	F(S, e_via, via, "seen outside its socket's own layers (in another network namespace, where it is forwarded, in a tunnel, at a port of the bridge or bond that the socket uses, or a second time at a device): on its way from the socket or to it; else 0")

/* bits of `frag` */
#define MG_FRAG_AT   0x1fff
#define MG_FRAG_MORE 0x2000

/* recorded with ip_in, at which `sock` becomes known */
#define MG_EV_DEV_RECV_LATE(F, S) \
	F(S, u64, sock,     "socket, 0 if several may receive it") \
	F(S, u32, seq,      "as in packets, like the other fields of the same name") \
	F(S, u32, len,      "payload, bytes") \
	F(S, u32, ago_ns,   "how long before this event the device delivered it") \
	F(S, u32, ifindex,  "network device") \
	F(S, u16, headers,  "bytes in the buffer besides the payload") \
	F(S, u16, segs,     "datagrams it stands for") \
	F(S, u16, gso_size, "payload of each of them, 0 if it stands for one") \
	F(S, u16, ip_id,    "identification of the IP datagram, low 16 bits") \
	F(S, u16, frag,     "fragment: its offset, in units of 8 bytes, + 8192 if more follow it") \
	F(S, u8,  icmp_type, "ICMP: type of the message") \
	F(S, e_proto, proto,    "IP protocol")

#define MG_EV_DEV_DONE(F, S) \
	F(S, u64, sock,    "socket cookie") \
	F(S, u32, seq,     "sequence number of the first byte") \
	F(S, u32, len,     "TCP payload, bytes") \
	F(S, s32, rc,      "return value of the driver; 0 = taken") \
	F(S, u32, ifindex, "network device") \
	F(S, u16, segs,    "segments or datagrams it stands for") \
	F(S, e_via, via,     "as in packets")

#define MG_EV_TCP_RECV(F, S) \
	F(S, u64, sock,       "socket cookie") \
	F(S, u32, seq,        "sequence number of the first byte") \
	F(S, u32, len,        "TCP payload, bytes") \
	F(S, u32, rcv_nxt,    "next byte expected in order, before this segment") \
	F(S, u32, copied_seq, "next byte the program will read") \
	F(S, u32, snd_una,    "oldest byte sent and not acknowledged") \
	F(S, u32, snd_wnd,    "window the peer offers, bytes") \
	F(S, u32, srtt_us,    "smoothed round-trip time, microseconds") \
	F(S, u32, cwnd,       "congestion window, segments")

#define MG_EV_TCP_READY(F, S) \
	F(S, u64, sock,       "socket cookie") \
	F(S, u32, rcv_nxt,    "next byte expected: all bytes before it are in order") \
	F(S, u32, copied_seq, "next byte the program will read")

#define MG_EV_SOCK_COPY(F, S) \
	F(S, u64, sock,    "socket") \
	F(S, u32, seq,     "TCP: sequence number of the first byte copied to the program; else the buffer, as in packets") \
	F(S, u32, len,     "bytes copied") \
	F(S, u32, rcv_nxt, "TCP: next byte expected in order")

/* for sockets other than TCP's, whose bytes have no sequence numbers */
#define MG_EV_SOCK_MOVED(F, S) \
	F(S, u64, sock,   "socket") \
	F(S, s32, ret,    "bytes, or a negative errno") \
	F(S, x32, flags,  "MSG_* flags") \
	F(S, u32, queued, "bytes of memory, sending: in the send queue; receiving: in the receive queue, 4294967295 unknown") \
	F(S, u32, next,   "receiving: the buffer that will be read next; 4294967295 no buffer waits, 0 unknown") \
	F(S, e_kind, kind, "socket kind")

/* only where functions can be hooked; the states lock and release of calls need them */
#define MG_EV_SOCK_LOCK(F, S) \
	F(S, u64, sock, "socket")

#define MG_EV_SOCK_READY(F, S) \
	F(S, u64, sock,   "socket") \
	F(S, u32, queued, "bytes of memory in its receive queue; 4294967295 unknown, as for UNIX sockets") \
	F(S, u32, buffer, "the last buffer in the queue, 0 unknown") \
	F(S, u32, len,    "bytes in that buffer, 0 unknown") \
	F(S, e_kind, kind, "socket kind")

/* Sends with MSG_ZEROCOPY are numbered for each socket; completions name these numbers. */
#define MG_EV_ZEROCOPY_SENT(F, S) \
	F(S, u64, sock,  "socket cookie") \
	F(S, u32, first, "number of the socket's next send with MSG_ZEROCOPY when the call began") \
	F(S, u32, next,  "that number when the call returned: sends from `first` to the one before it belong to this call or to concurrent ones") \
	F(S, u32, most,  "largest number of them that can belong to this call")

#define MG_EV_ZEROCOPY_DONE(F, S) \
	F(S, u64, sock,   "socket cookie") \
	F(S, u32, first,  "first send of the last notification in the error queue") \
	F(S, u32, last,   "last send of that notification; sends that were notified before are included") \
	F(S, u8,  copied, "1 the kernel had copied the bytes nevertheless") \
	F(S, u8,  taken,  "1 the thread takes this notification out of the queue; 2 it had already been taken out: `first` and `last` are void")

#define MG_EV_SOCK_NEW(F, S) \
	F(S, u64, sock,   "socket") \
	F(S, u64, peer,   "UNIX: the socket it is connected to, 0 if none") \
	F(S, u32, netns,  "network namespace, inode number") \
	F(S, u16, lport,  "local port, for ICMP the identifier; 0 when anonymized") \
	F(S, u16, rport,  "remote port, 0 if not connected or anonymized") \
	F(S, e_family, family, "address family, AF_*") \
	F(S, e_kind, kind, "socket kind") \
	F(S, e_sock_proto, proto, "IP protocol, 0 for sockets without one, such as UNIX sockets")

/* for a socket other than TCP's; not for each datagram, and only for a few ends of a socket */
#define MG_EV_SOCK_PEER(F, S) \
	F(S, u64,  sock, "socket") \
	F(S, addr, addr, "address of the far end") \
	F(S, u16,  port, "its port, 0 if the protocol has none") \
	F(S, u8,   rx,   "1 a datagram came from this address, 0 one goes to it")

#define MG_EV_TCP_LISTEN(F, S) \
	F(S, u64, sock,        "cookie of the listening socket") \
	F(S, u32, drops,       "packets it has dropped since the last event of this kind, mostly SYNs for which a queue had no room") \
	F(S, u32, netns,       "network namespace, inode number") \
	F(S, u32, backlog,     "connections that wait for accept()") \
	F(S, u32, backlog_max, "limit of that number") \
	F(S, u16, lport,       "local port; 0 when anonymized")

/* as BPF records it; the drain writes it as `drop`, with names */
#define MG_EV_DROP_RAW(F, S) \
	F(S, u64, sock,     "socket") \
	F(S, u64, location, "address in the kernel") \
	F(S, u32, seq,      "as in packets") \
	F(S, u32, len,      "payload, bytes") \
	F(S, u32, ifindex,  "network device, 0 if none") \
	F(S, u32, reason,   "enum skb_drop_reason") \
	F(S, u16, segs,     "segments or datagrams it stands for") \
	F(S, e_proto, proto,    "IP protocol") \
	F(S, u8,  rx,       "1 if it was going to the socket, 0 if it came from it")

#define MG_EV_DROP(F, S) \
	F(S, u64, sock,        "socket") \
	F(S, u32, seq,         "as in packets") \
	F(S, u32, len,         "payload, bytes") \
	F(S, u32, ifindex,     "network device, 0 if none") \
	F(S, u16, segs,        "segments or datagrams it stands for") \
	F(S, e_proto, proto,       "IP protocol") \
	F(S, u8,  rx,          "1 if it was going to the socket, 0 if it came from it") \
	F(S, text32, reason,   "the kernel's reason (SKB_DROP_REASON_*)") \
	F(S, text32, location, "kernel function that dropped it")

#define MG_EV_TCP_RETRANSMIT(F, S) \
	F(S, u64, sock, "socket cookie, or the number of a request to connect") \
	F(S, u32, seq,  "sequence number of the first byte sent again") \
	F(S, u32, len,  "payload, bytes") \
	F(S, s32, err,  "0, or a negative errno if it was not sent; always 0 on kernels before 6.18") \
	F(S, u16, segs, "segments it stands for") \
	F(S, u8,  syn_ack, "1 for the SYN-ACK of a request to connect, which has no socket yet; else 0")

#define MG_EV_SOCK_STATE(F, S) \
	F(S, u64, sock,       "socket cookie") \
	F(S, u32, write_seq,  "next byte to be written") \
	F(S, u32, snd_una,    "oldest byte not acknowledged") \
	F(S, u32, rcv_nxt,    "next byte expected") \
	F(S, u32, copied_seq, "next byte to be read") \
	F(S, u32, netns,      "network namespace, inode number") \
	F(S, u16, lport,      "local port; 0 when anonymized") \
	F(S, u16, rport,      "remote port; 0 when anonymized") \
	F(S, e_tcp_state, old, "state left") \
	F(S, e_tcp_state, now,        "state entered") \
	F(S, e_family, family,     "AF_INET or AF_INET6") \
	F(S, e_opener, opener, "call that opened it") \
	F(S, e_ulp, ulp, "protocol that uses it in place of the program: TLS in the kernel, MPTCP, or another")

#define MG_EV_SOCK_ADDR(F, S) \
	F(S, u64,  sock,  "socket cookie") \
	F(S, addr, laddr, "local address") \
	F(S, addr, raddr, "remote address")

/* a socket that was already open when first seen: relates sequence numbers to byte offsets */
#define MG_EV_SOCK_OPEN(F, S) \
	F(S, u64, sock,           "socket cookie") \
	F(S, u64, bytes_acked,    "bytes acknowledged so far, the opener's SYN included") \
	F(S, u64, bytes_received, "bytes received in order so far") \
	F(S, u32, snd_una,        "oldest byte not acknowledged") \
	F(S, u32, snd_nxt,        "next byte to be sent") \
	F(S, u32, rcv_nxt,        "next byte expected") \
	F(S, u32, sent_once,      "bytes_sent - bytes_retrans, low 32 bits")

/* protocol state with a TCP event: it follows that event on its CPU. Figures are TCP_INFO's. */
#define MG_EV_TCP_STATE(F, S) \
	F(S, u64, sock,         "socket cookie") \
	F(S, u32, snd_wnd,      "window the peer offers, bytes") \
	F(S, u32, srtt_us,      "smoothed round-trip time, microseconds") \
	F(S, u32, rto_us,       "retransmission timeout, microseconds") \
	F(S, u32, packets_out,  "segments sent and not acknowledged") \
	F(S, u32, retrans_out,  "those of them that were sent again") \
	F(S, u32, snd_ssthresh, "slow-start threshold, segments; 2147483647: none yet") \
	F(S, u32, snd_cwnd,     "congestion window, segments") \
	F(S, u32, rcv_wnd,      "window offered to the peer, bytes")

#define MG_EV_TCP_MORE(F, S) \
	F(S, u64, sock,        "socket cookie") \
	F(S, u64, pacing_rate, "bytes a second; 18446744073709551615: not paced") \
	F(S, u32, write_seq,   "next byte to be written") \
	F(S, u32, copied_seq,  "next byte to be read") \
	F(S, u32, delivered,   "segments delivered so far") \
	F(S, u32, lost,        "segments presumed lost so far") \
	F(S, u32, wmem_queued, "bytes of memory in the send queue") \
	F(S, u32, notsent,     "bytes written and not sent yet")

#define MG_EV_TCP_LIMITS(F, S) \
	F(S, u64, sock,               "socket cookie") \
	F(S, u64, busy_us,            "time with data to send so far, microseconds") \
	F(S, u64, rwnd_limited_us,    "part of it in which the peer's window limited sending") \
	F(S, u64, sndbuf_limited_us,  "time in which the size of the send buffer limited sending") \
	F(S, u16, sacked_out, "segments reported by SACK; 65535: or more") \
	F(S, u16, lost_out,   "segments presumed lost; 65535: or more") \
	F(S, e_ca_state, ca_state,   "congestion state") \
	F(S, u8,  backoff,    "number of times the timeout has doubled") \
	F(S, u8,  retransmits, "timeouts in a row") \
	F(S, u8,  probes_out, "window or keep-alive probes in a row without an answer")

#define MG_EV_TCP_ALGORITHM(F, S) \
	F(S, u64,    sock, "socket cookie") \
	F(S, text16, name, "congestion control in use from now on")

#define MG_EV_TCP_CONG(F, S) \
	F(S, u64, sock,         "socket cookie") \
	F(S, u32, snd_una,      "oldest byte not acknowledged") \
	F(S, u32, snd_cwnd,     "congestion window, segments, before it changes") \
	F(S, u32, snd_ssthresh, "slow-start threshold, segments") \
	F(S, u32, packets_out,  "segments sent and not acknowledged") \
	F(S, u32, lost_out,     "those of them that are presumed lost") \
	F(S, e_ca_state, old,          "congestion state left") \
	F(S, e_ca_state, now,          "congestion state entered")

#define MG_EV_TCP_TIMEOUT(F, S) \
	F(S, u64, sock,    "socket cookie") \
	F(S, u32, snd_una, "oldest byte not acknowledged") \
	F(S, u32, rto_us,  "retransmission timeout, microseconds") \
	F(S, u16, count,   "timeouts since the last event of this kind: 1, or more if some sent nothing") \
	F(S, u8,  in_row,  "timeouts in a row, without an acknowledgement in between") \
	F(S, u8,  gave_up, "1 if it ended the connection")

#define MG_EV_TCP_WINDOW(F, S) \
	F(S, u64, sock,   "socket cookie") \
	F(S, u32, seq,    "sequence number of the segment with the new window") \
	F(S, u32, ack,    "its acknowledgement number") \
	F(S, u8,  own,    "1 the window offered to the peer, 0 the window the peer offers") \
	F(S, u8,  closed, "1 it becomes zero, 0 it opens again")

/* follows ip_out on its CPU where there is no tcp_recv: after one end has closed */
#define MG_EV_TCP_ROOM(F, S) \
	F(S, u64, sock,      "socket cookie") \
	F(S, u32, snd_una,   "oldest byte not acknowledged") \
	F(S, u32, snd_wnd,   "window the peer offers, bytes") \
	F(S, u32, cwnd,      "congestion window, segments") \
	F(S, u32, in_flight, "segments in flight, without the one that is being sent")

#define MG_EV_TCP_RESET(F, S) \
	F(S, u64, sock,   "socket cookie; 0 if there is no socket, which kernels before 6.10 do not report") \
	F(S, u32, netns,  "network namespace, inode number; 0 unknown") \
	F(S, u16, lport,  "local port; 0 when anonymized") \
	F(S, u16, rport,  "remote port; 0 when anonymized") \
	F(S, u8,  sent,   "1 sent, 0 received") \
	F(S, e_reset, reason, "reason; 0 unknown: for a received reset, and on kernels before 6.10") \
	F(S, e_tcp_state, state, "state of the connection, 0 without a socket")

/* follows ip_out or ip_in on its CPU */
#define MG_EV_IP_HEADER(F, S) \
	F(S, u64, sock,       "socket cookie of the local end") \
	F(S, u32, flow_label, "IPv6: flow label") \
	F(S, u16, ident,      "IPv4: identification") \
	F(S, u16, frag_off,   "IPv4: don't fragment 16384, more fragments 8192, offset in units of 8 bytes") \
	F(S, u8,  version,    "4 or 6") \
	F(S, u8,  tos,        "type of service or traffic class") \
	F(S, u8,  ttl,        "time to live or hop limit") \
	F(S, e_proto, protocol,   "transport protocol or next header") \
	F(S, u8,  sent,       "1 sent (ip_out), 0 received (ip_in)")

/* The kernel timestamps the segment that ends a send, at the places that it passes. */
#define MG_EV_STAMP_SEND(F, S) \
	F(S, u64, sock,      "socket cookie") \
	F(S, u32, end,       "sequence number behind the last byte of the send") \
	F(S, u32, snd_una,   "oldest byte not acknowledged") \
	F(S, u32, snd_nxt,   "next byte to be sent") \
	F(S, u32, snd_wnd,   "window the peer offers, bytes") \
	F(S, u32, cwnd,      "congestion window, segments") \
	F(S, u32, in_flight, "segments sent and not acknowledged") \
	F(S, u32, srtt_us,   "smoothed round-trip time, microseconds")

#define MG_EV_STAMP(F, S) \
	F(S, u64, sock,    "socket cookie") \
	F(S, u32, end,     "sequence number behind the last byte of the send") \
	F(S, u32, ifindex, "network device; 0 for an acknowledgement")

/* arg, nr, entry and io are those of a traced thread that blocks; of others they are 0 */
#define MG_EV_SCHED_SWITCH(F, S) \
	F(S, x64, arg,        "first argument of the system call in which it blocks, as a rule the file descriptor or the address of the lock") \
	F(S, u32, prev_tid,   "thread that leaves the CPU") \
	F(S, u32, next_tid,   "thread that gets it; 0 = idle") \
	F(S, u32, prev_state, "its state, 0 = still runnable") \
	F(S, s32, nr,         "number of that system call in the table that `entry` names") \
	F(S, u8,  preempt,    "1 if it was preempted") \
	F(S, e_entry, entry,  "how it had entered the kernel in which it blocks") \
	F(S, u8,  io,         "1 the kernel counts the block as waiting for a disk or another block device") \
	F(S, u8,  throttled,  "the thread is traced and could run, but its cgroup has used up its CPU quota: 1 the thread is stopped for that, 2 its run queue is")

#define MG_EV_SCHED_WAKING(F, S) \
	F(S, u32, wakee_tid, "thread to be woken; the event's tid is the waker") \
	F(S, u32, wakee_pid, "its process")

#define MG_EV_SCHED_MIGRATE(F, S) \
	F(S, u32, moved_tid, "thread that is moved; the event's tid is the thread that moves it") \
	F(S, u32, from_cpu,  "CPU it was on") \
	F(S, u32, to_cpu,    "CPU it will run on")

/* recorded when the switch is over: the event's tid is the thread that got the CPU */
#define MG_EV_SCHED_COST(F, S) \
	F(S, u32, prev_tid,  "thread that left the CPU; 0 = idle") \
	F(S, u32, next_tid,  "thread that got it; 0 = idle") \
	F(S, u32, decide_ns, "from the scheduler's entry to sched_switch") \
	F(S, u32, reload_ns, "from there to the scheduler's return in the next thread") \
	F(S, u32, irqs,      "interrupts taken in between; their time is included")

#define MG_EV_SCHED_TASK(F, S) \
	F(S, u64, cpu_ns,   "CPU time the thread has used, ns") \
	F(S, x64, pending,  "signals pending for it, one bit each, signal 1 the lowest") \
	F(S, u32, task_tid, "thread that leaves or gets the CPU") \
	F(S, x32, state,    "its state, 0 = runnable") \
	F(S, u32, runnable, "runnable threads on this CPU, including the one that gets it; 4294967295 = unknown") \
	F(S, u8,  leaves,   "1 the thread leaves the CPU, 0 it gets the CPU")

#define MG_EV_SOFTIRQ(F, S) \
	F(S, e_softirq, vec, "kind of softirq")

/*
 * Recorded with --stacks. A stack is named by its number, and described by the stack_frame events
 * at the end of the recording.
 */
#define MG_EV_STACK_TAKEN(F, S) \
	F(S, u64, sock,     "socket cookie; of a block, that of the call it is in; 0 none") \
	F(S, u64, user,     "number of the program's stack, 0 = none was taken") \
	F(S, u64, kernel,   "number of the kernel's stack, 0 = none was taken") \
	F(S, u64, off_ns,   "stack_block: time off the CPU, ns; else 0") \
	F(S, u32, task_tid, "thread whose stack it is; 0: that of an interrupt, or of no traced thread") \
	F(S, u32, task_pid, "its process")

#define MG_EV_IRQ(F, S) \
	F(S, u32, number, "interrupt number if of a device, else vector") \
	F(S, e_irq, source, "a device, or the kind of the CPU's own interrupt")

#define MG_EV_TASK_FORK(F, S) \
	F(S, u32,    child_tid, "new thread") \
	F(S, u32,    child_pid, "its process") \
	F(S, text16, comm,      "its name")

#define MG_EV_TASK_EXEC(F, S) \
	F(S, text16, comm, "name of the program")

#define MG_EV_TASK_EXIT(F, S) \
	F(S, u32, leader, "1 if the thread was the first of its process")

/*
 * E(id, name, NAME, layer, direction, stage, state, handler, doc): in order of layers; ids are
 * stored in traces, and each layer has some left.
 *
 * direction: OUT what the socket sends, IN what it receives, ANY either, by its payload, or neither.
 * stage:     the stage of a byte's way that it records, as enum tx_layer and rx_layer name them.
 * state:     the state in which a call is from there on, as enum call_state names it; NONE: as it was.
 * handler:   the one of this name in correlate/core/trace/dispatch.c; `none`: listed only.
 */
#define MG_RING_EVENTS(E) \
	E(1,  sys_enter,       SYS_ENTER,     SYSCALL,   ANY, NONE,    NONE,   call_enter,    "a traced thread enters a socket system call") \
	E(2,  sys_exit,        SYS_EXIT,      SYSCALL,   ANY, NONE,    NONE,   call_exit,     "a traced thread leaves a socket system call") \
	E(3,  zerocopy_sent,   ZEROCOPY_SENT, SYSCALL,   OUT, NONE,    NONE,   zerocopy_sent, "a call has sent with MSG_ZEROCOPY: the kernel holds its pages") \
	E(4,  stack_call,      STACK_TAKEN,   SYSCALL,   ANY, NONE,    NONE,   stack,         "the program's stack at the beginning of a call, with --stacks; follows sys_enter") \
	E(8,  tcp_send,        TCP_SEND,      SOCKET,    OUT, COPY,    TCP,    send,          "TCP is about to copy bytes of a send from the program") \
	E(9,  sock_sent,       SOCK_MOVED,    SOCKET,    OUT, NONE,    NONE,   moved,         "a socket other than TCP's has accepted a message to send") \
	E(10, sock_received,   SOCK_MOVED,    SOCKET,    IN,  NONE,    NONE,   moved,         "a socket other than TCP's has passed a message to the program") \
	E(11, sock_ready,      SOCK_READY,    SOCKET,    IN,  NONE,    NONE,   queued,        "data is in the socket's receive queue") \
	E(12, sock_copy,       SOCK_COPY,     SOCKET,    IN,  COPY,    SOCKET, copy,          "bytes are copied to the program") \
	E(13, sock_new,        SOCK_NEW,      SOCKET,    ANY, NONE,    NONE,   sock_new,      "a socket other than TCP's is first seen, or its addresses have changed") \
	E(14, lock_wait,       SOCK_LOCK,     SOCKET,    ANY, NONE,    NONE,   none,          "a call finds the socket's lock taken and waits for it") \
	E(15, lock_got,        SOCK_LOCK,     SOCKET,    ANY, NONE,    NONE,   none,          "the call has the lock") \
	E(16, backlog_begin,   SOCK_LOCK,     SOCKET,    ANY, NONE,    NONE,   none,          "a call is about to release the lock, and first processes what came meanwhile") \
	E(17, backlog_end,     SOCK_LOCK,     SOCKET,    ANY, NONE,    NONE,   none,          "the call has processed what came meanwhile") \
	E(18, zerocopy_done,   ZEROCOPY_DONE, SOCKET,    OUT, NONE,    NONE,   zerocopy_done, "the kernel releases the pages of sends with MSG_ZEROCOPY") \
	E(24, tcp_recv,        TCP_RECV,      TCP,       IN,  TCP,     TCP,    segment,       "TCP processes a segment in an established connection") \
	E(25, tcp_ready,       TCP_READY,     TCP,       IN,  READY,   TCP,    in_order,      "bytes are in order and readable") \
	E(26, tcp_retransmit,  TCP_RETRANSMIT, TCP,      OUT, NONE,    NONE,   retransmit,    "TCP sends bytes again") \
	E(27, tcp_reset,       TCP_RESET,     TCP,       ANY, NONE,    NONE,   protocol,      "a reset is sent or received") \
	E(28, tcp_timeout,     TCP_TIMEOUT,   TCP,       OUT, NONE,    NONE,   protocol,      "the retransmission timer expired") \
	E(29, tcp_cong,        TCP_CONG,      TCP,       OUT, NONE,    NONE,   protocol,      "the congestion state changes") \
	E(30, tcp_window,      TCP_WINDOW,    TCP,       ANY, NONE,    NONE,   protocol,      "a window becomes zero, or opens again") \
	E(31, tcp_state,       TCP_STATE,     TCP,       OUT, NONE,    NONE,   protocol,      "state of the connection at a TCP event, at level light and full") \
	E(32, tcp_more,        TCP_MORE,      TCP,       OUT, NONE,    NONE,   protocol,      "more of the connection's state, at level full") \
	E(33, tcp_limits,      TCP_LIMITS,    TCP,       OUT, NONE,    NONE,   protocol,      "times in which a window or the send buffer limited sending, and loss recovery, at level full") \
	E(34, tcp_algorithm,   TCP_ALGORITHM, TCP,       OUT, NONE,    NONE,   protocol,      "a connection's congestion control, when first seen and when changed, at level light and full") \
	E(35, tcp_room,        TCP_ROOM,      TCP,       OUT, NONE,    NONE,   room,          "a connection's windows after one end has closed: at the close, and as segments are sent and received") \
	E(36, tcp_listen,      TCP_LISTEN,    TCP,       ANY, NONE,    NONE,   listen,        "a listening socket has dropped packets; recorded at accept(), as the socket closes and at the end") \
	E(37, sock_state,      SOCK_STATE,    TCP,       ANY, NONE,    NONE,   sock_state,    "a connection changes state") \
	E(38, sock_addr,       SOCK_ADDR,     TCP,       ANY, NONE,    NONE,   sock_addr,     "the addresses of a connection") \
	E(39, sock_open,       SOCK_OPEN,     TCP,       ANY, NONE,    NONE,   sock_open,     "a connection that was already open when first seen") \
	E(40, stack_retransmit, STACK_TAKEN,  TCP,       OUT, NONE,    NONE,   stack,         "the stack at a retransmission, with --stacks; follows tcp_retransmit") \
	E(42, stamp_send,      STAMP_SEND,    TIMESTAMPS, OUT, NONE,   NONE,   stamp_send,    "a send is in the send buffer, and the kernel will timestamp the segment that ends it") \
	E(43, stamp_queue,     STAMP,         TIMESTAMPS, OUT, NONE,   NONE,   stamp,         "the segment that ends a send reaches the device's queue") \
	E(44, stamp_driver,    STAMP,         TIMESTAMPS, OUT, NONE,   NONE,   stamp,         "the driver is about to transmit it") \
	E(45, stamp_ack,       STAMP,         TIMESTAMPS, OUT, NONE,   NONE,   stamp,         "the peer has acknowledged it") \
	E(48, ip_out,          PACKET,        IP,        OUT, IP_OUT,  IP,     packet_out,    "a transport hands a segment or datagram to IP") \
	E(49, ip_post,         PACKET,        IP,        OUT, IP_POST, IP,     packet_out,    "IP hands a packet to the device layer") \
	E(50, ip_in,           PACKET,        IP,        IN,  IP,      NONE,   packet_in,     "IP hands a segment or datagram to its transport") \
	E(51, ip_forward,      PACKET,        IP,        ANY, NONE,    NONE,   packet,        "IP forwards a packet") \
	E(52, ip_header,       IP_HEADER,     IP,        ANY, NONE,    NONE,   header,        "the IP header of a segment, at level full") \
	E(53, sock_peer,       SOCK_PEER,     IP,        ANY, NONE,    NONE,   sock_peer,     "a far end with which a socket that is not connected exchanges datagrams") \
	E(54, drop_raw,        DROP_RAW,      IP,        ANY, NONE,    NONE,   none,          "a packet was dropped, before its names are known; not in traces") \
	E(56, stack_drop,      STACK_TAKEN,   IP,        ANY, NONE,    NONE,   stack,         "the stack at a drop, with --stacks; follows it") \
	E(60, nf_out_end,      PACKET,        NETFILTER, OUT, NONE,    NONE,   packet,        "netfilter has passed a packet through its hook for locally sent packets") \
	E(61, nf_post_begin,   PACKET,        NETFILTER, OUT, NONE,    NONE,   packet,        "a packet reaches netfilter's hook after routing") \
	E(62, ip_recv,         PACKET,        NETFILTER, IN,  NONE,    NONE,   packet,        "a packet reaches IP, before netfilter") \
	E(63, nf_pre_end,      PACKET,        NETFILTER, IN,  NONE,    NONE,   packet,        "netfilter has passed a packet through its hook before routing") \
	E(64, nf_in_begin,     PACKET,        NETFILTER, IN,  NONE,    NONE,   packet,        "a packet reaches netfilter's hook for locally received packets") \
	E(68, dev_queue,       PACKET,        DEVICE,    OUT, QUEUE,   DEVICE, packet_out,    "a packet reaches the device's queue") \
	E(69, dev_xmit,        PACKET,        DEVICE,    OUT, XMIT,    DEVICE, packet_out,    "the driver is asked to transmit a packet") \
	E(70, dev_done,        DEV_DONE,      DEVICE,    OUT, DONE,    TCP,    done,          "the driver has taken a packet, or refused it") \
	E(71, dev_recv,        PACKET,        DEVICE,    IN,  DEV,     NONE,   packet_in,     "a device delivers a segment to the stack") \
	E(72, dev_recv_late,   DEV_RECV_LATE, DEVICE,    IN,  NONE,    NONE,   none,          "a device has delivered a datagram whose socket was known only at IP, since its addresses are translated here; recorded with ip_in") \
	E(76, dev_gro,         PACKET,        GRO,       IN,  NONE,    NONE,   packet,        "a device delivers a frame, before GRO") \
	E(80, sched_switch,    SCHED_SWITCH,  SCHED,     ANY, NONE,    NONE,   switch,        "the CPU passes from one thread to another") \
	E(81, sched_waking,    SCHED_WAKING,  SCHED,     ANY, NONE,    NONE,   waking,        "a traced thread is made runnable") \
	E(82, sched_migrate,   SCHED_MIGRATE, SCHED,     ANY, NONE,    NONE,   none,          "a traced thread is moved to another CPU") \
	E(83, sched_task,      SCHED_TASK,    SCHED,     ANY, NONE,    NONE,   none,          "state of the thread that leaves the CPU, or, if that is not traced, of the one that gets it, at level full") \
	E(84, softirq_entry,   SOFTIRQ,       SCHED,     ANY, NONE,    NONE,   none,          "a softirq begins on top of a traced thread") \
	E(85, softirq_exit,    SOFTIRQ,       SCHED,     ANY, NONE,    NONE,   none,          "a softirq on top of a traced thread ends") \
	E(86, irq_entry,       IRQ,           SCHED,     ANY, NONE,    NONE,   none,          "an interrupt begins on top of a traced thread") \
	E(87, irq_exit,        IRQ,           SCHED,     ANY, NONE,    NONE,   none,          "an interrupt on top of a traced thread ends") \
	E(88, task_fork,       TASK_FORK,     SCHED,     ANY, NONE,    NONE,   fork,          "a traced thread creates another, or was running already when the recording began") \
	E(89, task_exec,       TASK_EXEC,     SCHED,     ANY, NONE,    NONE,   exec,          "a traced process runs another program") \
	E(90, task_exit,       TASK_EXIT,     SCHED,     ANY, NONE,    NONE,   exit,          "a traced thread ends") \
	E(91, stack_block,     STACK_TAKEN,   SCHED,     ANY, NONE,    NONE,   stack,         "a thread runs again that had been off the CPU for long after it blocked: its stacks when it left the CPU, with --stacks") \
	E(96, sched_wakeup,    SCHED_WAKING,  SWITCH,    ANY, NONE,    NONE,   wakeup,        "a woken thread is on a run queue; the event's tid is the thread that was interrupted") \
	E(97, sched_wakeup_new, SCHED_WAKING, SWITCH,    ANY, NONE,    NONE,   none,          "a new thread is on a run queue") \
	E(98, sched_cost,      SCHED_COST,    SWITCH,    ANY, NONE,    NONE,   switch_cost,   "duration of a switch from or to a traced thread")

/* in a CPU's stream like those, but written by the drain, which names what BPF gives by number */
#define MG_NAMED_EVENTS(E) \
	E(55, drop,            DROP,          IP,        ANY, NONE,    NONE,   drop,          "a packet was dropped")

/*
 * S(event, by): recorded from what the program of another event, `by`, has stored; so where that
 * was skipped, both are missing.
 */
#define MG_STORED_EVENTS(S) \
	S(sys_exit, sys_enter) S(dev_done, dev_xmit) S(sched_cost, sched_switch) \
	S(sched_task, sched_switch) S(ip_header, ip_out) S(ip_header, ip_in) S(tcp_room, ip_out) \
	S(tcp_room, ip_in) S(stack_call, sys_enter) S(stack_retransmit, tcp_retransmit) \
	S(stack_drop, drop) S(stack_block, sched_switch) S(stamp_queue, stamp_send) \
	S(stamp_driver, stamp_send) S(stamp_ack, stamp_send)

#define MG_NOT_KNOWN 0xffffffffu /* a 32-bit number that this kernel does not provide */

/* P(NAME, struct): the payloads above; several events may share one */
#define MG_SYSTEM_PAYLOADS(P) \
	P(SYS_ENTER, sys_enter) P(SYS_EXIT, sys_exit) P(TCP_SEND, tcp_send) P(PACKET, packet) \
	P(DEV_DONE, dev_done) P(DEV_RECV_LATE, dev_recv_late) P(TCP_RECV, tcp_recv) P(TCP_READY, tcp_ready) \
	P(SOCK_COPY, sock_copy) P(TCP_RETRANSMIT, tcp_retransmit) P(SOCK_STATE, sock_state) \
	P(TCP_STATE, tcp_state) P(TCP_MORE, tcp_more) P(TCP_LIMITS, tcp_limits) \
	P(TCP_ALGORITHM, tcp_algorithm) P(TCP_CONG, tcp_cong) P(TCP_TIMEOUT, tcp_timeout) \
	P(TCP_WINDOW, tcp_window) P(TCP_ROOM, tcp_room) P(TCP_RESET, tcp_reset) P(IP_HEADER, ip_header) \
	P(SOCK_ADDR, sock_addr) P(SOCK_OPEN, sock_open) P(SCHED_SWITCH, sched_switch) \
	P(SCHED_WAKING, sched_waking) P(SCHED_MIGRATE, sched_migrate) P(SCHED_COST, sched_cost) \
	P(SCHED_TASK, sched_task) P(STACK_TAKEN, stack_taken) P(IRQ, irq) P(SOFTIRQ, softirq) P(TASK_FORK, task_fork) \
	P(TASK_EXEC, task_exec) P(TASK_EXIT, task_exit) P(SOCK_MOVED, sock_moved) P(SOCK_READY, sock_ready) \
	P(ZEROCOPY_SENT, zerocopy_sent) P(ZEROCOPY_DONE, zerocopy_done) P(SOCK_PEER, sock_peer) \
	P(TCP_LISTEN, tcp_listen) P(SOCK_NEW, sock_new) P(SOCK_LOCK, sock_lock) P(DROP_RAW, drop_raw) \
	P(DROP, drop) P(STAMP_SEND, stamp_send) P(STAMP, stamp)
#define MG_PAYLOADS(P) MG_SYSTEM_PAYLOADS(P) MG_OWN_PAYLOADS(P)

/* clang-format on */

#define MG_SYSTEM_EVENTS(E) MG_RING_EVENTS(E) MG_NAMED_EVENTS(E)
#define MG_KERNEL_EVENTS(E) MG_SYSTEM_EVENTS(E) MG_TRACER_EVENTS(E)

/*
 * Set in the socket number of segments that arrived for a request to connect, before it had a
 * socket; the rest names the request.
 */
#define MG_REQUEST_ID (1ull << 63)

/* ids of application events: one for each row of MG_FUNCTIONS */
#define MG_APP_BASE 128
/* points the program marks (magnet/marker.h) */
#define MG_EVENT_mark 240

/* ---- expansions every user needs ------------------------------------------------------------ */

#define MG_TYPEDEF(tag, ctype, bytes, class) typedef ctype mg_##tag;
MG_TYPES(MG_TYPEDEF)
#undef MG_TYPEDEF

#define MG_MEMBER(S, type, name, doc) mg_##type name;
#define MG_STRUCT(NAME, name)             \
	struct mg_##name {                \
		MG_EV_##NAME(MG_MEMBER, ) \
	};
MG_PAYLOADS(MG_STRUCT)
#undef MG_STRUCT

/* bytes of an event's payload in the ring and in the trace: the sum of its fields */
#define MG_PLUS(S, type, name, doc) +sizeof(mg_##type)
#define MG_PAYLOAD_SIZE(NAME)       (0 MG_EV_##NAME(MG_PLUS, ))

#define MG_ID(id, name, ...) MG_EVENT_##name = id,
enum mg_event_id { MG_KERNEL_EVENTS(MG_ID) MG_EVENT_KERNEL_END };
#undef MG_ID

#endif
