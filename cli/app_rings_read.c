/* SPDX-License-Identifier: MIT */
/* The rings' records, in the order of time. */
#define _GNU_SOURCE
#include "app_rings_own.h"

#include <string.h>

#include "clock.h"
#include "cycles.h"

#define PATIENCE_NS 1000000000ull
#define ABSURD_RATE 64           /* calls lost a cycle, on all CPUs together */
#define ABSURD_TIME (1ull << 28) /* cycles by which clocks of CPUs do not differ */

/*
 * Calls are missing between two that were read of a ring. Programs can write over its count: one
 * that cannot be is told as a loss of which nobody knows how large it is.
 */
static void tell_missing(struct app_rings *r, uint32_t i, enum app_loss why, uint64_t count,
	uint64_t before, const struct app_reader *reader)
{
	if (count / ABSURD_RATE > mg_cycles() - r->began) {
		why = APP_LOST_NOT_COUNTED;
		count = 1;
	}
	reader->lost(reader->arg, why, count, r->rings[i].tid, r->known[i].last_exit, before);
}

/* `lost`: the ring's own count, up to `before`. */
static void tell_lost(struct app_rings *r, uint32_t i, uint64_t lost, uint64_t before,
	const struct app_reader *reader)
{
	struct known *k = &r->known[i];
	uint64_t count = lost - k->lost;

	if ((int64_t)count <= 0 && -count < 1u << 16) /* a signal handler's came first */
		return;
	k->lost = lost;
	tell_missing(r, i, APP_LOST_FULL, count, before, reader);
}

/* A record has the low half of the count as it was then: the rest is that of the record before. */
static uint64_t whole_count(const struct known *k, uint32_t low)
{
	uint64_t then = (k->lost & ~(uint64_t)UINT32_MAX) | low;

	return then < k->lost && k->lost - then > UINT32_MAX / 2 ? then + UINT32_MAX + 1 : then;
}

static void tell_no_room(struct app_rings *r, const struct app_reader *reader)
{
	uint64_t now = __atomic_load_n(&r->rings[MG_COMMON_RING].no_room, __ATOMIC_RELAXED);
	uint64_t count = now - r->no_room;

	r->no_room = now;
	if (count)
		tell_missing(r, MG_COMMON_RING, APP_LOST_NO_ROOM, count, 0, reader);
}

static bool owner_gone(const struct app_rings *r, uint32_t i)
{
	return i != MG_COMMON_RING && owner_died(&r->rings[i]);
}

/* Whether a record is to be left out rather than waited for: none at `tail` may be complete yet. */
static bool give_up(struct known *k, bool last)
{
	uint64_t now = mg_monotonic_ns();

	if (k->stuck_at != k->tail + 1) {
		k->stuck_at = k->tail + 1;
		k->stuck_since = now;
	}
	return last || (k->limit > k->tail + 1 && now - k->stuck_since > PATIENCE_NS);
}

/*
 * The next record of a ring, if it is complete. One that is not, its thread may be at; if that is
 * dead, or has gone on to others for long, it is left out, and so are those behind it that are not
 * complete either. So is what cannot be: a call that ends in the future would stop the ring.
 */
static void look(struct app_rings *r, uint32_t i, bool last, const struct app_reader *reader)
{
	const struct mg_app_record *records = &r->records[(uint64_t)i << r->shift];
	struct known *k = &r->known[i];
	uint64_t left_out = 0;
	bool gave_up = false;

	for (k->next = NULL; k->tail < k->limit; k->tail++, left_out++) {
		const struct mg_app_record *record = &records[k->tail & ((1ull << r->shift) - 1)];
		uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
		const struct mg_ring_call *p = (const void *)record->payload;

		if ((uint16_t)(word >> 32) == (uint16_t)((k->tail >> r->shift) + 1)) {
			k->next_exit = p->exit;
			if ((uint8_t)(word >> 48) == 0 || k->next_exit > r->latest)
				continue;
			k->next = record;
			break;
		}
		gave_up = (gave_up && k->limit > k->tail + 1) || give_up(k, last);
		if (!gave_up)
			break;
	}
	if (left_out)
		reader->lost(reader->arg, APP_LOST_UNFINISHED, left_out, r->rings[i].tid,
			k->last_exit, k->next ? k->next_exit : 0);
}

static void sift(struct app_rings *r, uint32_t at)
{
	for (;;) {
		uint32_t least = at;

		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < r->active && r->known[r->order[child]].next_exit <
							 r->known[r->order[least]].next_exit)
				least = child;
		if (least == at)
			return;
		uint32_t i = r->order[at];

		r->order[at] = r->order[least];
		r->order[least] = i;
		at = least;
	}
}

