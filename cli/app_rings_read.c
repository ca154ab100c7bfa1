/* SPDX-License-Identifier: MIT */
/* Reads the records of all rings in the order of time. */
#define _GNU_SOURCE
#include "app_rings_own.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cycles.h"

#define PATIENCE_NS 1000000000ull
#define ABSURD_RATE 64           /* calls lost per cycle, on all CPUs together, that cannot be */
#define ABSURD_TIME (1ull << 28) /* cycles by which clocks of CPUs do not differ */

/* Finds out the numbers of a program while its ancestors still exist. */
static void learn_inner(struct pool *p)
{
	if (!p->inner)
		p->inner = __atomic_load_n(&p->head->inner, __ATOMIC_ACQUIRE);
	if (p->inner && p->inner != p->outer && !p->ids)
		p->ids = inner_ids_new(p->outer, p->inner);
}

/*
 * Translates numbers of a PID namespace, by which a ring names its thread, into the kernel side's.
 * Returns whether they are those now.
 */
static bool put_outer_ids(const struct known *k, uint32_t *tid, uint32_t *pid)
{
	struct pool *p = k->pool;
	bool nested = *pid & MG_NESTED, done;

	learn_inner(p);
	if (!nested && (!p->inner || p->inner == p->outer))
		return true;
	if (!p->ids)
		p->ids = inner_ids_new(p->outer, p->inner);
	done = p->ids && inner_ids_translate(p->ids, (uint32_t)(k - p->known), tid, pid);
	*tid &= ~MG_NESTED;
	*pid &= ~MG_NESTED;
	return done;
}

/* Returns the thread that has the ring, 0 for the common ring. */
static uint32_t thread_of(const struct known *k)
{
	uint32_t tid = k->ring->tid, pid = k->ring->pid;

	if (tid)
		put_outer_ids(k, &tid, &pid);
	return tid;
}

/*
 * Reports calls missing between two that were read. A count that cannot be, since programs can
 * write it, is reported as a loss of unknown size.
 */
static void tell_missing(struct app_rings *r, struct known *k, enum mg_lost_reason why,
	uint64_t count, uint64_t before, const struct app_reader *reader)
{
	if (count / ABSURD_RATE > mg_cycles() - r->began) {
		why = MG_LOST_APP_NOT_COUNTED;
		count = 1;
	}
	reader->lost(reader->arg, why, count, thread_of(k), k->last_exit, before);
}

/* Reports what the ring's count `lost` has more than before, up to `before`. */
static void tell_lost(struct app_rings *r, struct known *k, uint64_t lost, uint64_t before,
	const struct app_reader *reader)
{
	uint64_t count = lost - k->lost;

	if ((int64_t)count <= 0 &&
		-count < 1u << 16) /* the record of a signal handler's call came first */
		return;
	k->lost = lost;
	tell_missing(r, k, MG_LOST_APP, count, before, reader);
}

/* Returns the count as it was when a record was written, which has the low half of it. */
static uint64_t whole_count(const struct known *k, uint32_t low)
{
	uint64_t then = (k->lost & ~(uint64_t)UINT32_MAX) | low;

	return then < k->lost && k->lost - then > UINT32_MAX / 2 ? then + UINT32_MAX + 1 : then;
}

/* Reports a count of calls without any record, of the common ring. */
static void tell_count(struct app_rings *r, struct known *k, const uint64_t *now, uint64_t *counted,
	enum mg_lost_reason why, const struct app_reader *reader)
{
	uint64_t count = __atomic_load_n(now, __ATOMIC_RELAXED) - *counted;

	*counted += count;
	if (count)
		tell_missing(r, k, why, count, 0, reader);
}

/*
 * Reports programs executed out of reach. A program is counted before it is executed, and no more
 * if that fails: so the count must have stood for a while.
 */
static void tell_unreached(
	struct app_rings *r, struct pool *p, bool last, const struct app_reader *reader)
{
	struct known *k = &p->known[MG_COMMON_RING];
	uint64_t now = __atomic_load_n(&k->ring->unreached, __ATOMIC_RELAXED);
	bool stands = last || now == p->unreached_seen;

	p->unreached_seen = now;
	if (!stands || (int64_t)(now - p->unreached) <= 0)
		return;
	tell_missing(r, k, MG_LOST_APP_UNREACHED, now - p->unreached, 0, reader);
	p->unreached = now;
}

static void tell_counts(struct app_rings *r, struct pool *p, const struct app_reader *reader)
{
	struct known *k = &p->known[MG_COMMON_RING];

	tell_count(r, k, &k->ring->no_room, &p->no_room, MG_LOST_APP_NO_ROOM, reader);
	tell_count(r, k, &k->ring->untimed, &p->untimed, MG_LOST_APP_UNTIMED, reader);
}

