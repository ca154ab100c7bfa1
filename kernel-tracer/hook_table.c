/* SPDX-License-Identifier: MIT */
/* The table of hooks, and which of them this kernel and the user's choice take. */
#define _GNU_SOURCE
#include "hooks.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer.h"

/*
 * Every program, in the order in which they are attached. Rows that feed the same event are
 * alternatives: the first whose hook this kernel has is used.
 */
#define TP(layer, program, event, tracepoint, args)                            \
	{                                                                      \
		MG_LAYER_##layer, HOOK_TP, program, event, tracepoint, args, 0 \
	}
#define NF(layer, program, event, hooknum, priority)                                             \
	{                                                                                        \
		MG_LAYER_##layer, HOOK_NETFILTER, program, event, "netfilter", hooknum, priority \
	}
#define IRQ(NAME, tracepoint)                                                                      \
	TP(SCHED, "on_" #tracepoint "_entry", "irq_entry " #tracepoint, #tracepoint "_entry", 1),  \
		TP(SCHED, "on_" #tracepoint "_exit", "irq_exit " #tracepoint, #tracepoint "_exit", \
			1),
/* clang-format off */
const struct hook hook_table[] = {
	TP(SCHED,   "on_task_fork",      "task_fork",      "sched_process_fork",      2),
	TP(SCHED,   "on_task_exec",      "task_exec",      "sched_process_exec",      1),
	TP(SCHED,   "on_task_exit",      "task_exit",      "sched_process_exit",      1),
	TP(TCP,     "on_sock_state",     "sock_state",     "inet_sock_set_state",     3),
	TP(TCP,     "on_tcp_destroy",    "sock_close",     "tcp_destroy_sock",        1),
	TP(TCP,     "on_tcp_used",       "sock_open",      "tcp_rcv_space_adjust",    1),
	TP(TCP,     "on_tcp_recv",       "tcp_recv",       "tcp_probe",               2),
	TP(TCP,     "on_tcp_ready",      "tcp_ready",      "sk_data_ready",           1),
	TP(TCP,     "on_retransmit",     "tcp_retransmit", "tcp_retransmit_skb",      3),
	TP(TCP,     "on_retransmit_old", "tcp_retransmit", "tcp_retransmit_skb",      2),
	TP(TCP,     "on_cong_state",     "tcp_cong",       "tcp_cong_state_set",      2),
	TP(TCP,     "on_send_reset",     "tcp_reset sent", "tcp_send_reset",          3),
	TP(TCP,     "on_send_reset_old", "tcp_reset sent", "tcp_send_reset",          2),
	TP(TCP,     "on_receive_reset",  "tcp_reset received", "tcp_receive_reset",   1),
	TP(SOCKET,  "on_tcp_send",       "tcp_send",       "tcp_sendmsg_locked",      4),
	TP(SOCKET,  "on_sock_copy",      "sock_copy",      "skb_copy_datagram_iovec", 2),
	TP(SOCKET,  "on_sock_sent",      "sock_sent",      "sock_send_length",        3),
	TP(SOCKET,  "on_sock_received",  "sock_received",  "sock_recv_length",        3),
	NF(IP,        "on_ip_out",       "ip_out",         3, -500),
	NF(NETFILTER, "on_nf_out_end",   "nf_out_end",     3, 500),
	NF(NETFILTER, "on_nf_post_begin", "nf_post_begin", 4, -500),
	NF(IP,        "on_ip_post",      "ip_post",        4, 500),
	NF(NETFILTER, "on_ip_recv",      "ip_recv",        0, -500),
	NF(NETFILTER, "on_nf_pre_end",   "nf_pre_end",     0, 500),
	NF(NETFILTER, "on_nf_in_begin",  "nf_in_begin",    1, -500),
	NF(IP,        "on_ip_in",        "ip_in",          1, 500),
	NF(IP,        "on_ip_forward",   "ip_forward",     2, 500),
	TP(IP,      "on_drop",           "drop",           "kfree_skb",               4),
	TP(IP,      "on_drop_3",         "drop",           "kfree_skb",               3),
	TP(IP,      "on_drop_2",         "drop",           "kfree_skb",               2),
	TP(DEVICE,  "on_dev_queue",      "dev_queue",      "net_dev_queue",           1),
	TP(DEVICE,  "on_dev_xmit",       "dev_xmit",       "net_dev_start_xmit",      2),
	TP(DEVICE,  "on_dev_done",       "dev_done",       "net_dev_xmit",            4),
	TP(DEVICE,  "on_dev_recv",       "dev_recv",       "netif_receive_skb",       1),
	TP(GRO,     "on_dev_gro",        "dev_gro",        "napi_gro_receive_entry",  1),
	TP(SCHED,   "on_sched_switch",   "sched_switch",   "sched_switch",            4),
	TP(SCHED,   "on_sched_waking",   "sched_waking",   "sched_waking",            1),
	TP(SWITCH,  "on_sched_wakeup",   "sched_wakeup",   "sched_wakeup",            1),
	TP(SWITCH,  "on_sched_wakeup_new", "sched_wakeup_new", "sched_wakeup_new",    1),
	TP(SCHED,   "on_sched_migrate",  "sched_migrate",  "sched_migrate_task",      2),
	TP(SWITCH,  "on_sched_entry",    "sched_cost from", "sched_entry_tp",         1),
	TP(SWITCH,  "on_sched_exit",     "sched_cost",     "sched_exit_tp",           1),
	TP(SCHED,   "on_softirq_entry",  "softirq_entry",  "softirq_entry",           1),
	TP(SCHED,   "on_softirq_exit",   "softirq_exit",   "softirq_exit",            1),
	MG_IRQS_ANYWHERE(IRQ)
#if defined(__x86_64__)
	MG_IRQS_X86(IRQ)
#endif
	TP(SYSCALL, "on_sys_exit",       "sys_exit",       "sys_exit",                2),
	TP(SYSCALL, "on_sys_enter",      "sys_enter",      "sys_enter",               2),
};
/* clang-format on */
const size_t hook_count = sizeof(hook_table) / sizeof(hook_table[0]);
_Static_assert(sizeof(hook_table) / sizeof(hook_table[0]) <= HOOKS_MAX, "HOOKS_MAX");

/* Arguments of a tracepoint as the kernel's BTF has them, -1 if there is no such tracepoint. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	char type[96];
	const struct btf_type *t;
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer */
	t = btf__type_by_id(btf, t->type);                        /* prototype */
	return btf_vlen(t) - 1; /* the first is the tracepoint's own data */
}

