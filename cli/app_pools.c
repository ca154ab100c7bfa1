/* SPDX-License-Identifier: MIT */
/* A pool: the rings of one program. */
#define _GNU_SOURCE
#include "app_rings_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"

#define SPARE        2 /* rings ready for threads to come, and a quarter of those in use */
#define FIRST_BYTES  (64ull << 10) /* memory that a ring has before it fills */
#define SHIFT_LEAST  8
#define RINGS_LEAST  4
#define SHARE        32 /* under a limit on address space, a pool may have this part of it: 1 / SHARE */
#define NO_MEMORY    "the machine has no memory for them"
#define LOOK_WAIT_NS 2000000ull
#define LOOK_MOST_NS 1000000000ull

static uint64_t ring_bytes(const struct pool *p)
{
	return sizeof(struct mg_app_record) << p->shift;
}

/* Chooses the number of rings and their size, which are smaller the more programs there are. */
static void shape(const struct app_rings *r, struct pool *p)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t room = APP_RINGS_TOTAL;

	getrlimit(RLIMIT_AS, &limit);
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / SHARE < room)
		room = limit.rlim_cur / SHARE;
	getrlimit(RLIMIT_FSIZE, &limit); /* memory that is shared is a file */
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / 2 < room)
		room = limit.rlim_cur / 2;
	p->shift = r->shift;
	while (p->shift > SHIFT_LEAST &&
		((r->taken_n + MG_POOLS_READY) * 2 * ring_bytes(p) > APP_RINGS_TOTAL ||
			RINGS_LEAST * ring_bytes(p) > room))
		p->shift--;
	p->count = room / ring_bytes(p) < MG_POOL_RINGS ? (uint32_t)(room / ring_bytes(p))
							: MG_POOL_RINGS;
	if (p->count < RINGS_LEAST)
		p->count = RINGS_LEAST;
}

static bool give_memory(const struct pool *p, const void *at, uint64_t bytes)
{
	const char *begin = (const char *)p->head;

	return posix_fallocate(p->file.fd, (const char *)at - begin, (off_t)bytes) == 0;
}

/* Returns whether a ring is ready: the calls that come first need not wait for its memory. */
bool app_pool_make_ready(struct app_rings *r, struct pool *p, uint32_t i)
{
	struct known *k = &p->known[i];
	bool fresh = !k->records, whole = r->memory_is_scarce || ring_bytes(p) <= FIRST_BYTES;
	uint64_t first = whole ? ring_bytes(p) : FIRST_BYTES;
	pthread_mutexattr_t attr;
	int err;

	if (fresh && (!give_memory(p, &p->rings[i], sizeof(p->rings[i])) ||
			     !give_memory(p, &p->records[(uint64_t)i << p->shift], first)))
		return false;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(&p->rings[i].alive, &attr);
	pthread_mutexattr_destroy(&attr);
	if (err)
		return false;
	if (fresh) {
		r->present += first;
		k->pool = p;
		k->ring = &p->rings[i];
		k->records = &p->records[(uint64_t)i << p->shift];
		k->whole = whole;
		k->tail = k->stuck_at = 0; /* only the begin of the ring has memory */
		p->rings[i].head = p->rings[i].tail = 0;
	}
	__atomic_store_n(&p->head->state[i], MG_RING_READY, __ATOMIC_RELEASE);
	return true;
}

/*
 * Gives a ring the rest of its memory before it is needed. Only programs that make many calls get
 * that far.
 */
void app_pool_make_whole(struct app_rings *r, struct known *k)
{
	uint64_t bytes = ring_bytes(k->pool), more = bytes - FIRST_BYTES;

	if (k->limit < FIRST_BYTES / sizeof(struct mg_app_record) / 2)
		return;
	/* without that, a page gets its memory when it is first written */
	k->whole = r->present + more <= APP_RINGS_TOTAL && give_memory(k->pool, k->records, bytes);
	if (k->whole)
		r->present += more;
}

static uint64_t present_of(const struct known *k)
{
	return !k->records ? 0 : k->whole ? ring_bytes(k->pool) : FIRST_BYTES;
}

