/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of sockets and threads that there is no room to follow, each counted once. */
#ifndef MAGNET_BPF_NOT_SEEN_H
#define MAGNET_BPF_NOT_SEEN_H

/* Counts of what is known not to be recorded, by enum mg_not_seen. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MG_NOT_SEEN_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} not_seen SEC(".maps");

static __always_inline void count_not_seen(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&not_seen, &what);

	if (n)
		__sync_fetch_and_add(n, 1);
}

/*
 * The numbers of the sockets and threads that could not be followed, so that each is counted once,
 * however often it is tried. Two numbers may share a slot, which then holds the later one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MG_COUNTED);
	__type(key, __u32);
	__type(value, __u64);
} counted SEC(".maps");

/* Bits that mark a thread's number: TCP sockets count from 1, other sockets have OTHER_ID. */
#define THREAD_ID (3ull << 62)

static __always_inline __u64 *counted_at(__u64 id)
{
	__u32 at = (id + (id >> 62 << 16)) & (MG_COUNTED - 1);

	return bpf_map_lookup_elem(&counted, &at);
}

static __always_inline bool is_counted(__u64 id)
{
	__u64 *at = counted_at(id);

	return at && *at == id;
}

/*
 * Counts a socket or thread that there is no room to follow. The result has no meaning. It takes
 * numbers only, so that every kernel's verifier walks it once.
 */
__noinline int count_once(__u64 id, __u32 what)
{
	__u64 *at = counted_at(id), before;

	if (!at)
		return 0;
#ifdef MG_OLD /* without an atomic exchange two CPUs may both count the same one */
	before = *at;
	*at = id;
#else
	before = __sync_lock_test_and_set(at, id);
#endif
	count_not_seen(before == id ? MG_NOT_SEEN_AGAIN(what) : what);
	return 0;
}

static __always_inline void count_not_followed(__u64 id)
{
	count_once(id, MG_NOT_SEEN_CONNECTIONS);
}

static __always_inline __u64 thread_id(const struct task_struct *t)
{
	return THREAD_ID | (__u32)TASK_READ(t, pid);
}

static __always_inline void count_not_traced(const struct task_struct *t)
{
	count_once(thread_id(t), MG_NOT_SEEN_THREADS);
}

/* Call when a thread ends: the next thread with its number is counted for itself. */
static __always_inline void forget_counted(const struct task_struct *t)
{
	__u64 *at = counted_at(thread_id(t));

	if (at && *at == thread_id(t))
		*at = 0;
}

#endif
