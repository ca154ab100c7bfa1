/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Records an event: takes a slot of this CPU's ring, fills its payload, publishes it. */
#ifndef MAGNET_BPF_RING_H
#define MAGNET_BPF_RING_H

const volatile struct mg_bpf_config cfg = {};
/* Changed by the loader while programs run: a map of its own. */
volatile struct mg_bpf_settings settings SEC(".data.settings") = {};

/* One element per CPU; the loader sets the sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct mg_ring) + sizeof(struct mg_slot));
} rings SEC(".maps");

static __always_inline struct mg_ring *ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/*
 * Returns the traced thread that this CPU runs, as bpf_get_current_pid_tgid() does; 0 if it runs
 * another, or it is not known.
 */
static __always_inline __u64 traced_on(const struct mg_ring *r)
{
	/* before the epochs: if they still are the same it held when it was read */
	__u64 runs = *(volatile __u64 *)&r->runs;

	return *(volatile __u32 *)&r->epoch == *(volatile __u32 *)&r->epoch_now ? runs : 0;
}

/*
 * The same for any program, which found the ring of this CPU. Before Linux 6.17 those of netfilter
 * may be moved to another CPU at any moment: then it is not known.
 */
static __always_inline __u64 traced_still_on(const struct mg_ring *r, __u32 cpu)
{
	__u64 thread = traced_on(r);

	return thread && bpf_get_smp_processor_id() == cpu ? thread : 0;
}

static __always_inline __u64 traced_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	const struct mg_ring *r = bpf_map_lookup_elem(&rings, &cpu);

	return r ? traced_still_on(r, cpu) : 0;
}

struct taken {
	struct mg_slot *slot;
	__u64 word; /* word that publishes the slot, without the id */
};

#ifdef MG_OLD
#include "ring_old.bpf.h"
#else
/*
 * Takes a slot of the ring `r`. `thread` is the current one if it is known, else 0. The clock is
 * read between loading `head` and swapping it: if the swap succeeds no other program took a slot on
 * this CPU in between, so slots are in time order. It fails only if another program ran on top of
 * this one in those few instructions.
 */
static __always_inline bool take_in(struct taken *t, struct mg_ring *r, __u64 thread, __u32 room)
{
	__u64 who = thread;

	if (!who) /* a helper, whose call costs as much as a slot */
		who = bpf_get_current_pid_tgid();
#pragma clang loop unroll(disable)
	for (int i = 0; i < 4; i++) {
		__u64 head = *(volatile __u64 *)&r->head;
		__u32 lost = *(volatile __u64 *)&r->lost;
		__u64 waiting = head - *(volatile __u64 *)&r->tail;
		__u64 now;

		if (waiting > room)
			break;
		now = bpf_ktime_get_ns();
		if (__sync_val_compare_and_swap(&r->head, head, head + 1) == head) {
			__u64 at = head & cfg.near_mask, lap = (head >> cfg.near_shift) + 1;
			struct mg_slot *s;

			if (waiting > cfg.near_mask) {
				at = cfg.near_mask + 1 + (head & cfg.ring_mask);
				lap = (head >> cfg.ring_shift) + 1;
			}
			s = &r->slot[at];

			s->ts = now;
			*(__u64 *)&s->tid = who; /* tid, then pid */
			t->slot = s;
			t->word = lost | (lap & 0xffff) << 32;
			return true;
		}
	}
	__sync_fetch_and_add(&r->lost, 1);
	return false;
}
#endif

/* The same for any program, without a ring at hand. */
static __always_inline bool take_up_to(struct taken *t, __u32 room)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct mg_ring *r = bpf_map_lookup_elem(&rings, &cpu);

	return r && take_in(t, r, traced_still_on(r, cpu), room);
}

/* Call it for an event that cannot be recorded for lack of room elsewhere than in the ring. */
static __always_inline void count_lost(void)
{
	struct mg_ring *r = ring_here();

	if (r)
		__sync_fetch_and_add(&r->lost, 1);
}

/* Returns what count_lost() has counted on this CPU. */
static __always_inline __u64 lost_here(void)
{
	struct mg_ring *r = ring_here();

	return r ? r->lost : 0;
}

/* Publishes a slot; the store of `word` must come after those of the payload. */
static __always_inline void publish(struct taken *t, __u16 id)
{
	__u64 word = t->word | (__u64)id << 48;

#if defined(__TARGET_ARCH_x86)
	asm volatile("" ::: "memory"); /* this CPU does not reorder stores */
	*(volatile __u64 *)t->slot = word;
#else
	__sync_lock_test_and_set((__u64 *)t->slot, word);
#endif
}

static __always_inline bool take(struct taken *t)
{
	return take_up_to(t, cfg.ring_room);
}

/*
 * The same for programs at tracepoints: they stay on their CPU, so that the thread is known with
 * the ring.
 */
static __always_inline bool take_here(struct taken *t)
{
	struct mg_ring *r = ring_here();

	return r && take_in(t, r, traced_on(r), cfg.ring_room);
}

/* Returns whether an event would find room now. Counts no loss: for events that are tried again. */
__noinline int has_room(void)
{
	struct mg_ring *r = ring_here();

	return r && *(volatile __u64 *)&r->head - *(volatile __u64 *)&r->tail <= cfg.ring_room;
}

/* EMIT(event, payload struct, e) { fill *e } records an event; without room it does nothing. */
#define EMIT(event, type, e, ...) EMIT_UP_TO(cfg.ring_room, event, type, e, __VA_ARGS__)
/* Records a rare event without which others are useless: it has reserved room. */
#define EMIT_RARE(event, type, e, ...) EMIT_UP_TO(cfg.ring_mask, event, type, e, __VA_ARGS__)
#define EMIT_UP_TO(room, event, type, e, ...) \
	EMIT_IF(take_up_to(&taken_, room), MG_EVENT_##event, type, e, __VA_ARGS__)
/* The same for programs at tracepoints, and for those that have found ring and thread. */
#define EMIT_HERE(event, type, e, ...) \
	EMIT_IF(take_here(&taken_), MG_EVENT_##event, type, e, __VA_ARGS__)
#define EMIT_IN(r, thread, event, type, e, ...) \
	EMIT_NUMBERED_IN(r, thread, MG_EVENT_##event, type, e, __VA_ARGS__)
#define EMIT_NUMBERED_IN(r, thread, number, type, e, ...) \
	EMIT_IF(take_in(&taken_, r, thread, cfg.ring_room), number, type, e, __VA_ARGS__)
#define EMIT_IF(takes, number, type, e, ...)                           \
	do {                                                           \
		struct taken taken_;                                   \
		if (takes) {                                           \
			struct type *e = (void *)taken_.slot->payload; \
			__VA_ARGS__;                                   \
			publish(&taken_, number);                      \
		}                                                      \
	} while (0)

/*
 * Copies a name of 16 bytes without what follows its end, where older names may have left a rest.
 */
static __always_inline void copy_name(char *to, const char *from)
{
	__builtin_memset(to, 0, 16);
	bpf_probe_read_kernel_str(to, 16, from);
}

#endif
