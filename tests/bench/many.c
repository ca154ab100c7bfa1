/* SPDX-License-Identifier: MIT */
/*
 * Many small things on loopback, for each line on stdin once.
 *
 *   many datagrams COUNT BYTES CPU RECEIVER-CPU    COUNT datagrams as fast as they go
 *   many connections COUNT TRIPS CPU SERVER-CPU    TRIPS requests in turn over COUNT connections
 *
 * A line a run: ns each, how many, and how many arrived.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buf[65536];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("sched_setaffinity");
}

static int bound(int type, struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, type, 0);

	*at = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (void *)at, sizeof(*at)) || getsockname(fd, (void *)at, &len))
		fail("bind");
	return fd;
}

/* Starts a child that ends with its parent. */
static int child(int cpu)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu);
	}
	return pid == 0;
}

/* Counts arrivals until all have come or none came for a second, then reports the count. */
static void receive(int fd, int tell, uint64_t count)
{
	for (;;) {
		struct timeval wait = {0}, patience = {.tv_sec = 1};
		uint64_t n = 0;

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		if (recv(fd, buf, sizeof(buf), 0) >= 0)
			n++;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		while (n < count && recv(fd, buf, sizeof(buf), 0) >= 0)
			n++;
		if (write(tell, &n, sizeof(n)) != sizeof(n))
			exit(0);
	}
}

static void datagrams(uint64_t count, size_t bytes, int cpu, int receiver_cpu)
{
	struct sockaddr_in at;
	int fd = bound(SOCK_DGRAM, &at), tell[2], out, room = 64 << 20;
	uint64_t arrived, begin, took;
	char line[64];

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (pipe(tell))
		fail("pipe");
	if (child(receiver_cpu))
		receive(fd, tell[1], count);
	pin(cpu);
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (connect(out, (void *)&at, sizeof(at)))
		fail("connect");
	while (fgets(line, sizeof(line), stdin)) {
		begin = now();
		for (uint64_t i = 0; i < count; i++)
			if (send(out, buf, bytes, 0) < 0)
				fail("send");
		took = now() - begin;
		if (read(tell[0], &arrived, sizeof(arrived)) != sizeof(arrived))
			fail("receiver");
		printf("%.1f %llu %llu\n", (double)took / (double)count, (unsigned long long)count,
			(unsigned long long)arrived);
		fflush(stdout);
	}
}

static void echo(int listener)
{
	int poll = epoll_create1(0);
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, got[64];

	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int n = epoll_wait(poll, got, 64, -1);

		for (int i = 0; i < n; i++) {
			int fd = got[i].data.fd;
			ssize_t len;

			if (fd == listener) {
				e.data.fd = accept(listener, NULL, NULL);
				epoll_ctl(poll, EPOLL_CTL_ADD, e.data.fd, &e);
				continue;
			}
			len = recv(fd, buf, sizeof(buf), 0);
			if (len <= 0)
				close(fd);
			else if (send(fd, buf, (size_t)len, 0) != len)
				exit(1);
		}
	}
}

static void connections(int count, uint64_t trips, int cpu, int server_cpu)
{
	struct rlimit files = {
		.rlim_cur = (rlim_t)count * 2 + 100, .rlim_max = (rlim_t)count * 2 + 100};
	struct sockaddr_in at;
	int listener = bound(SOCK_STREAM, &at), *fd = calloc((size_t)count, sizeof(*fd));
	char line[64];

	if (setrlimit(RLIMIT_NOFILE, &files) || listen(listener, 4096) || !fd)
		fail("listen");
	if (child(server_cpu))
		echo(listener);
	pin(cpu);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t begin, took, done = 0;

		for (int i = 0; i < count; i++) {
			fd[i] = socket(AF_INET, SOCK_STREAM, 0);
			if (fd[i] < 0 || connect(fd[i], (void *)&at, sizeof(at)))
				fail("connect");
		}
		begin = now();
		for (uint64_t i = 0; i < trips; i++) {
			int c = fd[i % (uint64_t)count];

			if (send(c, buf, 64, 0) != 64)
				fail("send");
			if (recv(c, buf, 64, MSG_WAITALL) == 64)
				done++;
		}
		took = now() - begin;
		for (int i = 0; i < count; i++)
			close(fd[i]);
		printf("%.1f %llu %llu\n", (double)took / (double)trips, (unsigned long long)trips,
			(unsigned long long)done);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "datagrams") == 0)
		datagrams(strtoull(argv[2], NULL, 10), (size_t)atol(argv[3]), atoi(argv[4]),
			atoi(argv[5]));
	else if (argc == 6 && strcmp(argv[1], "connections") == 0)
		connections(
			atoi(argv[2]), strtoull(argv[3], NULL, 10), atoi(argv[4]), atoi(argv[5]));
	else
		return fprintf(stderr, "see the head of many.c\n"), 2;
	return 0;
}
