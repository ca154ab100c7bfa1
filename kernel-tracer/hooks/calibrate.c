/* SPDX-License-Identifier: MIT */
/*
 * Measures what recording costs on this machine (docs/method.md, "Overhead and its uncertainty"):
 * times one short system call without hooks, and with 1, 2, ... copies of the hooks of sys_enter
 * and sys_exit, the events that every traced call pays for. The slope of the time over the copies
 * is the cost of the two events.
 */
#define _GNU_SOURCE
#include "hooks/calibrate.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cycles.h"
#include "hooks/hooks.h"
#include "hooks/slots.h"

#define CALLS 400
/* the events of this many calls, with all copies, fit into the smallest ring */
#define CALLS_TO_FILL 4
#define EMPTY_CALLS   10000
#define LONGEST       4096 /* upper limit in cycles of an empty call */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Empties the ring of this CPU: with a full ring the programs take another, cheaper path. */
static void empty_ring(const struct hooks *h)
{
	struct mg_ring *r = hooks_ring(h, sched_getcpu());

	__atomic_store_n(&r->tail, __atomic_load_n(&r->head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

int calibrate_call(struct calibration *c, int copies, const struct hooks *h)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static double took[CALLS];
	char byte;

	if (fd < 0)
		return -errno;
	if (!c->began.mono_ns)
		mg_clock_sync_read(&c->began, 100);
	for (int i = 0; i < CALLS; i++) {
		uint64_t start;

		if (h && i % CALLS_TO_FILL == 0)
			empty_ring(h);
		start = mg_cycles();
		/* the socket is not connected: the call returns at once */
		syscall(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL);
		took[i] = (double)(mg_cycles() - start);
	}
	close(fd);
	qsort(took, CALLS, sizeof(*took), by_value);
	if (c->cycles[copies] > 0 && c->cycles[copies] <= took[CALLS / 2])
		return 0; /* an earlier measurement was less disturbed */
	c->cycles[copies] = took[CALLS / 2];
	c->scatter[copies] = (took[CALLS * 84 / 100] - took[CALLS * 16 / 100]) / 2;
	return 0;
}

/*
 * Measures with a rising, then a falling number of copies: whatever disturbs the machine meanwhile,
 * one of the two measurements of each number is the less disturbed.
 */
int calibrate_copies(struct calibration *c, struct hooks *h)
{
	const struct timespec moment = {0, 1000};
	int copies = 1, err = calibrate_call(c, copies, h);

	nanosleep(&moment, NULL); /* mg_ring.runs names the thread from the next switch on */
	while (!err && copies < CALIBRATION_COPIES && hooks_copy_calls(h) == 0)
		err = calibrate_call(c, ++copies, h);
	while (!err && copies > 1) {
		err = calibrate_call(c, copies--, h);
		hooks_drop_copy(h);
	}
	if (!err)
		err = calibrate_call(c, copies, h);
	while (h->copies)
		hooks_drop_copy(h);
	return err;
}

int calibrate_follow_self(struct hooks *h, bool on)
{
	return hooks_mark_task(h, getpid(), on, MG_SYS_recvfrom);
}

static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

/*
 * Returns the median time of an empty function called through a pointer, measured as libmagnet.so
 * measures a real function.
 */
static uint32_t empty_call(void)
{
	void (*volatile call)(void) = nothing;
	static uint32_t times[LONGEST];
	uint32_t so_far = 0, cycles = 0;

	for (int i = 0; i < EMPTY_CALLS; i++) {
		uint64_t start = mg_cycles_after(), took;

		call();
		took = mg_cycles_after() - start;
		times[took < LONGEST ? took : LONGEST - 1]++;
	}
	while (so_far + times[cycles] <= EMPTY_CALLS / 2)
		so_far += times[cycles++];
	return cycles;
}

struct line {
	double slope, intercept, error; /* `error`: standard error of the slope */
};

/* Fits a line through (1, y[1]) ... (n, y[n]) by least squares; n is 3 or more. */
static struct line fit(const double *y, int n)
{
	double mean_x = (n + 1) / 2.0, mean_y = 0, sxx = 0, sxy = 0, rest = 0;
	struct line l;

	for (int i = 1; i <= n; i++)
		mean_y += y[i] / n;
	for (int i = 1; i <= n; i++) {
		sxx += (i - mean_x) * (i - mean_x);
		sxy += (i - mean_x) * (y[i] - mean_y);
	}
	l.slope = sxy / sxx;
	l.intercept = mean_y - l.slope * mean_x;
	for (int i = 1; i <= n; i++)
		rest += pow(y[i] - l.intercept - l.slope * i, 2);
	l.error = sqrt(rest / (n - 2) / sxx);
	return l;
}

static uint32_t rounded(double cycles)
{
	return cycles > 0 ? (uint32_t)(cycles + 0.5) : 0;
}

/* Computes the cost from the line through all numbers of copies. */
static void by_copies(struct mg_calibration *out, const struct calibration *c, int n)
{
	double variance[CALIBRATION_COPIES + 1];
	struct line cost = fit(c->cycles, n), scatter;

	for (int i = 1; i <= n; i++)
		variance[i] = c->scatter[i] * c->scatter[i];
	scatter = fit(variance, n);
	out->event_cycles = rounded(cost.slope / 2);
	out->event_spread = (uint32_t)ceil(cost.error / 2);
	out->event_scatter = scatter.slope > 0 ? rounded(sqrt(scatter.slope / 2)) : 0;
	out->system_cycles = rounded(fabs(cost.intercept - c->cycles[0]));
}

/*
 * Computes the cost from one copy and none, for kernels that cannot attach a program twice; the
 * fixed cost of attaching is then included.
 */
static void by_one(struct mg_calibration *out, const struct calibration *c)
{
	double error = hypot(c->scatter[0], c->scatter[1]) * sqrt(M_PI / 2 / CALLS);

	out->event_cycles = rounded((c->cycles[1] - c->cycles[0]) / 2);
	out->event_spread = (uint32_t)ceil(error / 2);
}

void calibrate_result(struct mg_calibration *out, const struct calibration *c)
{
	int copies = 0;

	memset(out, 0, sizeof(*out));
	while (copies < CALIBRATION_COPIES && c->cycles[copies + 1] > 0)
		copies++;
	if (copies > 2)
		by_copies(out, c, copies);
	else if (copies)
		by_one(out, c);
	out->copies = copies > 2 ? (uint32_t)copies : 1;
	out->read_cycles = empty_call();
	out->counter_hz = c->began.mono_ns ? mg_counter_hz_since(&c->began, 10) : mg_counter_hz(10);
	out->invariant = mg_counter_invariant(NULL);
}
