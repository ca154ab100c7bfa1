/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's clock inside BPF with the cycle counter around it, at each switch of the
 * scheduler for a second.
 *
 *   bpf_counter OBJECT
 *
 * A line a switch: CPU, counter, CLOCK_MONOTONIC, counter. Before, a line for each CPU: CPU, and
 * how far its counters may be off, since a perf event's counter starts at an unknown instant. Exit
 * status 77: there is no such perf event, or BPF is refused.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_counter.h"
#include "cycles.h"

#define CPUS  1024
#define CALLS 100000

static int64_t offset[CPUS]; /* added to each reading */

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int open_counter(int cpu)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	FILE *f = fopen("/sys/bus/event_source/devices/msr/type", "r");

	if (!f || fscanf(f, "%u", &attr.type) != 1)
		exit(77);
	fclose(f);
	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Returns the offset of a CPU's perf counter. Every call bounds it from both sides; the bounds of
 * all calls together are narrow.
 */
static int64_t learn_offset(int cpu, const volatile struct around *in_call)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (sched_setaffinity(0, sizeof(only), &only) != 0)
		return -1;
	for (int i = 0; i < CALLS; i++) {
		uint64_t a = mg_cycles(), b;
		int64_t above, below;

		syscall(SYS_getppid);
		b = mg_cycles();
		below = (int64_t)(a - in_call->before);
		above = (int64_t)(b - in_call->after);
		low = below > low ? below : low;
		high = above < high ? above : high;
	}
	offset[cpu] = low + (high - low) / 2;
	return (high - low + 1) / 2;
}

static int print(void *arg, void *data, size_t size)
{
	const struct around *r = data;

	(void)arg;
	if (size >= sizeof(*r) && r->cpu < CPUS)
		printf("%llu %llu %llu %llu\n", (unsigned long long)r->cpu,
			(unsigned long long)r->before + (uint64_t)offset[r->cpu],
			(unsigned long long)r->ns,
			(unsigned long long)r->after + (uint64_t)offset[r->cpu]);
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_link *calls, *switches;
	struct bpf_map *map;
	struct ring_buffer *ring;
	struct around *in_call;
	uint64_t self = (uint64_t)getpid();
	cpu_set_t all;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(quiet);
	object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	if (!object)
		return 2;
	bpf_object__for_each_map (map, object)
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, &self, sizeof(self));
	if (bpf_object__load(object) != 0)
		return 77;
	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		int fd = CPU_ISSET(cpu, &all) ? open_counter(cpu) : -1;

		if (CPU_ISSET(cpu, &all) && fd < 0)
			return 77;
		if (fd >= 0)
			bpf_map_update_elem(
				bpf_object__find_map_fd_by_name(object, "counters"), &cpu, &fd, 0);
	}
	in_call = mmap(NULL, 4096, PROT_READ, MAP_SHARED,
		bpf_object__find_map_fd_by_name(object, "last_call"), 0);
	calls = bpf_program__attach(bpf_object__find_program_by_name(object, "on_call"));
	if (in_call == MAP_FAILED || !calls)
		return 77;
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (CPU_ISSET(cpu, &all))
			printf("%d %lld\n", cpu, (long long)learn_offset(cpu, in_call));
	bpf_link__destroy(calls);
	sched_setaffinity(0, sizeof(all), &all);
	ring = ring_buffer__new(
		bpf_object__find_map_fd_by_name(object, "switches"), print, NULL, NULL);
	switches = bpf_program__attach(bpf_object__find_program_by_name(object, "on_switch"));
	if (!ring || !switches)
		return 77;
	for (int i = 0; i < 5000; i++)
		usleep(200);
	bpf_link__destroy(switches);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	bpf_object__close(object);
	return 0;
}
