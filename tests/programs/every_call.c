/* SPDX-License-Identifier: MIT */
/*
 * Makes each call that libmagnet.so wraps, by each of its names, on sockets of several families,
 * and makes some fail. Prints only deviations from the manual pages.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPECT(what)                                                                   \
	do {                                                                           \
		if (!(what)) {                                                         \
			printf("line %d: %s: %s\n", __LINE__, #what, strerror(errno)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

static char out[64], in[256];

static void send_all_ways(int fd)
{
	struct iovec iov[2] = {{out, 10}, {out, 20}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	struct mmsghdr mm[2] = {{.msg_hdr = m}, {.msg_hdr = m}};
	ssize_t (*alias_send)(int, const void *, size_t, int);
	ssize_t (*alias_write)(int, const void *, size_t);
	void *f;

	EXPECT(send(fd, out, 1, 0) == 1);
	EXPECT(sendto(fd, out, 2, MSG_NOSIGNAL, NULL, 0) == 2);
	EXPECT(sendmsg(fd, &m, 0) == 30);
	EXPECT(sendmmsg(fd, mm, 2, 0) == 2 && mm[1].msg_len == 30);
	EXPECT(write(fd, out, 3) == 3);
	EXPECT(writev(fd, iov, 2) == 30);
	EXPECT(pwritev2(fd, iov, 2, -1, 0) == 30);
	EXPECT(pwrite(fd, out, 1, 0) == -1 && errno == ESPIPE);
	if ((f = dlsym(RTLD_DEFAULT, "__send"))) {
		memcpy(&alias_send, &f, sizeof(f));
		EXPECT(alias_send(fd, out, 4, 0) == 4);
	}
	if ((f = dlsym(RTLD_DEFAULT, "__write"))) {
		memcpy(&alias_write, &f, sizeof(f));
		EXPECT(alias_write(fd, out, 5) == 5);
	}
	EXPECT(syscall(SYS_write, fd, out, 6) == 6);
	EXPECT(syscall(SYS_sendto, fd, out, 7, MSG_DONTWAIT, NULL, 0) == 7);
	EXPECT(send(fd, out, 1, MSG_OOB | MSG_MORE) <= 1); /* not supported everywhere */
}

/* Receives everything there is, by all calls in turn, with room for a whole message each. */
static void receive_all_ways(int fd)
{
	struct iovec iov[2] = {{in, 40}, {in + 40, 200}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	struct mmsghdr mm[2] = {{.msg_hdr = m}, {.msg_hdr = m}};
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	ssize_t (*checked_read)(int, void *, size_t, size_t);
	ssize_t (*checked_recv)(int, void *, size_t, size_t, int);
	void *f;
	int flags = fcntl(fd, F_GETFL);

	EXPECT(recv(fd, in, 1, MSG_PEEK) == 1);
	EXPECT(recv(fd, in, 3, 0) >= 1);
	EXPECT(recvfrom(fd, in, 4, 0, (void *)&from, &len) >= 1);
	EXPECT(recvmsg(fd, &m, 0) >= 1);
	EXPECT(fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
	while (recvmmsg(fd, mm, 2, 0, NULL) > 0 || read(fd, in, 5) > 0 || readv(fd, iov, 2) > 0 ||
		preadv2(fd, iov, 2, -1, 0) > 0 || syscall(SYS_read, fd, in, 10) > 0)
		;
	EXPECT(errno == EAGAIN);
	if ((f = dlsym(RTLD_DEFAULT, "__read_chk"))) {
		memcpy(&checked_read, &f, sizeof(f));
		EXPECT(checked_read(fd, in, 5, sizeof(in)) == -1);
	}
	if ((f = dlsym(RTLD_DEFAULT, "__recv_chk"))) {
		memcpy(&checked_recv, &f, sizeof(f));
		EXPECT(checked_recv(fd, in, 5, sizeof(in), 0) == -1);
	}
	EXPECT(fcntl(fd, F_SETFL, flags) == 0);
}

static void by_pipe_and_file(int a, int b)
{
	char path[] = "/tmp/magnet-every-XXXXXX";
	int file = mkstemp(path), p[2];
	off_t at = 0;

	EXPECT(file >= 0 && unlink(path) == 0 && write(file, out, 50) == 50 && pipe(p) == 0);
	EXPECT(sendfile(a, file, &at, 20) == 20);
	EXPECT(sendfile64(a, file, NULL, 20) == 0); /* the file's end */
	EXPECT(write(p[1], out, 30) == 30);
	EXPECT(splice(p[0], NULL, a, NULL, 30, 0) == 30);
	EXPECT(splice(b, NULL, p[1], NULL, 1000, 0) > 0);
	EXPECT(tee(a, p[1], 1, 0) == -1);
	close(file);
	close(p[0]);
	close(p[1]);
}

static void pair(int a, int b)
{
	int c = dup(a), d = fcntl(b, F_DUPFD_CLOEXEC, 50), e;

	send_all_ways(a);
	receive_all_ways(b);
	send_all_ways(c);
	receive_all_ways(d);
	e = dup2(a, 60);
	send_all_ways(e);
	receive_all_ways(b);
	EXPECT(close(c) == 0 && syscall(SYS_close, d) == 0 && close_range(60, 70, 0) == 0);
	EXPECT(send(60, out, 1, 0) == -1 && errno == EBADF);
}

static void tcp(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), a, b, one = 1;

	EXPECT(bind(listener, (void *)&addr, sizeof(addr)) == 0 && listen(listener, 5) == 0);
	EXPECT(getsockname(listener, (void *)&addr, &len) == 0);
	for (int i = 0; i < 2; i++) {
		a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
		EXPECT(connect(a, (void *)&addr, len) == 0);
		b = i ? accept(listener, NULL, NULL) : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		EXPECT(setsockopt(a, IPPROTO_TCP, 1, &one, sizeof(one)) == 0);
		pair(a, b);
		by_pipe_and_file(a, b);
		EXPECT(shutdown(a, SHUT_WR) == 0 && read(b, in, sizeof(in)) >= 0);
		EXPECT(send(a, out, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
		EXPECT(close(a) == 0 && close(b) == 0);
	}
	a = socket(AF_INET, SOCK_STREAM, 0);
	addr.sin_port = htons(1);
	EXPECT(connect(a, (void *)&addr, len) == -1 && errno == ECONNREFUSED);
	close(a);
	close(listener);
}

static void udp(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int b = socket(AF_INET, SOCK_DGRAM, 0), a = socket(AF_INET, SOCK_DGRAM, 0);

	EXPECT(bind(b, (void *)&addr, sizeof(addr)) == 0);
	EXPECT(getsockname(b, (void *)&addr, &len) == 0 && connect(a, (void *)&addr, len) == 0);
	pair(a, b);
	EXPECT(close(a) == 0 && close(b) == 0);
}

int main(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	int fds[2], file = open("/dev/null", O_RDWR);

	tcp();
	udp();
	for (int i = 0; i < 3; i++) {
		EXPECT(socketpair(AF_UNIX, types[i], 0, fds) == 0);
		pair(fds[0], fds[1]);
		EXPECT(close(fds[0]) == 0 && close(fds[1]) == 0);
	}
	EXPECT(write(file, out, 10) == 10 && read(file, in, 10) == 0 && close(file) == 0);
	return 0;
}
