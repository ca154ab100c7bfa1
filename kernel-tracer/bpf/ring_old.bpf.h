/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Taking a slot without compare-and-swap, which BPF has since Linux 5.12: `head` is added to, and
 * whoever ran on top of this program meanwhile took, and published, the slots beside this one.
 */

#define ON_TOP 8 /* slots that can be told apart then */

/* The slot at a position, if it is published: near, or far. */
static __always_inline struct mg_slot *published(struct mg_ring *r, __u64 at)
{
	struct mg_slot *s = &r->slot[at & cfg.near_mask];

	if (s->lap == (__u16)((at >> cfg.near_shift) + 1))
		return s;
	if (cfg.near_mask == cfg.ring_mask)
		return NULL;
	s = &r->slot[cfg.near_mask + 1 + (at & cfg.ring_mask)];
	return s->lap == (__u16)((at >> cfg.ring_shift) + 1) ? s : NULL;
}

static __always_inline struct mg_ring *ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/*
 * Which of the `n` positions from `head` on is not published: this one. Between numbers, so that
 * the verifier walks it once a program, not at each event.
 */
__noinline __u64 own_position(__u64 head, __u64 n)
{
	struct mg_ring *r = ring_here();
	__u64 last = head + n - 1;

	if (!r || !published(r, head))
		return head;
	if (!published(r, last))
		return last;
#pragma clang loop unroll(disable)
	for (int i = 1; i < ON_TOP; i++)
		if (!published(r, head + i))
			return head + i;
	return last;
}

/* When the slot at a position was taken, 0 if it is not published. */
__noinline __u64 taken_at(__u64 position)
{
	struct mg_ring *r = ring_here();
	struct mg_slot *s = r ? published(r, position) : NULL;

	return s ? s->ts : 0;
}

static __always_inline bool take_up_to(struct taken *t, __u32 room)
{
	struct mg_ring *r = ring_here();
	__u64 head, n, now, at, lap;
	struct mg_slot *s;
	__u32 lost;

	if (!r)
		return false;
	head = *(volatile __u64 *)&r->head;
	lost = *(volatile __u64 *)&r->lost;
	/* some room is left for programs that run on top of each other */
	if (head + 8 - *(volatile __u64 *)&r->tail > room) {
		__sync_fetch_and_add(&r->lost, 1);
		return false;
	}
	now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&r->head, 1);
	n = *(volatile __u64 *)&r->head - head;
	if (n > 1) {
		__u64 own = own_position(head, n);
		/* slots are in time order: after those that came in between */
		__u64 before = own != head ? taken_at(own - 1) : 0;

		if (before)
			now = before;
		head = own;
	}
	at = head & cfg.near_mask;
	lap = (head >> cfg.near_shift) + 1;
	/* a small ring is all near */
	if (cfg.near_mask != cfg.ring_mask && head - *(volatile __u64 *)&r->tail > cfg.near_mask) {
		at = cfg.near_mask + 1 + (head & cfg.ring_mask);
		lap = (head >> cfg.ring_shift) + 1;
	}
	s = &r->slot[at];
	s->ts = now;
	*(__u64 *)&s->tid = bpf_get_current_pid_tgid();
	t->slot = s;
	t->word = lost | (lap & 0xffff) << 32;
	return true;
}
