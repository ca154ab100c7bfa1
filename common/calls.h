/* SPDX-License-Identifier: MIT */
/* The calls magnet follows: system calls on the kernel side, libc functions on the application
 * side. */
#ifndef MAGNET_COMMON_CALLS_H
#define MAGNET_COMMON_CALLS_H

/* clang-format off */

/*
 * X(id, name, direction, length argument, flags argument): argument numbers count from 0, -1 where
 * the call has none. Ids are stored in traces: add at the end, never renumber. splice() is two, by
 * the end at which the socket is.
 */
#define MG_SYSCALLS(X) \
	X(1,  read,     RX,    2, -1) \
	X(2,  write,    TX,    2, -1) \
	X(3,  readv,    RX,   -1, -1) \
	X(4,  writev,   TX,   -1, -1) \
	X(5,  sendto,   TX,    2,  3) \
	X(6,  recvfrom, RX,    2,  3) \
	X(7,  sendmsg,  TX,   -1,  2) \
	X(8,  recvmsg,  RX,   -1,  2) \
	X(9,  sendmmsg, TX,   -1,  3) \
	X(10, recvmmsg, RX,   -1,  3) \
	X(11, sendfile, TX,    3, -1) \
	X(12, connect,  OTHER, -1, -1) \
	X(13, accept,   OTHER, -1, -1) \
	X(14, accept4,  OTHER, -1,  3) \
	X(15, shutdown, OTHER, -1, -1) \
	X(16, close,    OTHER, -1, -1) \
	X(17, socket,   OTHER, -1, -1) \
	X(18, preadv2,  RX,   -1, -1) \
	X(19, pwritev2, TX,   -1, -1) \
	X(20, splice,   TX,    4, -1) \
	X(21, splice_in, RX,   4, -1) \
	X(22, bind,     OTHER, -1, -1) \
	X(23, listen,   OTHER, -1, -1) \
	X(24, socketpair, OTHER, -1, -1) \
	X(25, setsockopt, OTHER, -1, -1) \
	X(26, getsockopt, OTHER, -1, -1) \
	X(27, io_uring_enter, OTHER, -1, -1) \
	X(28, tee,      OTHER, 2, -1) \
	X(29, vmsplice, OTHER, -1, -1)

/*
 * X(number, name, direction): the wrapped libc functions that have an event of their own. Waits are
 * logged on request only; so is `entry`, which tells that a call begins, `ret` being its number.
 */
#define MG_FUNCTIONS(X) \
	X(0,  send,     TX) \
	X(1,  sendto,   TX) \
	X(2,  sendmsg,  TX) \
	X(3,  write,    TX) \
	X(4,  writev,   TX) \
	X(5,  recv,     RX) \
	X(6,  recvfrom, RX) \
	X(7,  recvmsg,  RX) \
	X(8,  read,     RX) \
	X(9,  readv,    RX) \
	X(10, connect,  OTHER) \
	X(11, accept,   OTHER) \
	X(12, accept4,  OTHER) \
	X(13, socket,   OTHER) \
	X(14, shutdown, OTHER) \
	X(15, close,    OTHER) \
	X(16, sendmmsg, TX) \
	X(17, recvmmsg, RX) \
	X(18, preadv2,  RX) \
	X(19, pwritev2, TX) \
	X(20, sendfile, TX) \
	X(21, splice,   TX) \
	X(22, splice_in, RX) \
	X(23, bind,     OTHER) \
	X(24, listen,   OTHER) \
	X(25, socketpair, OTHER) \
	X(26, setsockopt, OTHER) \
	X(27, getsockopt, OTHER) \
	X(28, poll,     WAIT) \
	X(29, ppoll,    WAIT) \
	X(30, select,   WAIT) \
	X(31, pselect,  WAIT) \
	X(32, epoll_wait, WAIT) \
	X(33, epoll_pwait, WAIT) \
	X(34, epoll_pwait2, WAIT) \
	X(35, entry,    ENTRY) \
	X(36, tee,      OTHER) \
	X(37, vmsplice, OTHER)

/* X(value, name): what a descriptor is. Everything below MG_KIND_TCP is not traced. */
#define MG_KINDS(X) \
	X(0, unknown) \
	X(1, other) \
	X(2, tcp) \
	X(3, udp) \
	X(4, unix_stream) \
	X(5, unix_dgram) \
	X(6, unix_seqpacket) \
	X(7, netlink) \
	X(8, raw) \
	X(9, socket) \
	X(10, vsock) \
	X(11, several)

/* clang-format on */

enum mg_direction { MG_DIR_TX, MG_DIR_RX, MG_DIR_OTHER, MG_DIR_WAIT, MG_DIR_ENTRY };

#define MG_SYS_ID(id, name, dir, len, flags) MG_SYS_##name = id,
enum mg_syscall { MG_SYS_none, MG_SYSCALLS(MG_SYS_ID) MG_SYS_END };
#undef MG_SYS_ID

#define MG_FN_ID(n, name, dir) MG_FN_##name = n,
enum mg_function { MG_FUNCTIONS(MG_FN_ID) MG_FN_END };
#undef MG_FN_ID

/* They have an option, and no flags. */
#define MG_FN_HAS_OPTION(fn) ((fn) == MG_FN_setsockopt || (fn) == MG_FN_getsockopt)

/* They wait for several descriptors, and have a number of them in place of a length. */
static inline int mg_fn_waits(unsigned int fn)
{
	switch (fn) {
#define MG_FN_WAITS(n, name, dir) \
	case n:                   \
		return MG_DIR_##dir == MG_DIR_WAIT;
		MG_FUNCTIONS(MG_FN_WAITS)
#undef MG_FN_WAITS
	default:
		return 0;
	}
}

#define MG_KIND_ID(v, name) MG_KIND_##name = v,
enum mg_kind { MG_KINDS(MG_KIND_ID) MG_KIND_END };
#undef MG_KIND_ID

/*
 * Mark in the sixth argument of a system call with fewer arguments: libmagnet.so makes the call for
 * itself. The kernel ignores the mark, and the kernel side the call.
 */
#define MG_NOT_THE_PROGRAMS 0x6d61676e6574l /* "magnet" */

#define MG_KIND_TRACED(kind) ((kind) >= MG_KIND_tcp)

#endif
