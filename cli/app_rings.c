/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "app_rings_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "cycles.h"

#define DEFAULT_BYTES (4u << 20)
#define MOST_BYTES    (16u << 20)
#define SPARE         4 /* rings ready for threads to come, and a quarter of those in use */
#define TOTAL_BYTES   (512ull << 20) /* threads beyond it share the common ring */

/* Whoever writes where there is no memory is killed: a ring is ready when it has its memory. */
bool app_rings_make_ready(struct app_rings *r, uint32_t i)
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

/* Enough for threads to come, and not many times as much as that. */
void app_rings_keep_ready(struct app_rings *r)
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
		if (!app_rings_make_ready(r, i))
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
	app_rings_keep_ready(r);
	if (r->used <= MG_COMMON_RING) {
		snprintf(why, why_size, "no room for a buffer in %s", r->file.path);
		app_rings_free(r);
		return -ENOSPC;
	}
	r->pool->state[MG_COMMON_RING] = MG_RING_OWNED;
	__atomic_store_n(&r->pool->magic, MG_POOL_MAGIC, __ATOMIC_RELEASE);
	r->began = mg_cycles();
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
	r->wanted = wanted;
}

/* What is right is not written again, since everybody reads it all the time. */
static void repair_word(uint32_t *at, uint32_t right)
{
	if (__atomic_load_n(at, __ATOMIC_RELAXED) != right)
		__atomic_store_n(at, right, __ATOMIC_RELAXED);
}

/* The file's head, where a program has written over it, for the others and those to come. */
void app_rings_repair(struct app_rings *r)
{
	struct mg_pool *p = r->pool;
	const struct mg_pool right = {.magic = MG_POOL_MAGIC,
		.version = MG_POOL_VERSION,
		.rings = MG_POOL_RINGS,
		.record_shift = r->shift,
		.rings_at = (uint64_t)((char *)r->rings - (char *)p),
		.records_at = (uint64_t)((char *)r->records - (char *)p)};

	if (memcmp(p, &right, offsetof(struct mg_pool, used)) != 0)
		memcpy(p, &right, offsetof(struct mg_pool, used));
	repair_word(&p->used, r->used);
	for (int i = 0; i < MG_FN_END; i++)
		repair_word((uint32_t *)&p->wanted[i], r->wanted);
	repair_word((uint32_t *)&p->wanted[MG_WANTED_MARK], r->wanted);
	repair_word(&p->state[MG_COMMON_RING], MG_RING_OWNED);
	for (uint32_t i = 0; i < r->used; i++)
		if (__atomic_load_n(&p->state[i], __ATOMIC_RELAXED) > MG_RING_OWNED)
			repair_word(&p->state[i],
				r->rings[i].alive.__data.__lock ? MG_RING_OWNED : MG_RING_EMPTY);
}

void app_rings_free(struct app_rings *r)
{
	pool_file_remove(&r->file);
	free(r->known);
	free(r->order);
	free(r);
}
