/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Takes a slot without compare-and-swap, which BPF has since Linux 5.12: `head` is incremented, and
 * programs that ran on top of this one meanwhile took, and published, the adjacent slots.
 */

#define ON_TOP 8 /* number of such slots that can be told apart */

/* Returns the slot at a position, near or far, if it is published. */
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

/*
 * Returns the one of the `n` positions from `head` on that is not published: this program's own.
 * Takes numbers only, so that the verifier checks it once per program, not per event.
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

/* Returns when the slot at a position was taken, 0 if it is not published. */
__noinline __u64 taken_at(__u64 position)
{
	struct mg_ring *r = ring_here();
	struct mg_slot *s = r ? published(r, position) : NULL;

	return s ? s->ts : 0;
}

static __always_inline bool take_in(struct taken *t, struct mg_ring *r, __u64 thread, __u32 room)
{
	__u64 head, n, now, at, lap;
	struct mg_slot *s;
	__u32 lost;

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
		/* slots are in time order: after those taken in between */
		__u64 before = own != head ? taken_at(own - 1) : 0;

		if (before)
			now = before;
		head = own;
	}
	at = head & cfg.near_mask;
	lap = (head >> cfg.near_shift) + 1;
	/* a small ring has near slots only */
	if (cfg.near_mask != cfg.ring_mask && head - *(volatile __u64 *)&r->tail > cfg.near_mask) {
		at = cfg.near_mask + 1 + (head & cfg.ring_mask);
		lap = (head >> cfg.ring_shift) + 1;
	}
	s = &r->slot[at];
	s->ts = now;
	*(__u64 *)&s->tid = thread ? thread : bpf_get_current_pid_tgid();
	t->slot = s;
	t->word = lost | (lap & 0xffff) << 32;
	return true;
}
