/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The user's filters. They are applied when a socket is first met or gets its addresses, not per
 * packet.
 */
#ifndef MAGNET_BPF_FILTER_H
#define MAGNET_BPF_FILTER_H

/* Ends of a socket; ports in host order, addresses as IPv6. */
struct endpoints {
	__u32 laddr[4], raddr[4];
	__u32 netns;
	__u16 lport, rport;
};

enum verdict {
	REFUSED,
	WANTED,
	UNDECIDED,  /* until it is connected */
	UNACCEPTED, /* a UNIX socket that no process has yet; `id` is its peer's */
};

/* Avoids branches, as the verifier follows every path in each program that uses these. */
static __always_inline __u64 is_zero(__u32 x)
{
	return ((__u64)x - 1) >> 63;
}

static __always_inline __u32 differs(const __u32 *addr, int n)
{
	__u32 d = 0;

	for (int i = 0; i < 4; i++)
		d |= (addr[i] ^ settings.prefix[n].addr[i]) & settings.prefix[n].mask[i];
	return d;
}

/* Returns whether one of the ends is in one of the prefixes. */
static __always_inline bool address_passes(const struct endpoints *e)
{
	__u64 passes = 0;

	for (int i = 0; i < MG_FILTER_PREFIXES; i++)
		passes |= is_zero(differs(e->laddr, i)) | is_zero(differs(e->raddr, i));
	return passes;
}

static __always_inline bool port_passes(__u16 lport, __u16 rport)
{
	__u64 passes = 0;

	for (int i = 0; i < MG_FILTER_PORTS; i++)
		passes |= is_zero(settings.ports[i] ^ lport) | is_zero(settings.ports[i] ^ rport);
	return passes;
}

static __always_inline bool netns_passes(__u32 netns)
{
	__u64 passes = 0;

	for (int i = 0; i < MG_FILTER_NETNS; i++)
		passes |= is_zero(settings.netns[i] ^ netns);
	return passes;
}

static __always_inline __u64 end_hash(const __u32 *addr, __u16 port)
{
	__u64 h = port;

	for (int i = 0; i < 4; i++) {
		h = (h ^ addr[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

/* Returns the same for both ends, and on every host, as a sum does not depend on their order. */
static __always_inline bool sampled(const struct endpoints *e)
{
	__u64 h = end_hash(e->laddr, e->lport) + end_hash(e->raddr, e->rport);

	if (!settings.sample) /* impossible, but required by the verifier */
		return true;
	h *= 0x9e3779b97f4a7c15ULL;
	return (__u32)(h >> 32) % settings.sample == 0;
}

/*
 * Decides about a socket. A global function, which the verifier checks once per program, not per
 * call.
 */
__global int judge(const struct endpoints *e, int kind)
{
	__u8 by = settings.active;

	if (!e || (by & MG_FILTERS_PROTOCOL && !(settings.protocols & 1u << (kind & 31))))
		return REFUSED;
	if (by & MG_FILTERS_NETNS && !netns_passes(e->netns))
		return REFUSED;
	if (!(by & (MG_FILTERS_PORT | MG_FILTERS_ADDRESS | MG_FILTERS_SAMPLE)))
		return WANTED;
	if (kind != MG_KIND_tcp && kind != MG_KIND_udp && kind != MG_KIND_raw)
		return REFUSED;
	if (kind == MG_KIND_tcp && (!e->rport || !e->lport))
		return UNDECIDED;
	/* datagrams may come from anywhere: the socket's own end decides */
	if ((by & MG_FILTERS_PORT && !port_passes(e->lport, e->rport)) ||
		(by & MG_FILTERS_ADDRESS && !address_passes(e)))
		return e->rport ? REFUSED : UNDECIDED;
	if (!(by & MG_FILTERS_SAMPLE))
		return WANTED;
	if (!e->lport) /* it gets a port when it sends */
		return UNDECIDED;
	return sampled(e) ? WANTED : REFUSED;
}

/* Returns whether packets at the interface are recorded. */
static __always_inline bool interface_passes(const struct net_device *dev)
{
	const volatile __u64 *want = (const volatile __u64 *)settings.interface;
	const __u64 *name;

	if (!settings.interface[0])
		return true;
	if (!dev)
		return false;
	name = (const __u64 *)dev->name;
	return name[0] == want[0] && name[1] == want[1];
}

#endif
