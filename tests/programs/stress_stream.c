/* SPDX-License-Identifier: MIT */
/* Sends and receives numbered bytes over a stream socket, by all calls there are for it. */
#define _GNU_SOURCE
#include "stress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST 8192 /* limit of a pipe */

void connect_tcp(int fds[2], unsigned int round)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = (int)CALL(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t len = sizeof(a);

	EXPECT(CALL(bind, listener, (void *)&a, sizeof(a)) == 0);
	EXPECT(CALL(listen, listener, 1) == 0);
	EXPECT(getsockname(listener, (void *)&a, &len) == 0);
	fds[0] = (int)CALL(socket, AF_INET, SOCK_STREAM, 0);
	while (CALL(connect, fds[0], (void *)&a, len) != 0)
		if (errno == EISCONN || !EXPECT(errno == EINTR || errno == EALREADY))
			break;
	do
		fds[1] = (int)(round % 2 ? CALL(accept4, listener, NULL, NULL, SOCK_CLOEXEC)
					 : CALL(accept, listener, NULL, NULL));
	while (fds[1] < 0 && EXPECT(errno == EINTR));
	EXPECT(CALL(setsockopt, fds[0], IPPROTO_TCP, 1 /* TCP_NODELAY */, &one,
		       len = sizeof(one)) == 0);
	EXPECT(CALL(getsockopt, fds[0], SOL_SOCKET, SO_SNDBUF, &one, &len) == 0);
	EXPECT(CALL(close, listener) == 0);
}

static uint8_t byte_of(unsigned int id, uint64_t at)
{
	return (uint8_t)(at + (at >> 8) * 7 + (at >> 16) * 13 + id * 31);
}

void stream_open(struct stream *s, unsigned int id, int fd)
{
	*s = (struct stream){.id = id, .seed = id + 1, .fd = fd, .most = MOST};
	s->file = memfd_create("stress", MFD_CLOEXEC);
	EXPECT(s->file >= 0 && pipe2(s->pipe, O_CLOEXEC) == 0);
}

void stream_close(struct stream *s)
{
	close(s->file);
	close(s->pipe[0]);
	close(s->pipe[1]);
}

static void split(struct iovec iov[2], uint8_t *buf, size_t n)
{
	iov[0] = (struct iovec){buf, n / 3};
	iov[1] = (struct iovec){buf + n / 3, n - n / 3};
}

static ssize_t several(struct stream *s, struct iovec iov[2], bool receive)
{
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = iov, .msg_iovlen = 1}},
		{.msg_hdr = {.msg_iov = iov + 1, .msg_iovlen = 1}}};
	enum stress_call call = receive ? CALL_recvmmsg : CALL_sendmmsg;
	int n = receive ? recvmmsg(s->fd, m, 2, MSG_WAITFORONE, NULL) : sendmmsg(s->fd, m, 2, 0);
	size_t bytes = 0;

	counted_call(call, n);
	for (int i = 0; i < n; i++)
		bytes += m[i].msg_len;
	count_bytes(call, bytes);
	if (n < 0)
		return -1;
	/* on receiving, a short first message followed by another leaves a hole */
	if (n == 2 && m[1].msg_len && m[0].msg_len != iov[0].iov_len) {
		EXPECT(receive);
		memmove((char *)iov[0].iov_base + m[0].msg_len, iov[1].iov_base, m[1].msg_len);
	}
	return (ssize_t)bytes;
}

/* Replaces the file's pages: those sent before are still in use. */
static ssize_t by_file(struct stream *s, const uint8_t *buf, size_t n)
{
	off_t at = 0;

	EXPECT(ftruncate(s->file, 0) == 0);
	EXPECT(other_call(pwrite(s->file, buf, n, 0)) == (ssize_t)n);
	return CALL(sendfile, s->fd, s->file, &at, n);
}

/* Empties the pipe: what went in must come out. */
static ssize_t by_pipe(struct stream *s, const uint8_t *buf, size_t n)
{
	size_t left = n;

	if (!EXPECT(other_call(write(s->pipe[1], buf, n)) == (ssize_t)n))
		return 0;
	while (left) {
		ssize_t r = CALL(splice, s->pipe[0], NULL, s->fd, NULL, left, 0);

		if (r > 0)
			left -= (size_t)r;
		else if (!EXPECT(r < 0 && (errno == EINTR || errno == EAGAIN)))
			break;
	}
	return (ssize_t)(n - left);
}