/* Hand on the record a ring has next. */
static void pass_on(struct app_rings *r, uint32_t i, const struct app_reader *reader)
{
	const struct mg_app_ring *ring = &r->rings[i];
	struct known *k = &r->known[i];
	struct mg_app_record record = *k->next; /* once: the program may still change it */
	struct mg_ring_call p;
	struct mg_call c;

	memcpy(&p, record.payload, sizeof(p));
	k->tail++;
	tell_lost(r, i, whole_count(k, record.lost), p.exit, reader);
	k->last_exit = p.exit;
	if (record.id == MG_EVENT_mark) {
		struct mg_mark m;
		size_t used;

		memcpy(&m, record.payload, MG_PAYLOAD_SIZE(MARK));
		used = strnlen(m.name, sizeof(m.name));
		memset(m.name + used, 0, sizeof(m.name) - used); /* nothing but the name is kept */
		reader->mark(reader->arg, &m);
	}
	if (record.id < MG_APP_BASE || record.id >= MG_APP_BASE + MG_FN_END ||
		record.kind >= MG_KIND_END)
		return;
	c = (struct mg_call){.enter = p.enter,
		.exit = p.exit,
		.asked = p.asked,
		.ret = p.ret,
		.fd = p.fd,
		.error = p.error,
		.flags = p.flags,
		.logged = p.logged,
		.bytes = p.bytes,
		.tid = ring->tid,
		.pid = ring->pid,
		.kind = record.kind};
	if (i == MG_COMMON_RING) {
		c.tid = p.tid;
		c.pid = p.logged;
		c.logged = 0;
	}
	reader->call(reader->arg, record.id - MG_APP_BASE, &c);
}

/* Returns how full the fullest ring was, percent. */
static int merge(struct app_rings *r, uint64_t until, bool last, const struct app_reader *reader)
{
	int fullest = 0;

	r->latest = mg_cycles() + ABSURD_TIME;
	r->active = 0;
	for (uint32_t i = 0; i < r->used; i++) {
		struct mg_app_ring *ring = &r->rings[i];
		struct known *k = &r->known[i];
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), fill;

		fill = head - k->tail;
		if (fill > 1ull << r->shift) { /* written over: on from where its thread goes on */
			reader->lost(
				reader->arg, APP_LOST_UNFINISHED, 1, ring->tid, k->last_exit, 0);
			k->tail = head;
			continue;
		}
		if (!fill)
			continue;
		k->limit = k->tail + fill;
		if ((int)(fill * 100 >> r->shift) > fullest)
			fullest = (int)(fill * 100 >> r->shift);
		look(r, i, last || owner_gone(r, i), reader);
		if (k->next && k->next_exit <= until)
			r->order[r->active++] = i;
	}
	for (uint32_t i = r->active / 2; i-- > 0;)
		sift(r, i);
	while (r->active) {
		uint32_t i = r->order[0];
		struct known *k = &r->known[i];

		pass_on(r, i, reader);
		if ((k->tail & 255) == 0) /* give room back early */
			__atomic_store_n(&r->rings[i].tail, k->tail, __ATOMIC_RELEASE);
		look(r, i, last || owner_gone(r, i), reader);
		if (!k->next || k->next_exit > until)
			r->order[0] = r->order[--r->active];
		sift(r, 0);
	}
	for (uint32_t i = 0; i < r->used; i++)
		__atomic_store_n(&r->rings[i].tail, r->known[i].tail, __ATOMIC_RELEASE);
	return fullest;
}

/* The ring of a thread that has ended, once all of it is read, is ready for another. */
static void reclaim(struct app_rings *r, const struct app_reader *reader)
{
	for (uint32_t i = 0; i < r->used; i++) {
		struct mg_app_ring *ring = &r->rings[i];
		struct known *k = &r->known[i];
		uint64_t head;

		if (__atomic_load_n(&r->pool->state[i], __ATOMIC_RELAXED) != MG_RING_OWNED ||
			!owner_gone(r, i))
			continue;
		head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		if (head - k->tail <= 1ull << r->shift && head != k->tail)
			continue;
		tell_lost(r, i, ring->lost, 0, reader);
		k->tail = head;
		k->lost = ring->lost;
		k->last_exit = 0; /* the next thread's calls are others */
		__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
		app_rings_make_ready(r, i);
	}
}

int app_rings_read(struct app_rings *r, uint64_t until, const struct app_reader *reader)
{
	int fullest = merge(r, until, false, reader);

	app_rings_repair(r);
	reclaim(r, reader);
	tell_no_room(r, reader);
	app_rings_keep_ready(r);
	return fullest;
}

void app_rings_finish(struct app_rings *r, const struct app_reader *reader)
{
	merge(r, UINT64_MAX, true, reader);
	for (uint32_t i = 0; i < r->used; i++)
		tell_lost(r, i, r->rings[i].lost, 0, reader);
	tell_no_room(r, reader);
}