/* BPF netfilter programs came with 6.4; whether they load is found by loading one. */
static bool netfilter_programs_load(void)
{
	struct bpf_insn accept[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = MG_BPF_PROG_TYPE_NETFILTER;
	attr.expected_attach_type = MG_BPF_NETFILTER;
	attr.insns = (uintptr_t)accept;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool hook_is_loaded(int state)
{
	return state == 0 || state == HOOK_TO_MEASURE;
}

/* Decide for every row whether its program is to be loaded; hook_state says why not. */
void hooks_choose(struct hooks *h, const struct tracer_options *o)
{
	int *state = h->state;
	struct btf *btf = btf__load_vmlinux_btf();
	bool nf = netfilter_programs_load();
	const char *served[HOOKS_MAX];
	int count = 0;

	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *k = &hook_table[i];
		struct bpf_program *p = bpf_object__find_program_by_name(h->object, k->program);
		int args;

		state[i] = 0;
		for (int j = 0; j < count; j++)
			if (strcmp(served[j], k->event) == 0)
				state[i] = HOOK_NOT_NEEDED;
		if (state[i] == 0 && !(o->layers & 1u << k->layer) && !hook_is_selection(k))
			state[i] = k->layer == MG_LAYER_SYSCALL ? HOOK_TO_MEASURE : HOOK_NOT_WANTED;
		if (o->fresh && strcmp(k->event, "sock_open") == 0)
			state[i] = HOOK_NOT_WANTED; /* there is nothing open yet */
		if (hook_is_loaded(state[i]) && k->kind == HOOK_TP) {
			args = btf ? tracepoint_args(btf, k->target) : -1;
			if (args < k->number)
				state[i] = -ENOENT;
		}
		if (state[i] == 0 && k->kind == HOOK_NETFILTER && !nf)
			state[i] = -EOPNOTSUPP;
		if (k->kind == HOOK_NETFILTER) {
			bpf_program__set_type(p, MG_BPF_PROG_TYPE_NETFILTER);
			bpf_program__set_expected_attach_type(p, MG_BPF_NETFILTER);
		}
		bpf_program__set_autoload(p, hook_is_loaded(state[i]));
		if (state[i] == 0)
			served[count++] = k->event;
	}
	btf__free(btf);
}
