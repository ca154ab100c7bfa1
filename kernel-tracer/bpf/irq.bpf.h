/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Interrupts and softirqs, as far as they take time from a traced thread. */

/* `thread` is what traced_on() has returned. */
static __always_inline bool on_top_of_traced(__u64 thread)
{
	return thread || task_watched(bpf_get_current_task_btf());
}

static __always_inline int softirq_changes(__u32 context, __u32 vec, __u16 event)
{
	struct mg_ring *r = ring_here();
	__u64 thread;

	if (!r)
		return 0;
	r->context = context;
	thread = traced_on(r);
	if (on_top_of_traced(thread))
		EMIT_NUMBERED_IN(r, thread, event, mg_softirq, e, e->vec = vec);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	return softirq_changes(MG_CONTEXT_SOFTIRQ + vec, vec, MG_EVENT_softirq_entry);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vec)
{
	return softirq_changes(MG_CONTEXT_THREAD, vec, MG_EVENT_softirq_exit);
}

static __always_inline int irq_changes(__u32 number, __u8 source, __u16 event)
{
	struct mg_ring *r = ring_here();
	__u64 thread = r ? traced_on(r) : 0;

	if (r && on_top_of_traced(thread))
		EMIT_NUMBERED_IN(r, thread, event, mg_irq, e, {
			e->number = number;
			e->source = source;
		});
	return 0;
}

static __always_inline int irq_begins(__u32 number, __u8 source)
{
	switching_is_interrupted();
	return irq_changes(number, source, MG_EVENT_irq_entry);
}

static __always_inline int irq_ends(__u32 number, __u8 source)
{
	return irq_changes(number, source, MG_EVENT_irq_exit);
}

/* A device's interrupt; others x86 counts and traces by the kind of their vector. */
#define IRQ(kind, tracepoint)                             \
	SEC("tp_btf/" #tracepoint "_entry")               \
	int BPF_PROG(on_##tracepoint##_entry, int number) \
	{                                                 \
		return irq_begins(number, MG_IRQ_##kind); \
	}                                                 \
	SEC("tp_btf/" #tracepoint "_exit")                \
	int BPF_PROG(on_##tracepoint##_exit, int number)  \
	{                                                 \
		return irq_ends(number, MG_IRQ_##kind);   \
	}
MG_IRQS_ANYWHERE(IRQ)
#if defined(__TARGET_ARCH_x86)
MG_IRQS_X86(IRQ)
#endif
#undef IRQ
