/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Peers with which an unconnected socket exchanges datagrams. The common path costs a comparison
 * with the last ones reported.
 */
#ifndef MAGNET_BPF_PEER_H
#define MAGNET_BPF_PEER_H

#define PEERS_RECORDED 4096 /* pairs of ends that are remembered */
#define PEER_SOCKS     1024
#define PEERS_MAX      32 /* per socket, both directions together */

volatile __u64 peers_recorded[PEERS_RECORDED] SEC(".data.peers") = {};
/* low bits of the socket's number, and how many peers were reported for it */
volatile __u64 peers_of[PEER_SOCKS] SEC(".data.peers_of") = {};

/* Reports a peer. Returns false if there was no room: then the next datagram reports it. */
static __noinline bool tell_peer(
	const struct sk_buff *skb, unsigned char *ip, int version, __u64 sock, bool rx)
{
	volatile __u64 *count = &peers_of[sock & (PEER_SOCKS - 1)];
	__u64 n = *count >> 8 == (sock & ~0ull >> 8) ? *count & 0xff : 0;
	struct datagram d = {};
	bool recorded = false;

	if (n >= PEERS_MAX || cfg.anonymize || !datagram_at(&d, skb, ip, version))
		return true;
	if (!has_room())
		return false;
	EMIT(sock_peer, mg_sock_peer, e, {
		e->sock = sock;
		__builtin_memcpy(e->addr, rx ? d.src : d.dst, 16);
		e->port = d.proto != IPPROTO_UDP ? 0 : rx ? d.sport : d.dport;
		e->rx = rx;
		recorded = true;
	});
	if (recorded)
		*count = sock << 8 | (n + 1);
	return recorded;
}

/*
 * Returns a hash of the addresses, and UDP's ports. A function with its own stack frame: see
 * whose.bpf.h.
 */
static __noinline __u64 ends_at(unsigned char *ip, int version, bool udp)
{
	__u64 src = 0, dst = 0;
	__u32 ports = 0, hlen = 40;

	if (version == 4) {
		struct ipv4_bytes h;

		if (!read_ipv4(&h, ip))
			return 0;
		src = h.saddr;
		dst = h.daddr;
		hlen = (h.version_ihl & 15) * 4;
	} else { /* the lower halves */
		bpf_probe_read_kernel(&src, sizeof(src), ip + 16);
		bpf_probe_read_kernel(&dst, sizeof(dst), ip + 32);
	}
	if (udp)
		bpf_probe_read_kernel(&ports, sizeof(ports), ip + hlen);
	return mix(mix(mix(cfg.seed, src), dst), ports);
}

/* Call it for a datagram that leaves or reaches a socket in one piece; its IP header is at `ip`. */
static __always_inline void peer_passes(const struct sk_buff *skb, unsigned char *ip, int version,
	const struct packet *g, __u64 sock, bool rx)
{
	__u64 key;
	__u32 at;

	if (g->frag)
		return;
	key = mix(ends_at(ip, version, g->proto == IPPROTO_UDP), sock << 1 | rx);
	at = key & (PEERS_RECORDED - 1);
	if (peers_recorded[at] == key)
		return;
	if (tell_peer(skb, ip, version, sock, rx))
		peers_recorded[at] = key;
}

#endif
