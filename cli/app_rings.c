/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "app_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "app_ring.h"
#include "clock.h"
#include "pool_file.h"

#define DEFAULT_BYTES (4u << 20)
#define MOST_BYTES    (16u << 20)
#define SPARE         4 /* rings ready for threads to come, and a quarter of those in use */
#define TOTAL_BYTES   (512ull << 20) /* threads beyond it share the common ring */
#define PATIENCE_NS   1000000000ull

/* What is known of a ring, out of the programs' reach. */
struct known {
	uint64_t tail;
	uint64_t lost;                    /* the ring's count, as far as it was told */
	uint64_t exit;                    /* of the last call read */
	uint64_t stuck_at;                /* position whose record is not complete, */
	uint64_t stuck_since;             /* and since when; ns */
	const struct mg_app_record *next; /* to be read next, while merging */
	uint64_t limit;                   /* positions below this may be read now */
	uint64_t next_exit;
};

struct app_rings {
	struct pool_file file;
	struct mg_pool *pool;
	struct mg_app_ring
		*rings; /* where they are is not asked of the file, which programs can write */
	struct mg_app_record *records;
	struct known *known;
	uint32_t used, shift;
	uint32_t *order; /* rings with something to read: a heap by next_exit */
	uint32_t active;
};

/* Whoever writes where there is no memory is killed: a ring is ready when it has its memory. */
static bool make_ready(struct app_rings *r, uint32_t i)
{
	uint64_t bytes = sizeof(struct mg_app_record) << r->shift;
	uint64_t at = (uint64_t)((char *)r->records - (char *)r->pool) + i * bytes;
	pthread_mutexattr_t attr;
	int err;

	if (posix_fallocate(r->file.fd, (off_t)at, (off_t)bytes) != 0)
		return false;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(&r->rings[i].alive, &attr);
	pthread_mutexattr_destroy(&attr);
	if (err)
		return false;
	__atomic_store_n(&r->pool->state[i], MG_RING_READY, __ATOMIC_RELEASE);
	return true;
}

