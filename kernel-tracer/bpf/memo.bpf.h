/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Remembers on each CPU what was last found, or not, in `socks`, `tuples`, `paths` and `requests`.
 * A packet passes several hooks on one CPU, which all ask for the same socket: all but the first
 * find the answer here. So do packets of the far end of a connection that is recorded at one end
 * only.
 *
 * An answer is the one that the table would give:
 * - It holds for the table's content of one moment. Whatever changes a table changes `generation`
 *   afterwards, and an answer is stored with the generation that was read before it was looked up.
 *   Datagrams change `paths` often, and have a counter of their own.
 * - A table that throws out what is not used learns that an entry is used: it throws out where
 *   something is put into it, and after that each answer is looked up again.
 * - It depends on the key alone, a socket's number or a tuple, not on the buffer: that the same
 *   buffer goes down and up again, is cloned, segmented, merged, or sent by stacked devices within
 *   each other makes no difference, nor what happens to its headers.
 * - A program may interrupt another one here, and leave a mixture of two entries, whose parts do
 *   not fit together: each enters the check by a function that maps no two values to one. It takes
 *   a mixture of three, and a coincidence of 64 bits, to be taken for an entry.
 */
#ifndef MAGNET_BPF_MEMO_H
#define MAGNET_BPF_MEMO_H

struct memo {
	__u64 key, cookie, check;
};

/* A power of two for each table, for the connections that take turns on a CPU. */
#define MEMOS 256
enum memo_of { MEMO_SOCKS, MEMO_TUPLES, MEMO_WAYS, MEMO_PATHS, MEMO_REQUESTS, MEMO_TABLES };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MEMO_TABLES *MEMOS);
	__type(key, __u32);
	__type(value, struct memo);
} memos SEC(".maps");
volatile __u64 generation SEC(".data.generation") = 0;
volatile __u64 datagram_ways SEC(".data.generation") = 0;

/* Elsewhere than on x86 the generation could be read after the table. */
#if defined(__TARGET_ARCH_x86) && !defined(MG_OLD)
#define CAN_RECALL

/* Call it when one of the tables has been changed. The loader changes settings.round. */
static __always_inline void tables_changed(void)
{
	__sync_fetch_and_add(&generation, 1);
}

static __always_inline __u64 generation_now(void)
{
	return generation ^ (__u64)settings.round << 48;
}

/* Call it when a datagram has changed `paths`. */
static __always_inline void datagram_way_changed(void)
{
	__sync_fetch_and_add(&datagram_ways, 1);
}

/* Both only grow: no two states have the same sum. */
static __always_inline __u64 generation_of_paths(void)
{
	return generation_now() + datagram_ways;
}

static __always_inline __u64 memo_check(__u64 key, __u64 cookie, __u64 now)
{
	return key ^ cookie * 0x9e3779b97f4a7c15ULL ^ now * 0xc2b2ae3d27d4eb4fULL;
}

static __always_inline volatile struct memo *memo_at(enum memo_of table, __u64 key)
{
	__u32 at = table * MEMOS + (key * 0x9e3779b97f4a7c15ULL >> 32 & (MEMOS - 1));

	return bpf_map_lookup_elem(&memos, &at);
}

/* Sets what is remembered under the key, 0 if that nothing was found; false if nothing is. */
static __always_inline bool recall(enum memo_of table, __u64 key, __u64 now, __u64 *cookie)
{
	volatile struct memo *m = memo_at(table, key);

	if (!m || m->key != key)
		return false;
	*cookie = m->cookie;
	return m->check == memo_check(key, *cookie, now);
}

/* `now` is from before the cookie was looked up. */
static __always_inline void memorize(enum memo_of table, __u64 key, __u64 now, __u64 cookie)
{
	volatile struct memo *m = memo_at(table, key);

	if (!m)
		return;
	m->key = key;
	m->cookie = cookie;
	m->check = memo_check(key, cookie, now);
}

/*
 * Returns the cookie under the key, which is not 0; 0 if there is none. The entries of `map` begin
 * with it, and none is 0.
 */
static __always_inline __u64 look_up(void *map, __u64 key)
{
	__u64 *found = bpf_map_lookup_elem(map, &key);

	return found ? *(volatile __u64 *)found : 0;
}

#else
#define tables_changed()
#define datagram_way_changed()
#define generation_now()      0
#define generation_of_paths() 0
#endif

#endif
