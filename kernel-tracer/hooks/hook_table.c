/* SPDX-License-Identifier: MIT */
/* The table of hooks. */

#include "hooks/hook_table.h"

#include "events.h"
#include "hooks/hooks.h"

const char *const hook_kind_names[HOOK_KINDS] = {
	"tp_btf", "fentry", "fexit", "netfilter", "sockops"};

/*
 * Lists every program in the order in which they are attached. Rows that feed the same event are
 * alternatives: the first whose hook this kernel has is used. Where several rows of another kind
 * together replace one row, each has one more word in its event's name.
 */
#define TP(layer, program, event, tracepoint, args)                            \
	{                                                                      \
		MG_LAYER_##layer, HOOK_TP, program, event, tracepoint, args, 0 \
	}
#define FENTRY(layer, program, event, function, args)                            \
	{                                                                        \
		MG_LAYER_##layer, HOOK_FENTRY, program, event, function, args, 0 \
	}
#define FEXIT(layer, program, event, function, args)                            \
	{                                                                       \
		MG_LAYER_##layer, HOOK_FEXIT, program, event, function, args, 0 \
	}
#define NF(layer, program, event, hooknum, priority)                                             \
	{                                                                                        \
		MG_LAYER_##layer, HOOK_NETFILTER, program, event, "netfilter", hooknum, priority \
	}
#define SOCKOPS(layer, program, event, function, args)                            \
	{                                                                         \
		MG_LAYER_##layer, HOOK_SOCKOPS, program, event, function, args, 0 \
	}