/* Unless a thread has just come for it. */
static bool give_back(struct app_rings *r, uint32_t i)
{
	uint64_t bytes = sizeof(struct mg_app_record) << r->shift;
	uint32_t ready = MG_RING_READY;

	if (!__atomic_compare_exchange_n(&r->pool->state[i], &ready, MG_RING_EMPTY, 0,
		    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	fallocate(r->file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		(off_t)((char *)r->records - (char *)r->pool) + (off_t)(i * bytes), (off_t)bytes);
	return true;
}

static bool owner_died(const struct mg_app_ring *ring)
{
	return __atomic_load_n((const uint32_t *)&ring->alive.__data.__lock, __ATOMIC_RELAXED) &
	       FUTEX_OWNER_DIED;
}

/* Enough for threads to come, and not many times as much as that. */
static void keep_ready(struct app_rings *r)
{
	uint64_t bytes = sizeof(struct mg_app_record) << r->shift;
	uint32_t ready = 0, alive = 0, all = 0, enough;

	for (uint32_t i = 0; i < r->used; i++) {
		uint32_t state = __atomic_load_n(&r->pool->state[i], __ATOMIC_RELAXED);

		all += state != MG_RING_EMPTY;
		ready += state == MG_RING_READY;
		alive += state == MG_RING_OWNED && !owner_died(&r->rings[i]);
	}
	enough = SPARE + alive / 4;
	for (uint32_t i = 0; i < MG_POOL_RINGS && ready < enough && all * bytes < TOTAL_BYTES;
		i++) {
		if (__atomic_load_n(&r->pool->state[i], __ATOMIC_RELAXED) != MG_RING_EMPTY)
			continue;
		if (!make_ready(r, i))
			break;
		ready++;
		all++;
		if (i >= r->used)
			__atomic_store_n(&r->pool->used, r->used = i + 1, __ATOMIC_RELEASE);
	}
	for (uint32_t i = r->used; i-- > 0 && ready > 4 * enough;)
		ready -= give_back(r, i);
	__atomic_store_n(&r->pool->ready, ready, __ATOMIC_RELEASE);
}

int app_rings_create(struct app_rings **out, uint64_t ring_bytes, char *why, size_t why_size)
{
	struct app_rings *r = calloc(1, sizeof(*r));
	uint64_t rings_at, records_at, size;
	int err;

	if (!r)
		return -ENOMEM;
	r->file.fd = -1;
	ring_bytes = !ring_bytes               ? DEFAULT_BYTES
		     : ring_bytes > MOST_BYTES ? MOST_BYTES
					       : ring_bytes;
	while ((sizeof(struct mg_app_record) << (r->shift + 1)) <= ring_bytes)
		r->shift++;
	r->known = calloc(MG_POOL_RINGS, sizeof(*r->known));
	r->order = calloc(MG_POOL_RINGS, sizeof(*r->order));
	rings_at = (sizeof(struct mg_pool) + 63) & ~63ull;
	records_at = (rings_at + MG_POOL_RINGS * sizeof(struct mg_app_ring) + 4095) & ~4095ull;
	size = records_at + ((uint64_t)MG_POOL_RINGS * sizeof(struct mg_app_record) << r->shift);
	err = r->known && r->order ? pool_file_make(&r->file, size, records_at, why, why_size)
				   : -ENOMEM;
	if (err) {
		app_rings_free(r);
		return err;
	}
	r->pool = r->file.memory;
	r->pool->rings = MG_POOL_RINGS;
	r->pool->record_shift = r->shift;
	r->pool->rings_at = rings_at;
	r->pool->records_at = records_at;
	r->rings = (void *)((char *)r->pool + r->pool->rings_at);
	r->records = (void *)((char *)r->pool + records_at);
	r->pool->version = MG_POOL_VERSION;
	keep_ready(r);
	if (r->used <= MG_COMMON_RING) {
		snprintf(why, why_size, "no room for a buffer in %s", r->file.path);
		app_rings_free(r);
		return -ENOSPC;
	}
	r->pool->state[MG_COMMON_RING] = MG_RING_OWNED;
	__atomic_store_n(&r->pool->magic, MG_POOL_MAGIC, __ATOMIC_RELEASE);
	*out = r;
	return 0;
}

const char *app_rings_path(const struct app_rings *r)
{
	return r->file.path;
}

void app_rings_want(struct app_rings *r, bool wanted)
{
	for (int i = 0; i < MG_FN_END; i++)
		__atomic_store_n(&r->pool->wanted[i], wanted, __ATOMIC_RELEASE);
	__atomic_store_n(&r->pool->wanted[MG_WANTED_MARK], wanted, __ATOMIC_RELEASE);
}

void app_rings_free(struct app_rings *r)
{
	pool_file_remove(&r->file);
	free(r->known);
	free(r->order);
	free(r);
}

/* ---- reading ---- */

static void tell_lost(struct app_rings *r, uint32_t i, uint32_t lost, uint64_t before,
	const struct app_reader *reader)
{
	struct known *k = &r->known[i];
	uint32_t count = lost - (uint32_t)k->lost;

	if (count == 0 || count >> 31) /* no count goes backwards */
		return;
	k->lost += count;
	reader->lost(reader->arg, APP_LOST_FULL, count, r->rings[i].tid, before);
}

/*
 * The next record of a ring, if it is complete. One that is not, its thread may be at; if that is
 * dead, or has gone on to others for long, it is left out.
 */
static void look(struct app_rings *r, uint32_t i, bool last, const struct app_reader *reader)
{
	const struct mg_app_record *records = &r->records[(uint64_t)i << r->shift];
	struct known *k = &r->known[i];

	for (k->next = NULL; k->tail < k->limit; k->tail++) {
		const struct mg_app_record *record = &records[k->tail & ((1ull << r->shift) - 1)];
		uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
		uint64_t now;

		if ((uint16_t)(word >> 32) == (uint16_t)((k->tail >> r->shift) + 1)) {
			const struct mg_ring_call *p = (const void *)record->payload;

			if ((uint8_t)(word >> 48) == 0) {
				reader->lost(
					reader->arg, APP_LOST_UNFINISHED, 1, r->rings[i].tid, 0);
				continue;
			}

			k->next = record;
			k->next_exit = p->exit;
			return;
		}
		now = mg_monotonic_ns();
		if (k->stuck_at != k->tail + 1) {
			k->stuck_at = k->tail + 1;
			k->stuck_since = now;
		}
		if (!last && !(k->limit > k->tail + 1 && now - k->stuck_since > PATIENCE_NS))
			return;
		reader->lost(reader->arg, APP_LOST_UNFINISHED, 1, r->rings[i].tid, 0);
	}
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
	tell_lost(r, i, record.lost, p.exit, reader);
	if (record.id == MG_EVENT_mark) {
		struct mg_mark m;

		memcpy(&m, record.payload, MG_PAYLOAD_SIZE(MARK));
		reader->mark(reader->arg, &m);
	}
	if (record.id < MG_APP_BASE || record.id >= MG_APP_BASE + MG_FN_END)
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
	k->exit = c.exit;
	reader->call(reader->arg, record.id - MG_APP_BASE, &c);
}

/* Returns how full the fullest ring was, percent. */
static int merge(struct app_rings *r, uint64_t until, bool last, const struct app_reader *reader)
{
	int fullest = 0;

	r->active = 0;
	for (uint32_t i = 0; i < r->used; i++) {
		struct mg_app_ring *ring = &r->rings[i];
		struct known *k = &r->known[i];
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), fill;

		fill = head - k->tail;
		if (fill > 1ull << r->shift) /* overwritten by a program gone wild */
			fill = 1ull << r->shift;
		if (!fill)
			continue;
		k->limit = k->tail + fill;
		if ((int)(fill * 100 >> r->shift) > fullest)
			fullest = (int)(fill * 100 >> r->shift);
		look(r, i, last || owner_died(ring), reader);
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
		look(r, i, last || owner_died(&r->rings[i]), reader);
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
			!owner_died(ring))
			continue;
		head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		if (head - k->tail <= 1ull << r->shift && head != k->tail)
			continue;
		tell_lost(r, i, (uint32_t)ring->lost, 0, reader);
		k->tail = head;
		k->lost = ring->lost;
		__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
		make_ready(r, i);
	}
}

int app_rings_read(struct app_rings *r, uint64_t until, const struct app_reader *reader)
{
	int fullest = merge(r, until, false, reader);

	reclaim(r, reader);
	keep_ready(r);
	return fullest;
}

void app_rings_finish(struct app_rings *r, const struct app_reader *reader)
{
	merge(r, UINT64_MAX, true, reader);
	for (uint32_t i = 0; i < r->used; i++)
		tell_lost(r, i, (uint32_t)r->rings[i].lost, 0, reader);
}
