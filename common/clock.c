/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "clock.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cycles.h"

uint64_t mg_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void mg_clock_sync_read(struct mg_clock_sync *out, unsigned int tries)
{
	uint64_t best = UINT64_MAX;

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < tries; i++) {
		uint64_t a = mg_cycles();
		uint64_t ns = mg_monotonic_ns();
		uint64_t b = mg_cycles();

		if (b - a >= best)
			continue;
		best = b - a;
		out->cycles = a + best / 2;
		out->mono_ns = ns;
		out->half_width =
			(uint32_t)((best + 1) / 2 + 1); /* a tick of the counter may be long, too */
	}
	out->cpu = (uint32_t)sched_getcpu();
}

uint64_t mg_counter_hz_since(const struct mg_clock_sync *reading, unsigned int ms)
{
	uint64_t until = reading->mono_ns + ms * 1000000ull;
	struct timespec t = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
	struct mg_clock_sync now;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	mg_clock_sync_read(&now, 100);
	return (uint64_t)((__uint128_t)(now.cycles - reading->cycles) * 1000000000u /
			  (now.mono_ns - reading->mono_ns));
}

uint64_t mg_counter_hz(unsigned int ms)
{
	struct mg_clock_sync begin;

	mg_clock_sync_read(&begin, 100);
	return mg_counter_hz_since(&begin, ms);
}

bool mg_counter_invariant(const char **why)
{
	const char *reason = NULL;
#if defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;
	char source[32] = "";
	FILE *f;

	/* Intel SDM 3B, "Invariant TSC": CPUID 80000007H, EDX bit 8 */
	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & (1u << 8)))
		reason = "the CPU does not promise an invariant TSC";
	f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (f) {
		if (!fgets(source, sizeof(source), f))
			source[0] = 0;
		fclose(f);
	}
	if (!reason && source[0] && strncmp(source, "tsc", 3) != 0)
		reason = "the kernel does not use the TSC as its clock";
#endif
	if (why)
		*why = reason;
	return reason == NULL;
}
