/* SPDX-License-Identifier: MIT */
/*
 * What recording costs on this machine: the same short system call timed with and without the
 * hooks. Its two events, sys_enter and sys_exit, are the ones every traced call pays for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "clock.h"
#include "cycles.h"
#include "tracer.h"

#define BLOCKS 101
#define CALLS  200

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The lower decile of n values: the machine starts other things meanwhile, and what is wanted is
 * the cost undisturbed. Its error: half the distance to the 5th and 15th percentile.
 */
static void undisturbed(double *v, int n, double *value, double *error)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	*value = v[n / 10];
	*error = (v[n * 3 / 20] - v[n / 20]) / 2;
}

int calibrate_call(double *cycles, double *error)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	double block[BLOCKS];
	char byte;

	if (fd < 0)
		return -errno;
	for (int b = 0; b < BLOCKS; b++) {
		uint64_t start = mg_cycles();

		/* not connected: it returns at once */
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL);
		block[b] = (double)(mg_cycles() - start) / CALLS;
	}
	close(fd);
	undisturbed(block, BLOCKS, cycles, error);
	return 0;
}

int calibrate_follow_self(struct hooks *h, bool on)
{
	return hooks_mark_task(h, getpid(), on);
}

void calibrate_result(struct mg_calibration *out, const double bare[2], const double hooked[2])
{
	enum { PAIRS = 20001 };
	double *pair = malloc(PAIRS * sizeof(*pair));
	double per_event = (hooked[0] - bare[0]) / 2, ignored;

	memset(out, 0, sizeof(*out));
	for (int i = 0; pair && i < PAIRS; i++) {
		uint64_t a = mg_cycles();

		pair[i] = (double)(mg_cycles() - a);
	}
	if (pair) {
		double value;

		undisturbed(pair, PAIRS, &value, &ignored);
		out->read_cycles = (uint32_t)value;
	}
	free(pair);
	out->event_cycles = per_event > 0 ? (uint32_t)(per_event + 0.5) : 0;
	out->event_spread = (uint32_t)(sqrt(bare[1] * bare[1] + hooked[1] * hooked[1]) / 2 + 0.5);
	out->counter_hz = mg_counter_hz(10);
	out->invariant = mg_counter_invariant(NULL);
}
