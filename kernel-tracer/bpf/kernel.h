/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The few members of kernel structures that magnet reads. Offsets come from the running kernel's
 * BTF when the programs are loaded, so no header of that kernel is needed.
 */
#ifndef MAGNET_BPF_KERNEL_H
#define MAGNET_BPF_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

#include "tcp_names.h"

#define AF_UNIX        1
#define AF_INET        2
#define AF_INET6       10
#define AF_NETLINK     16
#define AF_PACKET      17
#define AF_VSOCK       40
#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_RAW       3
#define SOCK_SEQPACKET 5
#define ETH_P_IP       0x0800
#define ETH_P_IPV6     0x86dd
#define ETH_P_8021Q    0x8100
#define ETH_P_8021AD   0x88a8
#define IPPROTO_TCP    6
#define IPPROTO_UDP    17
#define IPPROTO_ICMP   1
#define IPPROTO_RAW    255
#define IPPROTO_ICMPV6 58
#define S_IFMT         0170000
#define S_IFSOCK       0140000
#define NET_TX_SOFTIRQ 2
#define NET_RX_SOFTIRQ 3

enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT,
	TCP_SYN_RECV,
	TCP_FIN_WAIT1,
	TCP_FIN_WAIT2,
	TCP_TIME_WAIT,
	TCP_CLOSE,
	TCP_CLOSE_WAIT,
	TCP_LAST_ACK,
	TCP_LISTEN,
	TCP_CLOSING,
	TCP_NEW_SYN_RECV,
};

/* from <linux/errqueue.h>, the same everywhere */
struct sock_extended_err {
	__u32 ee_errno;
	__u8 ee_origin;
	__u8 ee_type;
	__u8 ee_code;
	__u8 ee_pad;
	__u32 ee_info;
	__u32 ee_data;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct net_device;
struct dst_entry {
	struct net_device *dev;
};
struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned char skc_reuse : 4;
	unsigned char skc_reuseport : 1;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};
typedef struct {
	int counter;
} atomic_t;
typedef struct {
	atomic_t refs;
} refcount_t;
struct inode {
	unsigned long i_ino;
	unsigned short i_mode;
};
struct socket;
struct page;
struct sk_buff;
struct sk_buff_head {
	struct sk_buff *next, *prev;
	__u32 qlen;
};
struct sock {
	struct sock_common __sk_common;
	int sk_err;
	unsigned long sk_pacing_rate;
	struct {
		atomic_t rmem_alloc;
	} sk_backlog;
	refcount_t sk_wmem_alloc;
	struct sk_buff_head sk_receive_queue;
	struct socket *sk_socket;
	unsigned long sk_ino; /* since 6.17 */
	int sk_wmem_queued;
	__u16 sk_type;
	__u16 sk_protocol;
	struct dst_entry *sk_dst_cache;
	struct sk_buff_head sk_error_queue;
	atomic_t sk_zckey;
	atomic_t sk_drops;
	__u32 sk_ack_backlog;
	__u32 sk_max_ack_backlog;
};
/* content of the error queue, in sk_buff's `cb` */
struct sock_exterr_skb {
	struct sock_extended_err ee;
};
struct udp_sock {
	struct sk_buff_head reader_queue;
};
struct inet_sock {
	__be16 inet_sport;
};
struct tcp_congestion_ops {
	char name[16];
};
struct tcp_ulp_ops {
	char name[16];
};
struct inet_connection_sock {
	__u32 icsk_rto;
	const struct tcp_ulp_ops *icsk_ulp_ops;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
	__u8 icsk_backoff;
	__u8 icsk_probes_out;
};
struct tcp_sock {
	__u32 write_seq;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 rcv_nxt;
	__u32 copied_seq;
	__u32 snd_wnd;
	__u32 snd_cwnd;
	__u32 srtt_us;
	__u32 snd_wl1;
	__u32 snd_ssthresh;
	__u32 rcv_wnd;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 lost;
	__u32 delivered;
	__u32 mss_cache;
	__u8 nonagle : 4;
	__u32 chrono_type : 2; /* a byte of its own since 6.18 */
	__u32 chrono_start;
	__u32 chrono_stat[3];
	__u64 bytes_acked;
	__u64 bytes_received;
	__u64 bytes_sent;
	__u64 bytes_retrans;
};