/* Returns whether a ring has none of its memory any more; not if a thread has just come for it. */
static bool give_back(struct app_rings *r, struct pool *p, uint32_t i)
{
	uint32_t ready = MG_RING_READY;
	struct known *k = &p->known[i];

	if (!__atomic_compare_exchange_n(&p->head->state[i], &ready, MG_RING_EMPTY, 0,
		    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	fallocate(p->file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		(const char *)k->records - (const char *)p->head, (off_t)ring_bytes(p));
	r->present -= present_of(k);
	k->records = NULL;
	return true;
}

/*
 * Sets a word to its right value. A word that is right is not written, since everybody reads it all
 * the time.
 */
static void repair_word(uint32_t *at, uint32_t right)
{
	if (__atomic_load_n(at, __ATOMIC_RELAXED) != right)
		__atomic_store_n(at, right, __ATOMIC_RELAXED);
}

void app_pool_want(struct pool *p, bool wanted)
{
	for (int i = 0; i < MG_FN_END; i++)
		repair_word((uint32_t *)&p->head->wanted[i], wanted);
	repair_word((uint32_t *)&p->head->wanted[MG_WANTED_MARK], wanted);
}

/* The head, where its program has written over it. */
static void repair(const struct app_rings *r, struct pool *p)
{
	struct mg_pool *h = p->head;

	repair_word(&h->used, p->used);
	app_pool_want(p, r->wanted);
	repair_word(&h->state[MG_COMMON_RING], MG_RING_OWNED);
	for (uint32_t i = 0; i < p->used; i++) {
		uint32_t state = __atomic_load_n(&h->state[i], __ATOMIC_RELAXED);

		if (state > MG_RING_OWNED || (state == MG_RING_EMPTY) != !p->known[i].records)
			repair_word(
				&h->state[i], p->known[i].records ? MG_RING_OWNED : MG_RING_EMPTY);
	}
}

/* Returns how many rings a living thread has. Enough are ready for threads to come, and not many
 * times as many as that.
 */
static uint32_t keep_ready(struct app_rings *r, struct pool *p)
{
	uint32_t ready = 0, alive = 0, enough;

	for (uint32_t i = MG_COMMON_RING + 1; i < p->used; i++) {
		uint32_t state = __atomic_load_n(&p->head->state[i], __ATOMIC_RELAXED);

		ready += state == MG_RING_READY;
		alive += state == MG_RING_OWNED && !owner_died(&p->rings[i]);
	}
	enough = SPARE + alive / 4;
	for (uint32_t i = 0; i < p->count && ready < enough; i++) {
		if (p->known[i].records)
			continue;
		/* the common ring is made in any case */
		if (i != MG_COMMON_RING && r->present >= APP_RINGS_TOTAL)
			break;
		if (!app_pool_make_ready(r, p, i))
			break;
		ready += i != MG_COMMON_RING;
		if (i >= p->used)
			__atomic_store_n(&p->head->used, p->used = i + 1, __ATOMIC_RELEASE);
	}
	for (uint32_t i = p->used; i-- > MG_COMMON_RING + 1 && ready > 4 * enough;)
		ready -= give_back(r, p, i);
	__atomic_store_n(&p->head->ready, ready, __ATOMIC_RELEASE);
	return alive;
}

/*
 * Returns whether no program has the pool any more. The look takes a descriptor, for which the
 * spare one is kept.
 */
static bool is_left(struct app_rings *r, const struct pool *p)
{
	bool left;

	if (r->spare >= 0)
		close(r->spare);
	left = pool_file_is_left(&p->file);
	r->spare = app_rings_keep_number(0);
	return left;
}

/*
 * See whether a program has the pool: soon after its last thread with a ring has ended, then the
 * more rarely, the longer there is one without rings. What a program says of its threads may be
 * wrong.
 */
static void look(struct app_rings *r, struct pool *p, bool alive)
{
	uint64_t now = mg_monotonic_ns();

	if (p->alive && !alive)
		p->look_at = p->look_wait = 0;
	p->alive = alive;
	if (now < p->look_at)
		return;
	p->left = p->look_at && is_left(r, p);
	p->look_wait = alive || p->look_wait >= LOOK_MOST_NS ? LOOK_MOST_NS
		       : p->look_wait                        ? p->look_wait * 2
							     : LOOK_WAIT_NS;
	p->look_at = now + p->look_wait;
}

void app_pool_keep(struct app_rings *r, struct pool *p)
{
	repair(r, p);
	look(r, p, keep_ready(r, p) > 0);
}

struct pool *app_pool_make(struct app_rings *r, char *why, size_t why_size)
{
	struct pool *p = calloc(1, sizeof(*p));
	uint64_t rings_at, records_at, size;
	char name[40];

	snprintf(why, why_size, "%s", strerror(ENOMEM));
	if (!p)
		return NULL;
	p->file.fd = -1;
	shape(r, p);
	p->known = calloc(p->count, sizeof(*p->known));
	rings_at = (offsetof(struct mg_pool, state) + p->count * sizeof(uint32_t) + 63) & ~63ull;
	records_at = (rings_at + p->count * sizeof(struct mg_app_ring) + 65535) & ~65535ull;
	size = records_at + p->count * ring_bytes(p);
	if (size < MG_POOL_LEAST) /* programs take no smaller one */
		size = MG_POOL_LEAST;
	snprintf(name, sizeof(name), "magnet-rings-%016llx", (unsigned long long)r->id);
	if (!p->known || pool_file_make(&p->file, name, size, why, why_size) != 0) {
		app_pool_free(r, p);
		return NULL;
	}
	p->head = p->file.memory;
	p->rings = (void *)((char *)p->head + rings_at);
	p->records = (void *)((char *)p->head + records_at);
	if (!give_memory(p, p->head, rings_at)) {
		snprintf(why, why_size, NO_MEMORY);
		app_pool_free(r, p);
		return NULL;
	}
	p->head->version = MG_POOL_VERSION;
	p->head->rings = p->count;
	p->head->record_shift = p->shift;
	p->head->rings_at = rings_at;
	p->head->records_at = records_at;
	p->head->id = r->id;
	keep_ready(r, p);
	if (p->used <= MG_COMMON_RING) {
		snprintf(why, why_size, NO_MEMORY);
		app_pool_free(r, p);
		return NULL;
	}
	p->head->state[MG_COMMON_RING] = MG_RING_OWNED;
	app_pool_want(p, r->wanted);
	__atomic_store_n(&p->head->magic, MG_POOL_MAGIC, __ATOMIC_RELEASE);
	return p;
}

void app_pool_free(struct app_rings *r, struct pool *p)
{
	for (uint32_t i = 0; p->known && i < p->used; i++)
		r->present -= present_of(&p->known[i]);
	pool_file_free(&p->file);
	inner_ids_free(p->ids);
	free(p->known);
	free(p);
}
