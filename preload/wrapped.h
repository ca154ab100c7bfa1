/* SPDX-License-Identifier: MIT */
/*
 * The wrapped calls, each written once.
 *
 * W(fn, fallback, type, name, parameters, arguments, kind, fd, asked, flags, after)
 *   fn         row of MG_FUNCTIONS the call is logged as
 *   fallback   symbol to call where the C library has none of this name
 *   kind       kind of the descriptor; decides whether the call is logged
 *   fd         descriptor to log
 *   asked      bytes asked for; of an option its value, of a wait its number of descriptors
 *   flags      MSG_* flags; of setsockopt() and getsockopt() the option
 *   after      book-keeping once `ret` is known, and the fields of `c` that only some calls fill
 *              in; must not change errno
 *
 * B(type, name, parameters, arguments, before, after): wrapped for book-keeping only. Every call
 * that copies, receives or closes a descriptor must be wrapped, or its number keeps its old kind.
 */
#ifndef MAGNET_PRELOAD_WRAPPED_H
#define MAGNET_PRELOAD_WRAPPED_H

/* clang-format off */
#define MG_WRAPPED(W) \
	W(MG_FN_send, send, ssize_t, send, (int fd, const void *buf, size_t len, int flags), \
		(fd, buf, len, flags), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_sendto, sendto, ssize_t, sendto, \
		(int fd, const void *buf, size_t len, int flags, const void *to, socklen_t tolen), \
		(fd, buf, len, flags, to, tolen), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_sendmsg, sendmsg, ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), \
		(fd, msg, flags), fd_kind(fd), fd, MSG_BYTES(msg), flags, NOTHING) \
	W(MG_FN_write, write, ssize_t, write, (int fd, const void *buf, size_t len), \
		(fd, buf, len), fd_kind(fd), fd, len, 0, NOTHING) \
	W(MG_FN_writev, writev, ssize_t, writev, (int fd, const struct iovec *iov, int count), \
		(fd, iov, count), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_recv, recv, ssize_t, recv, (int fd, void *buf, size_t len, int flags), \
		(fd, buf, len, flags), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_recv, recv, ssize_t, __recv_chk, (int fd, void *buf, size_t len, size_t size, int flags), \
		(fd, buf, len, size, flags), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_recvfrom, recvfrom, ssize_t, recvfrom, \
		(int fd, void *buf, size_t len, int flags, void *from, socklen_t *fromlen), \
		(fd, buf, len, flags, from, fromlen), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_recvfrom, recvfrom, ssize_t, __recvfrom_chk, \
		(int fd, void *buf, size_t len, size_t size, int flags, void *from, socklen_t *fromlen), \
		(fd, buf, len, size, flags, from, fromlen), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_recvmsg, recvmsg, ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), \
		(fd, msg, flags), fd_kind(fd), fd, MSG_BYTES(msg), flags, \
		if (ret >= 0) fd_received(msg, CALLER)) \
	W(MG_FN_read, read, ssize_t, read, (int fd, void *buf, size_t len), \
		(fd, buf, len), fd_kind(fd), fd, len, 0, NOTHING) \
	W(MG_FN_read, read, ssize_t, __read_chk, (int fd, void *buf, size_t len, size_t size), \
		(fd, buf, len, size), fd_kind(fd), fd, len, 0, NOTHING) \
	W(MG_FN_readv, readv, ssize_t, readv, (int fd, const struct iovec *iov, int count), \
		(fd, iov, count), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_connect, connect, int, connect, (int fd, const void *addr, socklen_t len), \
		(fd, addr, len), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_accept, accept, int, accept, (int fd, void *addr, socklen_t *len), \
		(fd, addr, len), fd_kind(fd), fd, 0, 0, fd_set_kind(ret, kind)) \
	W(MG_FN_accept4, accept4, int, accept4, (int fd, void *addr, socklen_t *len, int flags), \
		(fd, addr, len, flags), fd_kind(fd), fd, 0, flags, fd_set_kind(ret, kind)) \
	W(MG_FN_socket, socket, int, socket, (int domain, int type, int protocol), \
		(domain, type, protocol), \
		socket_kind(domain, type, protocol, CALLER), ret, 0, 0, \
		if (kind == MG_KIND_other) ret = guard_adopt(ret); else fd_set_kind(ret, kind)) \
	W(MG_FN_shutdown, shutdown, int, shutdown, (int fd, int how), \
		(fd, how), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_close, close, int, close, (int fd), (guard_close(fd, CALLER)), fd_ending(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_sendmmsg, sendmmsg, int, sendmmsg, \
		(int fd, struct mmsghdr *msgs, unsigned int n, int flags), (fd, msgs, n, flags), \
		fd_kind(fd), fd, MMSG_ASKED(msgs), flags, c.bytes = mmsg_bytes(msgs, ret)) \
	W(MG_FN_recvmmsg, recvmmsg, int, recvmmsg, \
		(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout), \
		(fd, msgs, n, flags, timeout), fd_kind(fd), fd, MMSG_ASKED(msgs), flags, \
		mmsg_received(msgs, ret, CALLER); c.bytes = mmsg_bytes(msgs, ret)) \
	W(MG_FN_preadv2, preadv2, ssize_t, preadv2, \
		(int fd, const struct iovec *iov, int count, off_t at, int flags), \
		(fd, iov, count, at, flags), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_pwritev2, pwritev2, ssize_t, pwritev2, \
		(int fd, const struct iovec *iov, int count, off_t at, int flags), \
		(fd, iov, count, at, flags), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_preadv2, preadv2, ssize_t, preadv64v2, \
		(int fd, const struct iovec *iov, int count, off_t at, int flags), \
		(fd, iov, count, at, flags), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_pwritev2, pwritev2, ssize_t, pwritev64v2, \
		(int fd, const struct iovec *iov, int count, off_t at, int flags), \
		(fd, iov, count, at, flags), fd_kind(fd), fd, IOV_BYTES(iov, count), 0, NOTHING) \
	W(MG_FN_sendfile, sendfile, ssize_t, sendfile, \
		(int out, int in, off_t *at, size_t len), (out, in, at, len), \
		fd_kind(out), out, len, 0, NOTHING) \
	W(MG_FN_sendfile, sendfile64, ssize_t, sendfile64, \
		(int out, int in, off_t *at, size_t len), (out, in, at, len), \
		fd_kind(out), out, len, 0, NOTHING) \
	/* one end is a pipe, the other may be a socket */ \
	W(MG_KIND_TRACED(fd_kind(in)) ? MG_FN_splice_in : MG_FN_splice, splice, ssize_t, splice, \
		(int in, off_t *in_at, int out, off_t *out_at, size_t len, unsigned int flags), \
		(in, in_at, out, out_at, len, flags), \
		MG_KIND_TRACED(fd_kind(in)) ? fd_kind(in) : fd_kind(out), \
		MG_KIND_TRACED(fd_kind(in)) ? in : out, len, 0, NOTHING) \
	/* these take pipes only, and fail on sockets */ \
	W(MG_FN_tee, tee, ssize_t, tee, (int in, int out, size_t len, unsigned int flags), \
		(in, out, len, flags), fd_kind(in), in, len, 0, NOTHING) \
	W(MG_FN_vmsplice, vmsplice, ssize_t, vmsplice, \
		(int fd, const struct iovec *iov, size_t count, unsigned int flags), \
		(fd, iov, count, flags), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_bind, bind, int, bind, (int fd, const void *addr, socklen_t len), \
		(fd, addr, len), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_listen, listen, int, listen, (int fd, int backlog), \
		(fd, backlog), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_socketpair, socketpair, int, socketpair, \
		(int domain, int type, int protocol, int *fds), (domain, type, protocol, fds), \
		socket_kind(domain, type, protocol, CALLER), \
		ret == 0 ? fds[0] : -1, 0, 0, if (ret == 0) fd_set_pair(fds, kind)) \
	W(MG_FN_setsockopt, setsockopt, int, setsockopt, \
		(int fd, int level, int option, const void *value, socklen_t len), \
		(fd, level, option, value, len), fd_kind(fd), fd, \
		OPTION_VALUE(value, len), OPTION(level, option), NOTHING) \
	W(MG_FN_getsockopt, getsockopt, int, getsockopt, \
		(int fd, int level, int option, void *value, socklen_t *len), \
		(fd, level, option, value, len), fd_kind(fd), fd, \
		OPTION_VALUE(value, *len), OPTION(level, option), NOTHING) \
	W(MG_FN_poll, poll, int, poll, (struct pollfd *fds, nfds_t n, int timeout), \
		(fds, n, timeout), MG_KIND_several, -1, n, 0, NOTHING) \
	W(MG_FN_poll, poll, int, __poll_chk, (struct pollfd *fds, nfds_t n, int timeout, size_t size), \
		(fds, n, timeout, size), MG_KIND_several, -1, n, 0, NOTHING) \
	W(MG_FN_ppoll, ppoll, int, ppoll, \
		(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set), \
		(fds, n, timeout, set), MG_KIND_several, -1, n, 0, NOTHING) \
	W(MG_FN_select, select, int, select, \
		(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout), \
		(n, r, w, x, timeout), MG_KIND_several, -1, (uint64_t)n, 0, NOTHING) \
	W(MG_FN_pselect, pselect, int, pselect, (int n, fd_set *r, fd_set *w, fd_set *x, \
		const struct timespec *timeout, const sigset_t *set), \
		(n, r, w, x, timeout, set), MG_KIND_several, -1, (uint64_t)n, 0, NOTHING) \
	W(MG_FN_epoll_wait, epoll_wait, int, epoll_wait, \
		(int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), \
		MG_KIND_several, fd, (uint64_t)n, 0, NOTHING) \
	W(MG_FN_epoll_pwait, epoll_pwait, int, epoll_pwait, \
		(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *set), \
		(fd, events, n, timeout, set), MG_KIND_several, fd, (uint64_t)n, 0, NOTHING) \
	W(MG_FN_epoll_pwait2, epoll_pwait2, int, epoll_pwait2, (int fd, struct epoll_event *events, \
		int n, const struct timespec *timeout, const sigset_t *set), \
		(fd, events, n, timeout, set), MG_KIND_several, fd, (uint64_t)n, 0, NOTHING) \
	/* aliases that the C library still exports and old programs import */ \
	W(MG_FN_send, send, ssize_t, __send, (int fd, const void *buf, size_t len, int flags), \
		(fd, buf, len, flags), fd_kind(fd), fd, len, flags, NOTHING) \
	W(MG_FN_write, write, ssize_t, __write, (int fd, const void *buf, size_t len), \
		(fd, buf, len), fd_kind(fd), fd, len, 0, NOTHING) \
	W(MG_FN_read, read, ssize_t, __read, (int fd, void *buf, size_t len), \
		(fd, buf, len), fd_kind(fd), fd, len, 0, NOTHING) \
	W(MG_FN_connect, connect, int, __connect, (int fd, const void *addr, socklen_t len), \
		(fd, addr, len), fd_kind(fd), fd, 0, 0, NOTHING) \
	W(MG_FN_close, close, int, __close, (int fd), (guard_close(fd, CALLER)), fd_ending(fd), fd, 0, 0, NOTHING)

#define MG_BOOKKEEPING(B) \
	B(int, dup, (int fd), (fd), NOTHING, fd_copied(fd, ret)) \
	B(int, dup2, (int fd, int to), (fd, to), fd_replaced(fd, to), fd_copied(fd, ret)) \
	B(int, dup3, (int fd, int to, int flags), (fd, to, flags), fd_replaced(fd, to), \
		fd_copied(fd, ret)) \
	B(int, fcntl, (int fd, int cmd, long arg), (fd, cmd, arg), NOTHING, \
		if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) fd_copied(fd, ret)) \
	B(int, fcntl64, (int fd, int cmd, long arg), (fd, cmd, arg), NOTHING, \
		if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) fd_copied(fd, ret)) \
	B(int, fclose, (FILE *stream), (stream), end_stream(stream), NOTHING) \
	/* calls that leave the library fewer resources */ \
	B(int, prctl, (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d), \
		(option, a, b, c, d), mg_before_prctl(option, a), mg_after_prctl(option, a, ret)) \
	B(int, setrlimit, (int resource, const struct rlimit *limit), (resource, limit), \
		mg_before_limit(resource, limit), NOTHING) \
	B(int, setrlimit64, (int resource, const struct rlimit *limit), (resource, limit), \
		mg_before_limit(resource, limit), NOTHING) \
	B(int, prlimit, (pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old), \
		(pid, resource, limit, old), mg_before_limit(resource, limit), NOTHING) \
	B(int, prlimit64, (pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old), \
		(pid, resource, limit, old), mg_before_limit(resource, limit), NOTHING) \
	B(int, mlockall, (int flags), (flags), mg_before_lock(flags), NOTHING) \
	/* calls that put children into another PID namespace */ \
	B(int, setns, (int fd, int kind), (fd, kind), NOTHING, mg_after_setns(fd, kind, ret)) \
	B(int, unshare, (int flags), (flags), NOTHING, mg_after_unshare((unsigned int)flags, ret)) \
	B(FILE *, freopen, (const char *path, const char *mode, FILE *stream), \
		(path, mode, stream), end_stream(stream), NOTHING) \
	B(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), \
		(path, mode, stream), end_stream(stream), NOTHING) \
	B(int, __dup2, (int fd, int to), (fd, to), fd_replaced(fd, to), fd_copied(fd, ret)) \
	B(int, __fcntl, (int fd, int cmd, long arg), (fd, cmd, arg), NOTHING, \
		if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) fd_copied(fd, ret))
/* clang-format on */

#endif