struct list_head {
	struct list_head *next, *prev;
};
struct net_device {
	char name[16];
	int ifindex;
	unsigned int flags;
	unsigned long priv_flags : 32; /* no bit-field before 6.10 */
	void *rx_handler;
	possible_net_t nd_net;
	unsigned char *dev_addr;
	unsigned short type;
	void *ingress_queue;
	struct {
		struct list_head upper;
	} adj_list; /* of struct netdev_adjacent */
};
struct netdev_adjacent {
	struct net_device *dev;
	struct list_head list;
};
struct sk_buff {
	struct sk_buff *prev;
	struct net_device *dev;
	unsigned long _skb_refdst;
	struct sock *sk;
	unsigned int len;
	unsigned int data_len;
	int skb_iif;
	__be16 protocol, vlan_proto;
	__u16 transport_header;
	__u16 network_header;
	__u16 mac_header;
	char cb[48];
	unsigned int end;
	unsigned char *head;
	unsigned char *data;
	__u16 inner_transport_header, inner_network_header;
	__u8 from_ingress : 1;
};
/* these have other names here: their layout is the same everywhere */
struct tcphdr {
	__be32 seq;
};
struct iphdr {
	__be32 saddr;
};
struct udphdr {
	__be16 source;
};
struct skb_shared_info {
	unsigned short gso_size;
	unsigned short gso_segs;
	__u32 tskey;
};
struct bpf_sock_ops_kern {
	struct sock *sk;
	struct sk_buff *skb;
};
struct tcp_skb_cb {
	__u32 seq;
	__u32 end_seq;
	union {
		struct {
			__u16 tcp_gso_segs; /* in the write queue */
		};
	};
};

struct nf_hook_state {
	struct net *net;
	struct net_device *in;
	struct net_device *out;
};
struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
};

struct iov_iter {
	unsigned long count;
};
struct msghdr {
	struct iov_iter msg_iter;
};

struct file {
	const void *f_op;
	struct inode *f_inode;
	void *private_data;
};
struct socket {
	struct sock *sk;
};
struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};
struct unix_sock {
	struct sock *peer;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct nsproxy {
	struct net *net_ns;
};
struct kernfs_node {
	__u64 id;
};
struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[1];
};
struct css_set {
	struct cgroup *dfl_cgrp;
};
struct rq {
	unsigned int nr_running;
};
struct cfs_rq {
	struct rq *rq;
	int throttle_count; /* with CONFIG_CFS_BANDWIDTH: this group and those above it that are
			       throttled */
};
struct sched_entity {
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED */
};
typedef struct {
	unsigned long sig[1];
} sigset_t;
struct sigpending {
	sigset_t signal;
};
struct signal_struct {
	struct sigpending shared_pending;
};
struct thread_info {
	unsigned long flags;
	__u32 status; /* on x86 */
	__u32 cpu;
};
struct task_struct___cpu {
	unsigned int cpu;
};
struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	struct css_set *cgroups;
	int pid;
	int tgid;
	char comm[16];
	unsigned int flags;
	__u64 self_exec_id;
	unsigned int in_iowait : 1;
	void *stack;
	struct task_struct *group_leader;
	struct sched_entity se;
	struct sigpending pending;
	struct signal_struct *signal;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	bool throttled; /* since 6.18, with CONFIG_CFS_BANDWIDTH */
	void *bpf_storage;
};
struct linux_binprm;

/* reason of a reset, since 6.10; its numbers differ between kernels */
#define RESET_REASON(n, name, KERNEL) SK_RST_REASON_##KERNEL = n,
enum sk_rst_reason { MG_RESETS(RESET_REASON) };
#undef RESET_REASON

enum skb_drop_reason { SKB_DROP_REASON_NO_SOCKET, SKB_DROP_REASON_UNHANDLED_PROTO };

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *map;
	void *key;
	void *value;
};
struct tcp_request_sock {
	__u32 snt_isn;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, bx, orig_ax, ax, cs;
};
#define SYS_NR(regs)   ((regs)->orig_ax)
#define SYS_ARG0(regs) ((regs)->di)
#define SYS_ARG1(regs) ((regs)->si)
#define SYS_ARG2(regs) ((regs)->dx)
#define SYS_ARG3(regs) ((regs)->r10)
#define SYS_ARG4(regs) ((regs)->r8)
#define SYS_ARG5(regs) ((regs)->r9)
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
};
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		__u64 regs[31];
	};
	__u64 orig_x0;
	__s32 syscallno;
};
#define SYS_NR(regs)   ((regs)->syscallno)
#define SYS_ARG0(regs) ((regs)->orig_x0)
#define SYS_ARG1(regs) ((regs)->regs[1])
#define SYS_ARG2(regs) ((regs)->regs[2])
#define SYS_ARG3(regs) ((regs)->regs[3])
#define SYS_ARG4(regs) ((regs)->regs[4])
#define SYS_ARG5(regs) ((regs)->regs[5])
#endif

#pragma clang attribute pop

#endif
