/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and says what it took: measure FILE COMMAND [ARG...] writes to FILE
 *   WALL-NS USER-NS SYSTEM-NS PEAK-KIB STATUS
 *
 * A small program, since a process counts as its own the memory its parent had when it was started.
 */
#define _GNU_SOURCE
#include <errno.h>
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

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static volatile pid_t child;

/* Passes a signal on to the command and waits for its end. */
static void pass_on(int signal_number)
{
	if (child > 0)
		kill(child, signal_number);
}

int main(int argc, char **argv)
{
	struct rusage use;
	uint64_t start;
	int status, ended;
	FILE *out;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND [ARG...]\n");
		return 2;
	}
	out = fopen(argv[1], "we");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	signal(SIGTERM, pass_on);
	start = now();
	child = fork();
	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execvp(argv[2], argv + 2);
		fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	do {
		ended = child < 0 ? -1 : wait4(child, &status, 0, &use);
	} while (ended < 0 && errno == EINTR);
	if (ended < 0) {
		perror(argv[2]);
		return 1;
	}
	fprintf(out, "%llu %llu %llu %ld %d\n", (unsigned long long)(now() - start),
		(unsigned long long)ns(use.ru_utime), (unsigned long long)ns(use.ru_stime),
		use.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(out) == 0 ? 0 : 1;
}
