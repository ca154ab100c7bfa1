/* SPDX-License-Identifier: MIT */
/*
 * Cost of a call: sends one byte many times and prints how long one took.
 *
 *   calls none|null|unix|tcp       (none: getppid(), which has no descriptor)
 *
 * For every number on stdin, that many calls are timed in short stretches, and the median of the
 * stretches' means is printed, in ns: a stretch in which others had the CPU does not count. So
 * several of these, started differently, can be timed in turns. What the socket's other end
 * received is taken out between timed stretches. All else goes past the C library's names, so that
 * only the timed calls are wrapped or traced.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef PLAIN_EVENT
#include "plain_event.h"
static struct mg_call plain;
/* Writes one event with magnet's fields; with STAMPED also takes its two counter readings. */
#define EVENT(fd, n)                                               \
	do {                                                       \
		STAMP(exit);                                       \
		plain.fd = fd;                                     \
		plain.ret = n;                                     \
		lttng_ust_tracepoint(magnet, plain_event, &plain); \
	} while (0)
#else
#define EVENT(fd, n) (void)n
#endif
#ifdef STAMPED
#include "cycles.h"
#define STAMP(field) plain.field = mg_cycles_after()
#else
#define STAMP(field) (void)0
#endif

#define STRETCH 64   /* calls after which the other end is emptied */
#define WARM_UP 256  /* other programs have had the CPU since, so the caches are cold */
#define MOST    4096 /* stretches that are timed at once */

static int fd = -1, peer = -1, is_tcp, is_none;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int open_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(listener, 1) != 0 ||
		getsockname(listener, (struct sockaddr *)&a, &len) != 0)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		return -1;
	peer = accept(listener, NULL, NULL);
	close(listener);
	is_tcp = 1;
	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int open_target(const char *kind)
{
	int pair[2];

	if (strcmp(kind, "tcp") == 0)
		return open_tcp();
	if (strcmp(kind, "unix") == 0) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			return -1;
		fd = pair[0];
		peer = pair[1];
		return 0;
	}
	if (strcmp(kind, "none") == 0) {
		is_none = 1;
		return 0;
	}
	fd = open("/dev/null", O_WRONLY);
	return fd < 0 ? -1 : 0;
}

static void empty_peer(long bytes)
{
	static char sink[4096];

	while (peer >= 0 && bytes > 0) {
		long n = syscall(SYS_recvfrom, peer, sink, sizeof(sink), 0, NULL, NULL);

		if (n <= 0)
			abort();
		bytes -= n;
	}
}

/* One loop for each kind, so that a call costs no branch. */
static double stretch_tcp(void)
{
	double start = now();

	for (int i = 0; i < STRETCH; i++) {
		ssize_t n;

		STAMP(enter);
		n = send(fd, "x", 1, 0);
		if (n != 1)
			abort();
		EVENT(fd, n);
	}
	return now() - start;
}

static double stretch_none(void)
{
	double start = now();

	for (int i = 0; i < STRETCH; i++)
		getppid();
	return now() - start;
}

static double stretch_write(void)
{
	double start = now();

	for (int i = 0; i < STRETCH; i++) {
		ssize_t n;

		STAMP(enter);
		n = write(fd, "x", 1);
		if (n != 1)
			abort();
		EVENT(fd, n);
	}
	return now() - start;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the time of a call in ns. */
static double block(long calls)
{
	static double times[MOST];
	size_t n = 0;

	for (long done = 0; done < calls && n < MOST; done += STRETCH) {
		times[n++] = is_tcp ? stretch_tcp() : is_none ? stretch_none() : stretch_write();
		empty_peer(STRETCH);
	}
	qsort(times, n, sizeof(times[0]), compare);
	return times[n / 2] / STRETCH;
}

static long read_number(void)
{
	char line[32];
	size_t used = 0;

	while (used < sizeof(line) - 1 && syscall(SYS_read, 0, line + used, 1) == 1) {
		if (line[used] == '\n') {
			line[used] = 0;
			return atol(line);
		}
		used++;
	}
	return 0;
}

static void print(double value)
{
	char line[40];
	int n = snprintf(line, sizeof(line), "%.2f\n", value);

	if (syscall(SYS_write, 1, line, n) != n)
		exit(1);
}

int main(int argc, char **argv)
{
	long calls;

	if (argc != 2) {
		fprintf(stderr, "usage: calls none|null|unix|tcp\n");
		return 2;
	}
	if (open_target(argv[1]) != 0) {
		perror(argv[1]);
		return 1;
	}
	print(0); /* tells the caller that it is ready */
	while ((calls = read_number()) > 0) {
		block(WARM_UP);
		print(block(calls));
	}
	return 0;
}
