/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Duration of a context switch: from the scheduler's entry to its decision, sched_switch, and from
 * there to its return on the next thread's behalf. One event at the end has all three times.
 */

struct switching {
	__u64 entry, decided; /* ns, 0 = not yet, or the layer is off */
	__u32 prev, next;
	__u32 irqs; /* interrupts since the entry */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct switching);
} switchings SEC(".maps");

static __always_inline struct switching *this_switching(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&switchings, &zero);
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(on_sched_entry)
{
	struct switching *s = this_switching();

	if (!s)
		return 0;
	s->decided = 0;
	s->irqs = 0;
	s->entry = bpf_ktime_get_ns();
	return 0;
}

/* Call it when a traced thread gets or leaves the CPU, recorded at `ts`. */
static __always_inline void switching_is_decided(__u64 ts, __u32 prev, __u32 next)
{
	struct switching *s = this_switching();

	if (!s || !s->entry)
		return;
	s->decided = ts;
	s->prev = prev;
	s->next = next;
}

static __always_inline void switching_is_interrupted(void)
{
	struct switching *s = this_switching();

	if (s)
		s->irqs++;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_sched_exit, bool is_switch)
{
	struct switching *s = this_switching();
	__u64 entry;

	if (!s)
		return 0;
	entry = s->entry;
	s->entry = 0;
	/* longer: the entry is from before the layer was switched off and on again */
	if (!is_switch || !entry || !s->decided || s->decided - entry > 0xffffffff)
		return 0;
	EMIT(sched_cost, mg_sched_cost, e, {
		e->prev_tid = s->prev;
		e->next_tid = s->next;
		e->decide_ns = s->decided - entry;
		e->reload_ns = taken_.slot->ts - s->decided;
		e->irqs = s->irqs;
	});
	s->decided = 0;
	return 0;
}
