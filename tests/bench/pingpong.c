/* SPDX-License-Identifier: MIT */
/*
 * Request and response over TCP on loopback between two processes.
 *
 *   pingpong [-s BYTES] [-c CPU] [-S CPU] [-n TRIPS] [-t SECONDS] [-r TRIPS-A-SECOND] [-p FILE]
 * [-g]
 *
 *   -c, -S   CPU of the client and of the server
 *   -r       so many a second, in portions a millisecond; otherwise as fast as it goes
 *   -p       also write readings of the counter and the clock, a line each:
 *            COUNTER CLOCK_MONOTONIC COUNTER
 *   -g       run once for each line on stdin, with connections of its own
 *
 * A line a run: mean ns a round trip, round trips, ns in all.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cycles.h"

#define WARM_UP     200
#define LARGEST     65536
#define PROBE_EVERY 16

static struct {
	int size, client_cpu, server_cpu;
	long trips;
	double seconds, rate;
	FILE *probe;
	bool gate;
} opt = {.size = 64, .client_cpu = -1, .server_cpu = -1, .trips = 20000};

static char buf[LARGEST];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("sched_setaffinity");
}

static bool receive_all(int fd)
{
	int got = 0;

	while (got < opt.size) {
		ssize_t n = recv(fd, buf, (size_t)(opt.size - got), 0);

		if (n <= 0)
			return false;
		got += (int)n;
	}
	return true;
}

static bool send_all(int fd)
{
	return send(fd, buf, (size_t)opt.size, 0) == opt.size;
}

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static pid_t start_server(int listener)
{
	pid_t parent = getpid(), child;
	int fd;

	fflush(NULL); /* otherwise the child would write the buffer again */
	child = fork();
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pin(opt.server_cpu);
	fd = accept(listener, NULL, NULL);
	no_delay(fd);
	while (receive_all(fd) && send_all(fd))
		;
	_exit(0);
}

static int listen_somewhere(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)a, len) != 0 || listen(fd, 1) != 0 ||
		getsockname(fd, (struct sockaddr *)a, &len) != 0)
		return -1;
	return fd;
}

/* A reading of counter and clock, kept in memory until the measurement is over. */
static struct reading {
	uint64_t before, clock, after;
} * readings;
static long reading_count, reading_room;

static void read_clocks(void)
{
	struct reading r;

	if (reading_count == reading_room)
		return;
	r.before = mg_cycles();
	r.clock = now();
	r.after = mg_cycles();
	readings[reading_count++] = r;
}

static void write_readings(void)
{
	for (long i = 0; i < reading_count; i++)
		fprintf(opt.probe, "%llu %llu %llu\n", (unsigned long long)readings[i].before,
			(unsigned long long)readings[i].clock,
			(unsigned long long)readings[i].after);
	fflush(opt.probe);
}

/* Waits until the trips of the next millisecond are due. */
static void pace(uint64_t start, long done)
{
	uint64_t due = start + (uint64_t)((double)done / opt.rate * 1e9);
	struct timespec t = {
		.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};

	if (due > now())
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static long trips(int fd, uint64_t start)
{
	long portion = opt.rate > 0 ? (long)(opt.rate / 1000) : 0, done = 0;
	uint64_t until = opt.seconds > 0 ? start + (uint64_t)(opt.seconds * 1e9) : 0;

	if (opt.rate > 0 && portion < 1)
		portion = 1;
	for (; until || done < opt.trips; done++) {
		if (until && done % 64 == 0 && now() >= until)
			break;
		if (portion && done % portion == 0)
			pace(start, done);
		if (opt.probe && done % PROBE_EVERY == 0)
			read_clocks();
		if (!send_all(fd) || !receive_all(fd))
			abort();
	}
	return done;
}

static int run(void)
{
	struct sockaddr_in a;
	int listener = listen_somewhere(&a), fd;
	uint64_t start, elapsed;
	pid_t server;
	long done;

	if (listener < 0) {
		perror("listen");
		return 1;
	}
	server = start_server(listener);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		perror("connect");
		return 1;
	}
	no_delay(fd);
	for (int i = 0; i < WARM_UP; i++)
		if (!send_all(fd) || !receive_all(fd))
			return 1;
	start = now();
	done = trips(fd, start);
	elapsed = now() - start;
	close(fd);
	close(listener);
	waitpid(server, NULL, 0);
	printf("%.2f %ld %llu\n", (double)elapsed / (double)done, done,
		(unsigned long long)elapsed);
	fflush(stdout);
	return 0;
}

static bool parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:c:S:n:t:r:p:g")) != -1) {
		switch (c) {
		case 's':
			opt.size = atoi(optarg);
			break;
		case 'c':
			opt.client_cpu = atoi(optarg);
			break;
		case 'S':
			opt.server_cpu = atoi(optarg);
			break;
		case 'n':
			opt.trips = atol(optarg);
			break;
		case 't':
			opt.seconds = atof(optarg);
			break;
		case 'r':
			opt.rate = atof(optarg);
			break;
		case 'p':
			opt.probe = fopen(optarg, "we");
			if (!opt.probe)
				return false;
			break;
		case 'g':
			opt.gate = true;
			break;
		default:
			return false;
		}
	}
	return optind == argc && opt.size > 0 && opt.size <= LARGEST;
}

int main(int argc, char **argv)
{
	char line[64];
	int err = 0;

	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: pingpong [-s BYTES] [-c CPU] [-S CPU] [-n TRIPS] "
				"[-t SECONDS] [-r TRIPS-A-SECOND] [-p FILE] [-g]\n");
		return 2;
	}
	if (opt.probe) {
		reading_room = 1 << 18;
		readings = calloc((size_t)reading_room, sizeof(*readings));
		if (!readings)
			return 1;
	}
	pin(opt.client_cpu);
	if (!opt.gate)
		err = run();
	else
		while (!err && fgets(line, sizeof(line), stdin))
			err = run();
	if (opt.probe)
		write_readings();
	return err;
}
