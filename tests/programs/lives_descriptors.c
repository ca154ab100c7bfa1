/* SPDX-License-Identifier: MIT */
/* Descriptors from other processes: received in a message, or inherited. */
#define _GNU_SOURCE
#include "lives.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 3

static void pass(int over, const int fds[COUNT])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * COUNT)];
	} u = {0};
	struct iovec iov = {(void *)"x", 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.room,
		.msg_controllen = sizeof(u.room)};

	u.head = (struct cmsghdr){CMSG_LEN(sizeof(int) * COUNT), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&u.head), fds, sizeof(int) * COUNT);
	EXPECT(sendmsg(over, &m, 0) == 1);
}

static void receive(int over, int fds[COUNT])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * COUNT)];
	} u;
	char c;
	struct iovec iov = {&c, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.room,
		.msg_controllen = sizeof(u.room)};

	EXPECT(recvmsg(over, &m, 0) == 1 && m.msg_controllen == sizeof(u.room));
	memcpy(fds, CMSG_DATA(&u.head), sizeof(int) * COUNT);
}

static int listener(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	EXPECT(fd >= 0 && bind(fd, (void *)addr, len) == 0 && listen(fd, 5) == 0);
	EXPECT(getsockname(fd, (void *)addr, &len) == 0);
	return fd;
}

/*
 * A child receives a UDP socket, a file and a TCP listener, twice under different numbers, and uses
 * them by read(), write() and accept().
 */
LIFE(rights)
{
	struct sockaddr_in addr;
	int pair[2], pid, fds[COUNT], got[COUNT], c;

	(void)argc, (void)argv;
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	pid = fork();
	if (pid == 0) {
		close(pair[1]);
		for (int i = 0; i < 2; i++) {
			receive(pair[0], got);
			for (int j = 0; j < COUNT - 1; j++)
				EXPECT(write(got[j], "x", 1) == 1);
			c = accept(got[2], NULL, NULL);
			EXPECT(write(c, "x", 1) == 1);
			for (int j = 0; j < COUNT; j++)
				EXPECT(close(got[j]) == 0);
			EXPECT(close(c) == 0);
			/* the second time, a socket's number becomes a file */
			EXPECT(open("/dev/null", O_RDONLY) >= 0);
		}
		_exit(0);
	}
	fds[0] = sink();
	fds[1] = scratch_file();
	fds[2] = listener(&addr);
	for (int i = 0; i < 2; i++) {
		pass(pair[1], fds);
		c = socket(AF_INET, SOCK_STREAM, 0);
		EXPECT(connect(c, (void *)&addr, sizeof(addr)) == 0);
		EXPECT(recv(c, got, 1, 0) == 1 && close(c) == 0);
	}
	reap(pid);
	return 0;
}

/* Starts a program as systemd does: descriptors from 3 on, and LISTEN_FDS with their number. */
LIFE(inherit)
{
	struct sockaddr_in addr;
	int udp = sink(), file = scratch_file(), tcp = listener(&addr), pid;

	(void)argc, (void)argv;
	EXPECT(dup2(udp, 20) == 20 && dup2(file, 21) == 21 && dup2(tcp, 22) == 22);
	EXPECT(dup2(20, 3) == 3 && dup2(21, 4) == 4 && dup2(22, 5) == 5);
	EXPECT(close_range(6, ~0u, 0) == 0);
	setenv("LISTEN_FDS", "3", 1);
	pid = fork();
	if (pid == 0)
		become("inherited", NULL);
	tcp = socket(AF_INET, SOCK_STREAM, 0);
	EXPECT(connect(tcp, (void *)&addr, sizeof(addr)) == 0);
	EXPECT(write(tcp, "x", 1) == 1 && close(tcp) == 0);
	reap(pid);
	return 0;
}

/*
 * Two writes to 3, a UDP socket; one to 4, a file; with LISTEN_FDS=3 a client's byte from 5, on
 * which getsockopt() is the first call.
 */
LIFE(inherited)
{
	char c;

	(void)argc, (void)argv;
	EXPECT(write(3, "x", 1) == 1 && write(3, "x", 1) == 1);
	EXPECT(write(4, "x", 1) == 1);
	if (getenv("LISTEN_FDS")) {
		int fd, listens = 0;
		socklen_t len = sizeof(listens);

		EXPECT(getsockopt(5, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens);
		fd = accept(5, NULL, NULL);
		EXPECT(fd >= 0 && read(fd, &c, 1) == 1 && read(fd, &c, 1) == 0);
	}
	return 0;
}

/* A number that is a socket, a file, a pipe and a socket again: four sends, a write. */
LIFE(reuse)
{
	int ends[2], fd;
	FILE *f;

	(void)argc, (void)argv;
	for (int i = 0; i < 2; i++) {
		fd = sink();
		sends(fd, 2);
		close(fd);
		EXPECT(open("/dev/null", O_WRONLY) == fd && write(fd, "x", 1) == 1);
		EXPECT(close(fd) == 0 && pipe(ends) == 0 && ends[0] == fd);
		EXPECT(write(ends[1], "x", 1) == 1);
		EXPECT(close(ends[0]) == 0 && close(ends[1]) == 0);
	}
	fd = sink();
	EXPECT(write(fd, "x", 1) == 1);
	f = fdopen(fd, "w");
	EXPECT(f && fclose(f) == 0);
	EXPECT(open("/dev/null", O_WRONLY) == fd && write(fd, "x", 1) == 1);
	return 0;
}
