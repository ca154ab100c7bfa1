/* SPDX-License-Identifier: MIT */
/*
 * The scheduler as its threads experience it. Each mode uses one CPU only, the last
 * allowed.
 *
 *   scheduled hog      a SCHED_FIFO thread wakes another and spins 5 ms, again and again;
 *                      a line each: woken's thread, counter at the waking, counter at the spin's
 * end scheduled shared   a thread sleeps and computes beside a busy process; a line at begin and
 * end: thread, ns, voluntary and other switches, CPU ns, ns it waited for the CPU scheduled timer
 * a SCHED_FIFO thread spins; a line before and after: ns, ns, interrupts of the local timer on its
 * CPU, read between the two
 *
 * Exit status 77: SCHED_FIFO is refused.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cycles.h"

#define SPINS   40
#define SPIN_NS 5000000

static int cpu;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
	uint64_t until = now() + ns;

	while (now() < until)
		;
}

static void pin(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpu = i;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void go_first(void)
{
	struct sched_param p = {.sched_priority = 99};

	if (sched_setscheduler(0, SCHED_FIFO, &p) != 0)
		exit(77);
}

/* ---- hog ---- */

static int pipes[2];
static volatile int woken_tid;

static void *sleeper(void *unused)
{
	char c;

	woken_tid = gettid();
	while (read(pipes[0], &c, 1) == 1)
		;
	return unused;
}

static int hog(void)
{
	static uint64_t at[SPINS][2];
	pthread_t thread;

	if (pipe(pipes) != 0 || pthread_create(&thread, NULL, sleeper, NULL) != 0)
		return 1;
	usleep(20000);
	go_first();
	for (int i = 0; i < SPINS; i++) {
		usleep(3000); /* the other thread goes to sleep again */
		at[i][0] = mg_cycles();
		if (write(pipes[1], "x", 1) != 1)
			return 1;
		spin(SPIN_NS);
		at[i][1] = mg_cycles();
	}
	usleep(3000);
	close(pipes[1]);
	pthread_join(thread, NULL);
	for (int i = 0; i < SPINS; i++)
		printf("%d %llu %llu\n", woken_tid, (unsigned long long)at[i][0],
			(unsigned long long)at[i][1]);
	return 0;
}

/* ---- shared ---- */

/* Prints a line, at an instant between two switches. */
static void tell(void)
{
	struct rusage a, b;
	unsigned long long ran, waited;
	uint64_t at;

	do {
		FILE *f = fopen("/proc/thread-self/schedstat", "r");

		getrusage(RUSAGE_THREAD, &a);
		if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
			exit(1);
		at = now();
		getrusage(RUSAGE_THREAD, &b);
		fclose(f);
	} while (a.ru_nvcsw != b.ru_nvcsw || a.ru_nivcsw != b.ru_nivcsw);
	printf("%d %llu %ld %ld %llu %llu\n", gettid(), (unsigned long long)at, a.ru_nvcsw,
		a.ru_nivcsw, ran, waited);
}

static int shared(void)
{
	pid_t busy = fork();

	if (busy < 0)
		return 1;
	if (busy == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			spin(1000000000);
	}
	usleep(10000);
	tell();
	for (int i = 0; i < 60; i++) {
		spin(3000000);
		usleep(500);
	}
	tell();
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	return 0;
}

/* ---- timer ---- */

static unsigned long long local_timer(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	unsigned long long n = 0;
	int column = 0;
	char line[8192];

	if (!f || !fgets(line, sizeof(line), f))
		exit(1);
	/* finds this CPU's column: CPUs that are off have none */
	for (char *p = strtok(line, " \n"); p && atoi(p + 3) != cpu; p = strtok(NULL, " \n"))
		column++;
	while (fgets(line, sizeof(line), f)) {
		char *p = strtok(line, " ");

		if (!p || strcmp(p, "LOC:") != 0)
			continue;
		for (int i = 0; i <= column; i++)
			p = strtok(NULL, " ");
		n = strtoull(p, NULL, 10);
	}
	fclose(f);
	return n;
}

static void tell_timer(void)
{
	unsigned long long before = now(), n = local_timer();

	printf("%llu %llu %llu\n", before, (unsigned long long)now(), n);
}

static int timer(void)
{
	go_first();
	tell_timer();
	spin(300000000);
	tell_timer();
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc == 2 ? argv[1] : "";

	pin();
	if (strcmp(way, "hog") == 0)
		return hog();
	if (strcmp(way, "shared") == 0)
		return shared();
	if (strcmp(way, "timer") == 0)
		return timer();
	fprintf(stderr, "usage: scheduled hog|shared|timer\n");
	return 2;
}
