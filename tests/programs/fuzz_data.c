/* SPDX-License-Identifier: MIT */
/* Calls that move bytes. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dlfcn.h>
#include <limits.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define ONE_BUFFER(name, ...)             \
	static long call_##name(void)     \
	{                                 \
		int fd = any_fd();        \
		void *p = any_pointer();  \
		size_t n = any_length();  \
		int flags = any_flags();  \
		(void)flags;              \
		return name(__VA_ARGS__); \
	}
ONE_BUFFER(send, fd, p, n, flags)
ONE_BUFFER(write, fd, p, n)
ONE_BUFFER(recv, fd, p, n, flags)
ONE_BUFFER(read, fd, p, n)

/* Calls an alias where the C library has it; a failing check would end the program. */
#define ALIAS(name, type, ...)                                            \
	static long call_##name(void)                                     \
	{                                                                 \
		long(*f) type = (long(*) type)dlsym(RTLD_DEFAULT, #name); \
		int fd = any_fd();                                        \
		void *p = any_pointer();                                  \
		size_t n = any_length();                                  \
		int flags = any_flags();                                  \
		(void)flags;                                              \
		return f ? f(__VA_ARGS__) : 0;                            \
	}
#pragma GCC diagnostic ignored "-Wpedantic"
ALIAS(__send, (int, void *, size_t, int), fd, p, n, flags)
ALIAS(__write, (int, void *, size_t), fd, p, n)
ALIAS(__read, (int, void *, size_t), fd, p, n)
ALIAS(__read_chk, (int, void *, size_t, size_t), fd, p, n, SIZE_MAX)
ALIAS(__recv_chk, (int, void *, size_t, size_t, int), fd, p, n, SIZE_MAX, flags)
ALIAS(__recvfrom_chk, (int, void *, size_t, size_t, int, void *, void *), fd, p, n, SIZE_MAX, flags,
	NULL, NULL)

static long call_sendto(void)
{
	int fd = any_fd(), flags = any_flags();
	void *p = any_pointer();
	size_t n = any_length();
	socklen_t len;
	const void *to = any(2) ? any_address(&len) : (len = any(3), NULL);

	return sendto(fd, p, n, flags, to, len);
}

static long call_recvfrom(void)
{
	int fd = any_fd(), flags = any_flags();
	void *p = any_pointer(), *from = any(2) ? any_structure(128) : NULL;
	size_t n = any_length();

	return recvfrom(fd, p, n, flags, from, any_socklen());
}

static long call_sendmsg(void)
{
	int fd = any_fd();

	return sendmsg(fd, any_message(), any_flags());
}

static long call_recvmsg(void)
{
	int fd = any_fd();

	return recvmsg(fd, any_message(), any_flags());
}

#define VECTOR(name, ...)                             \
	static long call_##name(void)                 \
	{                                             \
		int fd = any_fd(), n;                 \
		struct iovec *v = any_vector(&n);     \
		return name(fd, v, n, ##__VA_ARGS__); \
	}
#define AT  (off_t[]){-1, -1, 0, 100, -2, LONG_MAX}[any(6)]
#define HOW (any(2) ? 0 : 8 /* RWF_NOWAIT */ << any(2) | (int)any(8))
VECTOR(writev)
VECTOR(readv)
VECTOR(preadv2, AT, HOW)
VECTOR(pwritev2, AT, HOW)

static long call_sendmmsg(void)
{
	int fd = any_fd();
	unsigned int n;
	struct mmsghdr *m = any_messages(&n);

	return sendmmsg(fd, m, n, any_flags());
}

static long call_recvmmsg(void)
{
	int fd = any_fd();
	struct timespec *t = any(3) ? NULL : any_structure(sizeof(*t));
	unsigned int n;
	struct mmsghdr *m = any_messages(&n);

	return recvmmsg(fd, m, n, any_flags(), t);
}

static size_t bounded(size_t n)
{
	return n > 1 << 20 && n <= SSIZE_MAX ? 1 << 20 : n;
}

static off_t *any_offset(void)
{
	off_t *at = any(2) ? NULL : any_structure(sizeof(*at));

	if (is_there(at, sizeof(*at)))
		*at = AT;
	return at;
}

static long call_sendfile(void)
{
	int fd = any_fd(), in = any(3) ? fds[MEMFD] : any_fd();
	off_t *at = any_offset();

	return sendfile(fd, in, at, bounded(any_length()));
}

static long call_splice(void)
{
	int in = any_fd(), out = any(3) ? fds[PIPE_OUT] : any_fd();
	off_t *in_at = any_offset(), *out_at = any(3) ? NULL : any_offset();

	if (any(2)) {
		out = in;
		in = fds[PIPE_IN];
	}
	return splice(in, in_at, out, out_at, bounded(any_length()),
		2 /* SPLICE_F_NONBLOCK */ | (any(8) ? 0 : any(64)));
}

const struct fuzz_call data_calls[] = {ROW(send), ROW(write), ROW(recv), ROW(read), ROW(__send),
	ROW(__write), ROW(__read), ROW(__read_chk), ROW(__recv_chk), ROW(__recvfrom_chk),
	ROW(sendto), ROW(recvfrom), ROW(sendmsg), ROW(sendmsg), ROW(recvmsg), ROW(recvmsg),
	ROW(writev), ROW(readv), ROW(preadv2), ROW(pwritev2), ROW(sendmmsg), ROW(sendmmsg),
	ROW(recvmmsg), ROW(recvmmsg), ROW(sendfile), ROW(splice)};
const size_t data_call_count = sizeof(data_calls) / sizeof(data_calls[0]);
