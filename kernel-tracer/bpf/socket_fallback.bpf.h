/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Data sent and received by sockets other than TCP's, before Linux 6.4 brought tracepoints for it:
 * at the end of each family's own functions. Those of net/socket.c above them cannot be hooked,
 * since they are inlined into their callers.
 */

/* Not inlined, so that the kernel holds the code once, not per program. */
static __noinline int moved_at(struct socket *sock, int ret, int flags, __u32 event)
{
	return moved(sock->sk, ret, flags, event);
}

#define SENT(program, function)                                                                \
	SEC("fexit/" #function)                                                                \
	int BPF_PROG(                                                                          \
		program, struct socket *sock, struct msghdr *msg, unsigned long size, int ret) \
	{                                                                                      \
		return moved_at(sock, ret, 0, MG_EVENT_sock_sent);                             \
	}
#define RECEIVED(program, function)                                                        \
	SEC("fexit/" #function)                                                            \
	int BPF_PROG(program, struct socket *sock, struct msghdr *msg, unsigned long size, \
		int flags, int ret)                                                        \
	{                                                                                  \
		return moved_at(sock, ret, flags, MG_EVENT_sock_received);                 \
	}

SENT(on_sent_ipv4, inet_sendmsg)
SENT(on_sent_ipv6, inet6_sendmsg)
SENT(on_sent_unix_stream, unix_stream_sendmsg)
SENT(on_sent_unix_seqpacket, unix_seqpacket_sendmsg)
SENT(on_sent_netlink, netlink_sendmsg)
SENT(on_sent_packet, packet_sendmsg)
RECEIVED(on_received_ipv4, inet_recvmsg)
RECEIVED(on_received_ipv6, inet6_recvmsg)
RECEIVED(on_received_unix_stream, unix_stream_recvmsg)
RECEIVED(on_received_unix_seqpacket, unix_seqpacket_recvmsg)
RECEIVED(on_received_netlink, netlink_recvmsg)
RECEIVED(on_received_packet, packet_recvmsg)

/*
 * Returns whether the socket is SOCK_SEQPACKET: these functions serve it, too, and have recorded it
 * there.
 */
static __always_inline bool is_seqpacket(const struct socket *sock)
{
	return sock->sk->sk_type == SOCK_SEQPACKET;
}

SEC("fexit/unix_dgram_sendmsg")
int BPF_PROG(
	on_sent_unix_dgram, struct socket *sock, struct msghdr *msg, unsigned long size, int ret)
{
	return is_seqpacket(sock) ? 0 : moved_at(sock, ret, 0, MG_EVENT_sock_sent);
}

SEC("fexit/unix_dgram_recvmsg")
int BPF_PROG(on_received_unix_dgram, struct socket *sock, struct msghdr *msg, unsigned long size,
	int flags, int ret)
{
	return is_seqpacket(sock) ? 0 : moved_at(sock, ret, flags, MG_EVENT_sock_received);
}

/* sendfile() and splice(), which before Linux 6.5 have functions of their own. */
SEC("fexit/udp_sendpage")
int BPF_PROG(on_sent_udp_page, struct sock *sk, struct page *page, int offset, unsigned long size,
	int flags, int ret)
{
	return moved(sk, ret, 0, MG_EVENT_sock_sent);
}

SEC("fexit/unix_stream_sendpage")
int BPF_PROG(on_sent_unix_page, struct socket *sock, struct page *page, int offset,
	unsigned long size, int flags, int ret)
{
	return moved_at(sock, ret, 0, MG_EVENT_sock_sent);
}