static void tell_unserved(struct app_rings *r, const struct app_reader *reader)
{
	if (r->unserved)
		reader->lost(reader->arg, MG_LOST_APP_UNSERVED, r->unserved, 0, 0, 0);
	r->unserved = 0;
}

/* Skips a record that its thread left incomplete. */
static bool owner_gone(const struct known *k)
{
	return k->pool->left || (!is_common(k) && owner_died(k->ring));
}

/*
 * Returns whether to skip a record instead of waiting for it. None at `tail` may be complete yet.
 */
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
static void look(struct app_rings *r, struct known *k, bool last, const struct app_reader *reader)
{
	uint32_t shift = k->pool->shift;
	uint64_t left_out = 0;
	bool gave_up = false;

	for (k->next = NULL; k->tail < k->limit; k->tail++, left_out++) {
		const struct mg_app_record *record = &k->records[k->tail & ((1ull << shift) - 1)];
		uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
		const struct mg_ring_call *p = (const void *)record->payload;

		if ((uint16_t)(word >> 32) == (uint16_t)((k->tail >> shift) + 1)) {
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
		reader->lost(reader->arg, MG_LOST_APP_UNFINISHED, left_out, thread_of(k),
			k->last_exit, k->next ? k->next_exit : 0);
}

static void sift(struct app_rings *r, uint32_t at)
{
	for (;;) {
		uint32_t least = at;

		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < r->active &&
				r->order[child]->next_exit < r->order[least]->next_exit)
				least = child;
		if (least == at)
			return;
		struct known *k = r->order[at];

		r->order[at] = r->order[least];
		r->order[least] = k;
		at = least;
	}
}

/* Passes on the next record of a ring. */
static void pass_on(struct app_rings *r, struct known *k, const struct app_reader *reader)
{
	const struct mg_app_ring *ring = k->ring;
	struct mg_app_record record =
		*k->next; /* copied once, since the program may still change it */
	struct mg_ring_call p;
	struct mg_call c;
	bool has_option, waits;

	memcpy(&p, record.payload, sizeof(p));
	k->tail++;
	tell_lost(r, k, whole_count(k, record.lost), p.exit, reader);
	k->last_exit = p.exit;
	if (record.id == MG_EVENT_mark) {
		struct mg_mark m;
		size_t used;

		memcpy(&m, record.payload, MG_PAYLOAD_SIZE(MARK));
		used = strnlen(m.name, sizeof(m.name));
		memset(m.name + used, 0,
			sizeof(m.name) - used); /* nothing behind the name is kept */
		r->not_outer += !put_outer_ids(k, &m.tid, &m.pid);
		reader->mark(reader->arg, &m);
	}
	if (record.id < MG_APP_BASE || record.id >= MG_APP_BASE + MG_FN_END ||
		record.kind >= MG_KIND_END)
		return;
	has_option = MG_FN_HAS_OPTION(record.id - MG_APP_BASE);
	waits = mg_fn_waits(record.id - MG_APP_BASE);
	c = (struct mg_call){.enter = p.enter,
		.exit = p.exit,
		.asked = has_option || waits ? 0 : p.asked,
		.value = has_option ? (int32_t)p.asked : 0,
		.waited = waits ? (uint32_t)p.asked : 0,
		.ret = p.ret,
		.fd = p.fd,
		.error = p.error,
		.flags = has_option ? 0 : p.flags,
		.option = has_option ? p.flags : 0,
		.logged = p.logged,
		.bytes = p.bytes,
		.tid = ring->tid,
		.pid = ring->pid,
		.kind = record.kind};
	if (is_common(k)) {
		c.tid = p.tid;
		c.pid = p.logged;
		c.logged = 0;
	}
	if (k->pool->inner != k->pool->outer || c.pid & MG_NESTED)
		r->not_outer += !put_outer_ids(k, &c.tid, &c.pid);
	reader->call(reader->arg, record.id - MG_APP_BASE, &c);
}

/* Puts a ring with something to read into the order. Returns how full it is, percent. */
static int begin_ring(struct app_rings *r, struct known *k, uint64_t until, bool last,
	const struct app_reader *reader)
{
	uint64_t fill = __atomic_load_n(&k->ring->head, __ATOMIC_ACQUIRE) - k->tail;
	uint32_t shift = k->pool->shift;

	if (fill > 1ull << shift) { /* written over: continue where its thread does */
		reader->lost(reader->arg, MG_LOST_APP_UNFINISHED, 1, thread_of(k), k->last_exit, 0);
		k->tail += fill;
		return 0;
	}
	if (!fill)
		return 0;
	k->limit = k->tail + fill;
	if (!k->whole)
		app_pool_make_whole(r, k);
	look(r, k, last || owner_gone(k), reader);
	if (k->next && k->next_exit <= until && r->active < r->order_room)
		r->order[r->active++] = k;
	return (int)(fill * 100 >> shift);
}

static void make_room(struct app_rings *r)
{
	uint32_t need = 0;
	struct known **more;

	for (uint32_t i = 0; i < r->taken_n; i++)
		need += r->taken[i]->used;
	if (need <= r->order_room)
		return;
	more = realloc(r->order, 2 * need * sizeof(struct known *));
	if (!more) /* rings for which there is no room are read the next time */
		return;
	r->order = more;
	r->order_room = 2 * need;
}

/* Returns how full the fullest ring was, percent. */
static int merge(struct app_rings *r, uint64_t until, bool last, const struct app_reader *reader)
{
	int fullest = 0;

	make_room(r);
	r->latest = mg_cycles() + ABSURD_TIME;
	r->active = 0;
	for (uint32_t n = 0; n < r->taken_n; n++) {
		struct pool *p = r->taken[n];

		for (uint32_t i = 0; i < p->used; i++) {
			int full = p->known[i].records
					   ? begin_ring(r, &p->known[i], until, last, reader)
					   : 0;

			fullest = full > fullest ? full : fullest;
		}
	}
	for (uint32_t i = r->active / 2; i-- > 0;)
		sift(r, i);
	while (r->active) {
		struct known *k = r->order[0];

		pass_on(r, k, reader);
		if ((k->tail & 255) == 0) /* give room back early */
			__atomic_store_n(&k->ring->tail, k->tail, __ATOMIC_RELEASE);
		look(r, k, last || owner_gone(k), reader);
		if (!k->next || k->next_exit > until)
			r->order[0] = r->order[--r->active];
		sift(r, 0);
	}
	for (uint32_t n = 0; n < r->taken_n; n++)
		for (uint32_t i = 0; i < r->taken[n]->used; i++) {
			const struct known *k = &r->taken[n]->known[i];

			if (k->records)
				__atomic_store_n(&k->ring->tail, k->tail, __ATOMIC_RELEASE);
		}
	return fullest;
}

static bool is_read(const struct known *k)
{
	uint64_t fill = __atomic_load_n(&k->ring->head, __ATOMIC_ACQUIRE) - k->tail;

	return !fill || fill > 1ull << k->pool->shift;
}

/* Makes the ring of a thread that has ended ready for another, once all of it is read. */
static void reclaim(struct app_rings *r, struct pool *p, const struct app_reader *reader)
{
	for (uint32_t i = MG_COMMON_RING + 1; i < p->used; i++) {
		struct known *k = &p->known[i];

		if (!k->records ||
			__atomic_load_n(&p->head->state[i], __ATOMIC_RELAXED) != MG_RING_OWNED ||
			!owner_gone(k) || !is_read(k))
			continue;
		tell_lost(r, k, k->ring->lost, 0, reader);
		if (p->ids)
			inner_ids_forget(p->ids, i, k->ring->tid);
		k->tail = __atomic_load_n(&k->ring->head, __ATOMIC_ACQUIRE);
		k->lost = k->ring->lost;
		k->last_exit = 0; /* the next call is that of another thread */
		__atomic_store_n(&k->ring->tail, k->tail, __ATOMIC_RELEASE);
		app_pool_make_ready(r, p, i);
	}
}

/* Reports what was lost after the last call of each ring. */
static void finish_pool(struct app_rings *r, struct pool *p, const struct app_reader *reader)
{
	for (uint32_t i = 0; i < p->used; i++)
		if (p->known[i].records)
			tell_lost(r, &p->known[i], p->known[i].ring->lost, 0, reader);
	tell_counts(r, p, reader);
	tell_unreached(r, p, true, reader);
}

/* Returns whether its programs are gone, and all of it is read. */
static bool is_over(const struct pool *p)
{
	for (uint32_t i = 0; p->left && i < p->used; i++)
		if (p->known[i].records && !is_read(&p->known[i]))
			return false;
	return p->left;
}

int app_rings_read(struct app_rings *r, uint64_t until, const struct app_reader *reader)
{
	int fullest;

	app_rings_replace_taken(r);
	fullest = merge(r, until, false, reader);
	for (uint32_t i = r->taken_n; i-- > 0;) {
		struct pool *p = r->taken[i];

		if (is_over(p)) {
			finish_pool(r, p, reader);
			app_rings_remove(r, i);
			continue;
		}
		learn_inner(p);
		reclaim(r, p, reader);
		tell_counts(r, p, reader);
		tell_unreached(r, p, false, reader);
		app_pool_keep(r, p);
	}
	tell_unserved(r, reader);
	return fullest;
}

void app_rings_finish(struct app_rings *r, const struct app_reader *reader)
{
	app_rings_end(r);
	merge(r, UINT64_MAX, true, reader);
	for (uint32_t i = 0; i < r->taken_n; i++)
		finish_pool(r, r->taken[i], reader);
	tell_unserved(r, reader);
}
