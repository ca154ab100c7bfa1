/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which keys a full table has thrown out, so that what is missing for it is counted. */
#ifndef MAGNET_BPF_KEYS_H
#define MAGNET_BPF_KEYS_H

/*
 * The keys that were put into `places`, `paths`, `requests` and `fragments`, each in one of two
 * slots. These tables throw out their oldest entries where they are full: a key that is not there
 * and stands here was thrown out, and the event that it is looked up for is missing.
 */
#define KEYS       524288
#define KEYS_FIRST 1024 /* nothing is thrown out before so many */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u64);
} keys SEC(".maps");
volatile __u32 key_count SEC(".data.keys") = 0;

static __always_inline __u64 *key_slot(__u64 key, __u32 second)
{
	__u32 at = (second ? key >> 32 : key) & (KEYS - 1);

	return bpf_map_lookup_elem(&keys, &at);
}

/* Returns nothing of use, as the next two. They take numbers only, so that a verifier walks them
 * once. */
__noinline int remember_key(__u64 key)
{
	__u64 *a = key_slot(key, 0), *b = key_slot(key, 1);

	key ^= settings.round;
	if (!a || !b || *a == key || *b == key)
		return 0;
	if (!*a || (*b && key_count & 1))
		*a = key;
	else
		*b = key;
	key_count++;
	return 0;
}

/* Call with a key that is no longer needed. */
__noinline int drop_key(__u64 key)
{
	__u64 *a = key_slot(key, 0), *b = key_slot(key, 1);

	key ^= settings.round;
	if (a && *a == key)
		*a = 0;
	if (b && *b == key)
		*b = 0;
	return 0;
}

/* Returns whether a key was put into a table, and is not there on purpose if it is not. */
static __always_inline bool is_remembered(__u64 key)
{
	const __u64 *a = key_slot(key, 0), *b = key_slot(key, 1);

	key ^= settings.round;
	return (a && *a == key) || (b && *b == key);
}

/* Counts an event as lost if it is missing because `key` was thrown out. */
__noinline int count_thrown_out(__u64 key)
{
	if (key_count >= KEYS_FIRST && is_remembered(key))
		count_lost();
	return 0;
}

#endif
