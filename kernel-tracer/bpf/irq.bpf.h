/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Interrupts and softirqs, as far as they take time from a traced thread. */

static __always_inline bool on_top_of_traced(void)
{
	return traced_here() || task_watched(bpf_get_current_task_btf());
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	set_context(MG_CONTEXT_SOFTIRQ + vec);
	if (on_top_of_traced())
		EMIT(softirq_entry, mg_softirq, e, e->vec = vec);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vec)
{
	set_context(MG_CONTEXT_THREAD);
	if (on_top_of_traced())
		EMIT(softirq_exit, mg_softirq, e, e->vec = vec);
	return 0;
}

static __always_inline int irq_begins(__u32 number, __u8 source)
{
	switching_is_interrupted();
	if (on_top_of_traced())
		EMIT(irq_entry, mg_irq, e, {
			e->number = number;
			e->source = source;
		});
	return 0;
}

static __always_inline int irq_ends(__u32 number, __u8 source)
{
	if (on_top_of_traced())
		EMIT(irq_exit, mg_irq, e, {
			e->number = number;
			e->source = source;
		});
	return 0;
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
