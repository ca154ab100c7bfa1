/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Remembers which sockets other than TCP's were met. One that was met and is not in `others` any
 * more was evicted: what arrived for it meanwhile is missing. The kernel does not say when such a
 * socket is closed, so a slot has its address, where another inode's number, or none, shows it.
 */
#ifndef MAGNET_BPF_MET_H
#define MAGNET_BPF_MET_H

#define OTHER_ID (1ull << 62) /* + inode number: beside TCP's cookies, which count from 1 */

struct met_slots {
	struct mg_met slot[MG_MET_SLOTS];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MG_MET_VALUES);
	__type(key, __u32);
	__type(value, struct met_slots);
} met SEC(".maps");

#define MET_CHANGES 1 /* as an address: another CPU is writing the slot */

/* returns 0 once it is closed, or if it is the kernel's own */
static __always_inline __u64 inode_of(const struct sock *sk)
{
	struct socket *s;

	if (bpf_core_field_exists(sk->sk_ino))
		return MEMBER(sock, sk, sk_ino);
	s = BPF_CORE_READ(sk, sk_socket);
	/* the inode follows the socket */
	return s ? BPF_CORE_READ((struct socket_alloc *)s, vfs_inode.i_ino) : 0;
}

/*
 * Returns one of the slots that a socket may be in. Sockets made one after the other have their
 * first slots beside each other; the others are spread, as a run of taken slots may be long.
 */
static __always_inline struct mg_met *met_slot(__u32 ino, __u32 choice)
{
	__u32 spread = (ino * 0x9e3779b97f4a7c15ULL >> 40) + choice * 81007;
	__u32 at = choice ? spread : ino;
	__u32 value = at / MG_MET_SLOTS & (MG_MET_VALUES - 1);
	struct met_slots *s = bpf_map_lookup_elem(&met, &value);

	return s ? &s->slot[at & (MG_MET_SLOTS - 1)] : NULL;
}

static __always_inline bool met_is(const struct mg_met *m, __u64 address, __u32 ino)
{
	return m->address == address && m->ino == ino;
}

/* Returns false for nearly all sockets that were not met, by their first slot. */
static __always_inline bool may_be_met(__u32 ino)
{
	const struct mg_met *m = met_slot(ino, 0);

	return m && ino && (m->ino == ino || m->elsewhere);
}

/* Returns whether the socket was met. Most sockets are in the first slot, or in none. */
__global int is_met(const __u64 *address, __u64 ino)
{
	__u64 key = address ? number_at(address) : 0;
	const struct mg_met *m = met_slot(ino, 0);

	if (!m || !key || !ino)
		return 0;
	if (met_is(m, key, ino) || !m->elsewhere)
		return met_is(m, key, ino);
	for (__u32 i = 1; i < MG_MET_CHOICES; i++) {
		m = met_slot(ino, i);
		if (m && met_is(m, key, ino))
			return 1;
	}
	return 0;
}

/* Puts a socket into a slot, unless that is another's which is still open. */
static __always_inline bool take_slot(struct mg_met *m, __u64 address, __u32 ino)
{
	__u64 before = *(volatile __u64 *)&m->address;

	if (before == MET_CHANGES || (before && inode_of((void *)before) == m->ino))
		return false;
#ifdef MG_OLD /* without an atomic exchange two CPUs may both take it, for the later one */
	m->address = MET_CHANGES;
#else
	if (__sync_val_compare_and_swap(&m->address, before, MET_CHANGES) != before)
		return false;
#endif
	*(volatile __u32 *)&m->ino = ino;
	*(volatile __u64 *)&m->address = address;
	return true;
}

/*
 * Call for a socket that was not met. One for which no slot is free is counted as not followed,
 * since nothing will tell if it is evicted. The result has no meaning.
 */
__noinline int note_met(__u64 address, __u64 ino)
{
	struct mg_met *first = met_slot(ino, 0);

	for (__u32 i = 0; i < MG_MET_CHOICES; i++) {
		struct mg_met *m = met_slot(ino, i);

		if (!m || !first)
			return 0;
		if (take_slot(m, address, ino)) {
			if (i)
				first->elsewhere = 1;
			return 0;
		}
	}
	count_not_followed(OTHER_ID | ino);
	return 0;
}

#endif
