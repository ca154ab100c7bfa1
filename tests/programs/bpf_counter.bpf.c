/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads the clock as magnet's programs do, with the cycle counter before and after it from the perf
 * event msr/tsc, at each scheduler switch, and at each getppid() of a process that also reads the
 * counter around the call itself.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf_counter.h"

const volatile __u64 own_pid = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct around);
} last_call SEC(".maps");

static __always_inline void read_around(struct around *r)
{
	struct bpf_perf_event_value a = {}, b = {};
	__u64 ns;

	bpf_perf_event_read_value(&counters, BPF_F_CURRENT_CPU, &a, sizeof(a));
	ns = bpf_ktime_get_ns();
	bpf_perf_event_read_value(&counters, BPF_F_CURRENT_CPU, &b, sizeof(b));
	r->before = a.counter;
	r->ns = ns;
	r->after = b.counter;
	r->cpu = bpf_get_smp_processor_id();
}

SEC("tp_btf/sched_switch")
int on_switch(void *ctx)
{
	struct around r;

	read_around(&r);
	bpf_ringbuf_output(&switches, &r, sizeof(r), BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sys_enter")
int on_call(void *ctx)
{
	__u32 zero = 0;
	struct around *r = bpf_map_lookup_elem(&last_call, &zero);

	if (r && bpf_get_current_pid_tgid() >> 32 == own_pid)
		read_around(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
