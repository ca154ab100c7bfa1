/* SPDX-License-Identifier: MIT */
/*
 * A thread holds a TCP socket's lock for a given time: it sends from a page that is missing and
 * that this program provides 20 ms later (userfaultfd). Meanwhile another thread calls write() on
 * the socket and must wait for the lock. Prints the time of that call for each round, ns; exit
 * status 77 where userfaultfd is refused.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 10
#define PAGE   4096

#define MUST(what)                     \
	do {                           \
		if (!(what)) {         \
			perror(#what); \
			exit(1);       \
		}                      \
	} while (0)

static int fds[2];
static char *absent; /* one page per round */
static pthread_barrier_t begin;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void connect_both(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(listener, 1) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&a, &len) == 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	MUST(connect(fds[0], (struct sockaddr *)&a, sizeof(a)) == 0);
	/*
	 * otherwise Nagle may hold the byte back for an ACK that cannot be processed while the lock
	 * is held
	 */
	MUST(setsockopt(fds[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
	fds[1] = accept(listener, NULL, NULL);
}

static void *holds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&begin);
		MUST(send(fds[0], absent + i * PAGE, PAGE, 0) == PAGE);
	}
	return unused;
}

static void *waits(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from;

		pthread_barrier_wait(&begin);
		usleep(5000); /* the other thread has the lock by now */
		from = now();
		MUST(write(fds[0], "x", 1) == 1);
		printf("%llu\n", (unsigned long long)(now() - from));
	}
	return unused;
}

int main(void)
{
	static char there[PAGE], sink[PAGE + 1];
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t threads[2];

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) != 0)
		return 77;
	absent = mmap(
		NULL, ROUNDS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(absent != MAP_FAILED);
	range.range.start = (uintptr_t)absent;
	range.range.len = ROUNDS * PAGE;
	MUST(ioctl(uffd, UFFDIO_REGISTER, &range) == 0);
	connect_both();
	pthread_barrier_init(&begin, NULL, 2);
	MUST(pthread_create(&threads[0], NULL, holds, NULL) == 0);
	MUST(pthread_create(&threads[1], NULL, waits, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct uffdio_copy copy = {.src = (uintptr_t)there, .len = PAGE};
		struct uffd_msg msg;

		MUST(read(uffd, &msg, sizeof(msg)) == sizeof(msg));
		usleep(20000);
		copy.dst = (uintptr_t)absent + (uintptr_t)i * PAGE;
		MUST(ioctl(uffd, UFFDIO_COPY, &copy) == 0);
		MUST(recv(fds[1], sink, PAGE + 1, MSG_WAITALL) == PAGE + 1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
