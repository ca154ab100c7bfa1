/* SPDX-License-Identifier: MIT */
#include "cpu_time.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) == 0
		       ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec
		       : 0;
}

uint64_t own_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void own_use_begin(struct own_use *u)
{
	*u = (struct own_use){
		.began_ns = read_clock(CLOCK_MONOTONIC), .began_cpu_ns = own_cpu_ns()};
}

void own_use_cease(struct own_use *u)
{
	u->ceased_ns = read_clock(CLOCK_MONOTONIC);
	u->ceased_cpu_ns = own_cpu_ns();
}

uint64_t own_use_running_ns(const struct own_use *u)
{
	return (u->ceased_ns ? u->ceased_ns : read_clock(CLOCK_MONOTONIC)) - u->began_ns;
}

uint64_t own_use_running_cpu_ns(const struct own_use *u)
{
	return (u->ceased_ns ? u->ceased_cpu_ns : own_cpu_ns()) - u->began_cpu_ns;
}

int64_t stolen_cpu_ns(void)
{
	FILE *f = fopen("/proc/stat", "re");
	long long ticks = -1;

	if (!f)
		return -1;
	/* user nice system idle iowait irq softirq steal */
	if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %lld", &ticks) != 1)
		ticks = -1;
	fclose(f);
	return ticks < 0 ? -1 : ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}