/* Rows for the bytes that the sockets of one family have sent and received. */
#define SENT(name, function) FEXIT(SOCKET, "on_sent_" #name, "sock_sent " #name, #function, 3)
#define RECEIVED(name, function) \
	FEXIT(SOCKET, "on_received_" #name, "sock_received " #name, #function, 4)
#define IRQ(NAME, tracepoint)                                                                      \
	TP(SCHED, "on_" #tracepoint "_entry", "irq_entry " #tracepoint, #tracepoint "_entry", 1),  \
		TP(SCHED, "on_" #tracepoint "_exit", "irq_exit " #tracepoint, #tracepoint "_exit", \
			1),
/* clang-format off */
const struct hook hook_table[] = {
	TP(SCHED,   "on_task_fork",      "task_fork",      "sched_process_fork",      2),
	TP(SCHED,   "on_task_exec",      "task_exec",      "sched_process_exec",      1),
	TP(SCHED,   "on_task_exit",      "task_exit",      "sched_process_exit",      1),
	TP(SOCKET,  "on_socket_made",    "sock_new",       "sys_exit",                2),
	TP(TCP,     "on_sock_state",     "sock_state",     "inet_sock_set_state",     3),
	TP(TCP,     "on_tcp_destroy",    "sock_close",     "tcp_destroy_sock",        1),
	TP(TCP,     "on_tcp_used",       "sock_open",      "tcp_rcv_space_adjust",    1),
	TP(TCP,     "on_tcp_recv",       "tcp_recv",       "tcp_probe",               2),
	TP(TCP,     "on_tcp_ready",      "tcp_ready",      "sk_data_ready",           1),
	FENTRY(TCP, "on_readable",       "tcp_ready",      "sock_def_readable",       1),
	TP(TCP,     "on_retransmit",     "tcp_retransmit", "tcp_retransmit_skb",      3),
	TP(TCP,     "on_retransmit_old", "tcp_retransmit", "tcp_retransmit_skb",      2),
	TP(TCP,     "on_synack_again",   "tcp_retransmit synack", "tcp_retransmit_synack", 2),
	TP(TCP,     "on_cong_state",     "tcp_cong",       "tcp_cong_state_set",      2),
	TP(TCP,     "on_send_reset",     "tcp_reset sent", "tcp_send_reset",          3),
	TP(TCP,     "on_send_reset_old", "tcp_reset sent", "tcp_send_reset",          2),
	TP(TCP,     "on_receive_reset",  "tcp_reset received", "tcp_receive_reset",   1),
	SOCKOPS(TIMESTAMPS, "on_timestamp", "stamp_send",  "bpf_sock_ops_enable_tx_tstamp", 2),
	TP(SOCKET,  "on_tcp_send",       "tcp_send",       "tcp_sendmsg_locked",      4),
	FENTRY(SOCKET, "on_tcp_send_begin", "tcp_send",    "tcp_sendmsg_locked",      3),
	TP(SOCKET,  "on_sock_copy",      "sock_copy",      "skb_copy_datagram_iovec", 2),
	TP(SOCKET,  "on_zerocopy_done",  "zerocopy_done",  "inet_sk_error_report",    1),
	TP(SOCKET,  "on_sock_sent",      "sock_sent",      "sock_send_length",        3),
	TP(SOCKET,  "on_sock_received",  "sock_received",  "sock_recv_length",        3),
	SENT(ipv4,           inet_sendmsg),
	SENT(ipv6,           inet6_sendmsg),
	SENT(unix_stream,    unix_stream_sendmsg),
	SENT(unix_dgram,     unix_dgram_sendmsg),
	SENT(unix_seqpacket, unix_seqpacket_sendmsg),
	SENT(netlink,        netlink_sendmsg),
	SENT(packet,         packet_sendmsg),
	SENT(udp_page,       udp_sendpage),
	SENT(unix_page,      unix_stream_sendpage),
	RECEIVED(ipv4,           inet_recvmsg),
	RECEIVED(ipv6,           inet6_recvmsg),
	RECEIVED(unix_stream,    unix_stream_recvmsg),
	RECEIVED(unix_dgram,     unix_dgram_recvmsg),
	RECEIVED(unix_seqpacket, unix_seqpacket_recvmsg),
	RECEIVED(netlink,        netlink_recvmsg),
	RECEIVED(packet,         packet_recvmsg),
	FENTRY(SOCKET, "on_lock_wait",     "lock_wait",     "__lock_sock",    1),
	FEXIT(SOCKET,  "on_lock_got",      "lock_got",      "__lock_sock",    1),
	FENTRY(SOCKET, "on_backlog_begin", "backlog_begin", "__release_sock", 1),
	FEXIT(SOCKET,  "on_backlog_end",   "backlog_end",   "__release_sock", 1),
	NF(IP,        "on_ip_out",       "ip_out",         3, -500),
	NF(NETFILTER, "on_nf_out_end",   "nf_out_end",     3, 500),
	NF(NETFILTER, "on_nf_post_begin", "nf_post_begin", 4, -500),
	NF(IP,        "on_ip_post",      "ip_post",        4, 500),
	NF(NETFILTER, "on_ip_recv",      "ip_recv",        0, -500),
	NF(NETFILTER, "on_nf_pre_end",   "nf_pre_end",     0, 500),
	NF(NETFILTER, "on_nf_in_begin",  "nf_in_begin",    1, -500),
	NF(IP,        "on_ip_in",        "ip_in",          1, 500),
	NF(IP,        "on_ip_forward",   "ip_forward",     2, 500),
	FENTRY(IP,  "on_ip_out_4",       "ip_out ipv4",    "__ip_local_out",          3),
	FENTRY(IP,  "on_ip_out_tcp6",    "ip_out tcp6",    "inet6_csk_xmit",          3),
	FENTRY(IP,  "on_ip_out_6",       "ip_out ipv6",    "__ip6_local_out",         3),
	FENTRY(IP,  "on_ip_post_4",      "ip_post ipv4",   "ip_output",               3),
	FENTRY(IP,  "on_ip_post_6",      "ip_post ipv6",   "ip6_output",              3),
	FENTRY(IP,  "on_ip_in_4",        "ip_in ipv4",     "ip_local_deliver",        1),
	FENTRY(IP,  "on_ip_in_6",        "ip_in ipv6",     "ip6_input",               1),
	FENTRY(IP,  "on_ip_forward_4",   "ip_forward ipv4", "ip_forward",             1),
	FENTRY(IP,  "on_ip_forward_6",   "ip_forward ipv6", "ip6_forward",            1),
	TP(IP,      "on_drop",           "drop",           "kfree_skb",               4),
	TP(IP,      "on_drop_3",         "drop",           "kfree_skb",               3),
	TP(IP,      "on_drop_2",         "drop",           "kfree_skb",               2),
	TP(DEVICE,  "on_dev_queue",      "dev_queue",      "net_dev_queue",           1),
	TP(DEVICE,  "on_dev_xmit",       "dev_xmit",       "net_dev_start_xmit",      2),
	TP(DEVICE,  "on_dev_done",       "dev_done",       "net_dev_xmit",            4),
	TP(DEVICE,  "on_dev_recv",       "dev_recv",       "netif_receive_skb",       1),
	TP(GRO,     "on_dev_gro",        "dev_gro",        "napi_gro_receive_entry",  1),
	TP(SCHED,   "on_sched_switch",   "sched_switch",   "sched_switch",            4),
	TP(SCHED,   "on_sched_switch_old", "sched_switch", "sched_switch",            3),
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