bool send_some(struct stream *s)
{
	uint8_t buf[MOST];
	size_t n = 1 + (size_t)rand_r(&s->seed) % s->most;
	struct msghdr m = {0};
	struct iovec iov[2];
	ssize_t r;

	for (size_t i = 0; i < n; i++)
		buf[i] = byte_of(s->id, s->done + i);
	split(iov, buf, n);
	m.msg_iov = iov;
	m.msg_iovlen = 2;
	switch (rand_r(&s->seed) % 11) {
	case 0:
		r = CALL(send, s->fd, buf, n, MSG_NOSIGNAL);
		break;
	case 1:
		r = CALL(send, s->fd, buf, n, MSG_DONTWAIT);
		break;
	case 2:
		r = CALL(sendto, s->fd, buf, n, 0, NULL, 0);
		break;
	case 3:
		r = CALL(sendmsg, s->fd, &m, 0);
		break;
	case 4:
		r = several(s, iov, false);
		break;
	case 5:
		r = CALL(writev, s->fd, iov, 2);
		break;
	case 6:
		r = CALL(pwritev2, s->fd, iov, 2, -1, 0);
		break;
	case 7:
		r = by_file(s, buf, n);
		break;
	case 8:
		r = by_pipe(s, buf, n);
		break;
	case 9:
		r = counted_call(CALL_write, syscall(SYS_write, s->fd, buf, n));
		break;
	default:
		r = CALL(write, s->fd, buf, n);
		break;
	}
	if (r >= 0)
		s->done += (uint64_t)r;
	return EXPECT(r > 0 || (r < 0 && (errno == EINTR || errno == EAGAIN)));
}

static ssize_t into_pipe(struct stream *s, uint8_t *buf, size_t n)
{
	/* logged for the end that is a socket */
	ssize_t r = counted_call(CALL_splice_in, splice(s->fd, NULL, s->pipe[1], NULL, n, 0));
	size_t got = 0;

	while (r > 0 && got < (size_t)r) {
		ssize_t more = other_call(read(s->pipe[0], buf + got, (size_t)r - got));

		if (more > 0)
			got += (size_t)more;
		else if (!EXPECT(more < 0 && errno == EINTR))
			break;
	}
	return r;
}

bool receive_some(struct stream *s)
{
	uint8_t buf[MOST];
	size_t n = 1 + (size_t)rand_r(&s->seed) % s->most;
	struct msghdr m = {0};
	struct iovec iov[2];
	ssize_t r;

	if (n < 3) /* an empty message would look like the end of the stream */
		n = 3;
	split(iov, buf, n);
	m.msg_iov = iov;
	m.msg_iovlen = 2;
	switch (rand_r(&s->seed) % 10) {
	case 0:
		r = CALL(recv, s->fd, buf, n, 0);
		break;
	case 1:
		r = CALL(recv, s->fd, buf, n, MSG_DONTWAIT);
		break;
	case 2:
		r = CALL(recvfrom, s->fd, buf, n, 0, NULL, NULL);
		break;
	case 3:
		r = CALL(recvmsg, s->fd, &m, 0);
		break;
	case 4:
		r = several(s, iov, true);
		break;
	case 5:
		r = CALL(readv, s->fd, iov, 2);
		break;
	case 6:
		r = CALL(preadv2, s->fd, iov, 2, -1, 0);
		break;
	case 7:
		r = into_pipe(s, buf, n);
		break;
	case 8:
		r = counted_call(
			CALL_recvfrom, syscall(SYS_recvfrom, s->fd, buf, n, 0, NULL, NULL));
		break;
	default:
		r = CALL(read, s->fd, buf, n);
		break;
	}
	for (ssize_t i = 0; i < r; i++)
		if (buf[i] != byte_of(s->id, s->done + (uint64_t)i)) {
			EXPECT(!"a byte is not the one that was sent");
			return false;
		}
	if (r >= 0)
		s->done += (uint64_t)r;
	return r > 0 || (r < 0 && EXPECT(errno == EINTR || errno == EAGAIN));
}
