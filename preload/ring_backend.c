/* SPDX-License-Identifier: MIT */
/*
 * The back end that writes each thread's calls into a ring of its own, in memory shared with
 * `magnet record`. See app_ring.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "app_ring.h"
#include "backend.h"
#include "kernel_call.h"
#include "pool.h"
#include "room.h"
#include "self.h"

#define PAGE_MOST 65536ull /* largest page size: arm64 has pages of 4, 16 or 64 KiB */

/* Copies of the pool's head, read once, as the program may overwrite the pool. */
static struct mg_pool *pool;
static struct mg_app_ring *rings;
static struct mg_app_record *all_records;
static uint32_t shift;
static pthread_mutex_t fresh;
/*
 * The C library's own function: a thread that ends never unlocks its mutex, so ThreadSanitizer's
 * wrapper would report the next owner of the ring.
 */
static int (*trylock)(pthread_mutex_t *) = pthread_mutex_trylock;
static uint64_t mapped;
static uint32_t first_process;
static uint32_t reachable; /* rings below this number are mapped */
static uint32_t needed;    /* no ring from this number on has ever been used by this process */

static inline struct mg_app_record *records_of(uint32_t ring)
{
	return all_records + ((uint64_t)ring << shift);
}

/*
 * Takes a position. The operation must be atomic only with respect to this thread's own signal
 * handlers.
 */
static inline int take(uint64_t *head, uint64_t expected)
{
#if defined(__x86_64__)
	uint8_t done;

	__asm__ volatile("cmpxchgq %3, %1; sete %0"
			 : "=q"(done), "+m"(*head), "+a"(expected)
			 : "r"(expected + 1)
			 : "memory", "cc");
	return done;
#else
	return __atomic_compare_exchange_n(
		head, &expected, expected + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/*
 * Returns whether ring number `ring` is mapped, and marks it as needed. Races with make_room(): at
 * least one of the two sees the other's store.
 */
static int may_use(uint32_t ring)
{
	uint32_t most = __atomic_load_n(&needed, __ATOMIC_SEQ_CST);

	while (most <= ring && !__atomic_compare_exchange_n(&needed, &most, ring + 1, 0,
				       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return ring < __atomic_load_n(&reachable, __ATOMIC_SEQ_CST);
}

/*
 * Increments a counter that only this thread changes, atomically with respect to its signal
 * handlers.
 */
static inline void count(uint64_t *n)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*n) : : "cc");
#else
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
#endif
}

/* Sets both words that say which ring the thread owns, with one store. */
static inline void own(struct mg_app_ring *r, struct mg_app_record *record)
{
	typedef uintptr_t pair __attribute__((vector_size(16), may_alias));
	_Static_assert(offsetof(struct mg_self, record) ==
			       offsetof(struct mg_self, ring) + sizeof(uintptr_t),
		"one after the other");
	_Static_assert(offsetof(struct mg_self, ring) % sizeof(pair) == 0, "aligned");

	*(volatile pair *)(void *)&mg_self.ring = (pair){(uintptr_t)r, (uintptr_t)record};
}

/*
 * Returns a thread or process id as it is logged: marked MG_NESTED where the process is in an inner
 * PID namespace. Only forks set mg_self_nested: a vfork child there is recognised by `pid`, as the
 * first process of its namespace or as a child that this thread has made in another.
 */
static inline uint32_t number(uint32_t id, uint32_t pid)
{
	bool nested = mg_self_nested || (pid == 1 && first_process != 1) ||
		      (mg_self.children_nested && pid != mg_self_process);

	return nested ? id | MG_NESTED : id;
}

/*
 * Takes a ring for this thread if one is ready; returns 1 if it did. A signal handler that runs in
 * between may take another one; the thread keeps one of the two. The previous owner has ended and
 * the collector has emptied the ring, which ThreadSanitizer cannot know.
 */
static __attribute__((noinline, no_sanitize_thread)) int claim(void)
{
	uint32_t used = __atomic_load_n(&pool->used, __ATOMIC_ACQUIRE);

	if (used > reachable)
		used = reachable;
	if (!__atomic_load_n(&pool->ready, __ATOMIC_RELAXED))
		return 0;
	for (uint32_t i = 0; i < used; i++) {
		uint32_t ready = MG_RING_READY;
		struct mg_app_ring *r;

		if (__atomic_load_n(&pool->state[i], __ATOMIC_RELAXED) != MG_RING_READY)
			continue;
		if (!__atomic_compare_exchange_n(&pool->state[i], &ready, MG_RING_OWNED, 0,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		if (!may_use(i)) {
			__atomic_store_n(&pool->state[i], MG_RING_READY, __ATOMIC_RELEASE);
			return 0;
		}
		__atomic_fetch_sub(&pool->ready, 1, __ATOMIC_RELAXED);
		r = &rings[i];
		r->tid = number(mg_self.tid, mg_self.pid);
		r->pid = number(mg_self.pid, mg_self.pid);
		/*
		 * initialised anew: other processes may have written into it, and the C library
		 * would act on that
		 */
		r->alive = fresh;
		trylock(&r->alive);
		own(r, records_of(i));
		return 1;
	}
	return 0;
}

static inline uint64_t word_of(uint64_t at, uint64_t lost)
{
	return (uint32_t)lost | (uint64_t)(uint16_t)((at >> shift) + 1) << 32;
}

/*
 * Returns whether rings are ready that this thread cannot reach, because too little of the file is
 * mapped.
 */
static bool lacks_room(void)
{
	return mg_self.tid && __atomic_load_n(&pool->ready, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&reachable, __ATOMIC_RELAXED) <
		       __atomic_load_n(&pool->used, __ATOMIC_RELAXED);
}

/*
 * Returns a place in the common ring; NULL if it is full. Used by threads without a ring: those of
 * a burst of new threads, and children of vfork(), which are no threads of their own.
 */
static __attribute__((noinline)) struct mg_app_record *reserve_in_common(uint64_t *word)
{
	struct mg_app_ring *r = &rings[MG_COMMON_RING];
	uint64_t at = __atomic_load_n(&r->head, __ATOMIC_RELAXED);

	if (__atomic_load_n(&reachable, __ATOMIC_RELAXED) <= MG_COMMON_RING) {
		__atomic_fetch_add(&r->no_room, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	do {
		if ((at - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE)) >> shift) {
			__atomic_fetch_add(
				lacks_room() ? &r->no_room : &r->lost, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(
		&r->head, &at, at + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*word = word_of(at, __atomic_load_n(&r->lost, __ATOMIC_RELAXED));
	return records_of(MG_COMMON_RING) + (at & ((1ull << shift) - 1));
}

#define SAME_STACK   262144
#define SIGNAL_FRAME 512 /* least stack between interrupted code and its signal handler */

/*
 * Returns whether the thread left its open record for good, and marks that record so that the
 * collector does not wait for it. Call it when another call of this thread is still being logged:
 * either this code is a signal handler deeper on the stack, or a handler left the outer call by
 * siglongjmp().
 */
static __attribute__((noinline)) bool left_undone(struct mg_app_ring *r, const char *frame)
{
	uint64_t at = mg_self.open_at - 1;
	struct mg_app_record *record = &mg_self.record[at & ((1ull << shift) - 1)];
	uint16_t lap = (uint16_t)((at >> shift) + 1);

	if (frame + SIGNAL_FRAME < mg_self.open_by || frame > mg_self.open_by + SAME_STACK)
		return false;
	if (r->head > at && record->lap != lap)
		__atomic_store_n((uint64_t *)record, word_of(at, r->lost), __ATOMIC_RELEASE);
	mg_self.open_at = 0;
	return true;
}

/* The place reserved for a record. */
struct place {
	uint64_t word;  /* word that publishes the record, without the event's id and kind */
	bool common;    /* in the common ring */
	bool outermost; /* no other record of this thread was open */
};

/* Reserves a place for a record of this thread. Returns NULL if there is no room. */
static inline struct mg_app_record *reserve(struct place *p)
{
	struct mg_app_ring *r = mg_self.ring;
	const char *frame = __builtin_frame_address(0);
	uint64_t at;

	p->common = p->outermost = false;
	if (__builtin_expect(!r || !mg_self.tid, 0)) {
		if (!mg_self.tid || !claim()) {
			p->common = true;
			return reserve_in_common(&p->word);
		}
		r = mg_self.ring;
	}
	p->outermost = mg_self.open_at == 0 || left_undone(r, frame);
	if (__builtin_expect(p->outermost, 1))
		mg_self.open_by = frame;
	do {
		at = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
		if ((at - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE)) >> shift) {
			count(&r->lost);
			if (p->outermost)
				mg_self.open_at = 0;
			return NULL;
		}
		if (__builtin_expect(p->outermost, 1))
			mg_self.open_at = at + 1;
	} while (!take(&r->head, at));
	p->word = word_of(at, r->lost);
	return &mg_self.record[at & ((1ull << shift) - 1)];
}

static inline void publish(
	struct mg_app_record *record, const struct place *p, unsigned int id, unsigned int kind)
{
	__atomic_store_n((uint64_t *)record, p->word | (uint64_t)id << 48 | (uint64_t)kind << 56,
		__ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(p->outermost, 1))
		mg_self.open_at = 0;
}

static void log_call(unsigned int fn, const struct mg_call *c)
{
	struct place place;
	struct mg_app_record *record = reserve(&place);
	struct mg_ring_call *p;

	if (!record)
		return;
	p = (struct mg_ring_call *)record->payload;
	p->enter = c->enter;
	p->exit = c->exit;
	p->asked = c->asked | (uint32_t)c->value | c->waited; /* two of them are 0 */
	p->ret = c->ret;
	p->fd = c->fd;
	p->error = c->error;
	p->flags = c->flags | c->option; /* one of them is 0 */
	p->logged = place.common ? number(c->pid, c->pid) : c->logged;
	p->bytes = c->bytes;
	p->tid = place.common ? number(c->tid, c->pid) : 0;
	publish(record, &place, MG_APP_BASE + fn, c->kind);
}

static void log_mark(const struct mg_mark *m)
{
	struct place place;
	struct mg_app_record *record = reserve(&place);
	struct mg_mark numbered = *m;

	if (!record)
		return;
	numbered.tid = number(m->tid, m->pid);
	numbered.pid = number(m->pid, m->pid);
	memcpy(record->payload, &numbered, MG_PAYLOAD_SIZE(MARK));
	publish(record, &place, MG_EVENT_mark, 0);
}

/*
 * Counts a call without a timestamp. Writes only to the pool: the caller may be allowed no system
 * call but read() and write().
 */
static void count_untimed(void)
{
	__atomic_fetch_add(&rings[MG_COMMON_RING].untimed, 1, __ATOMIC_RELAXED);
}

static void count_unreached(int programs)
{
	__atomic_fetch_add(
		&rings[MG_COMMON_RING].unreached, (uint64_t)(int64_t)programs, __ATOMIC_RELAXED);
}

static struct mg_backend backend;

/*
 * Unmaps rings so that at most `bytes` remain, when the program limits its address space or locks
 * all of its memory. Rings in use stay.
 */
static void make_room(uint64_t bytes)
{
	uint64_t head = (uint64_t)((char *)all_records - (char *)pool), end;
	uint64_t ring_size = sizeof(struct mg_app_record) << shift;
	uint32_t keep = bytes > head ? (uint32_t)((bytes - head) / ring_size) : 0;

	if (keep <= MG_COMMON_RING)
		keep = MG_COMMON_RING + 1;
	if (keep >= reachable)
		return;
	__atomic_store_n(&reachable, keep, __ATOMIC_SEQ_CST);
	if (keep < __atomic_load_n(&needed, __ATOMIC_SEQ_CST))
		__atomic_store_n(&reachable, keep = needed, __ATOMIC_SEQ_CST);
	end = (head + keep * ring_size + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
	if (end < mapped && mg_kernel_call(SYS_munmap, (long)pool + (long)end, (long)(mapped - end),
				    0, 0, 0, 0) == 0)
		mapped = end;
}

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&fresh, &attr);
	pthread_mutexattr_destroy(&attr);
}

#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#else
#define LIBC_FIRST "GLIBC_2.17"
#endif

/*
 * Finds the C library's function by its symbol version, which only the C library has. dlopen()
 * would allocate while the program's own allocator may still be starting.
 */
static void find_trylock(void)
{
	void *f = dlvsym(RTLD_NEXT, "pthread_mutex_trylock", LIBC_FIRST);

	if (f)
		memcpy(&trylock, &f, sizeof(trylock));
}

#define RINGS_USUAL 128 /* rings of a pool as `magnet record` makes it; small pools have fewer */

/*
 * Maps `size` bytes, or less where the limits of the process are lower. Returns the address, or a
 * negative error number.
 */
static long map(int fd, uint64_t *size)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t room;
	long at;

	mg_kernel_call(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
	/* a share of the limit, but at least the head and two rings */
	room = mg_room_under(limit.rlim_cur, MG_POOL_LEAST + 2 * (*size / RINGS_USUAL)) &
	       ~(PAGE_MOST - 1);
	if (*size > room)
		*size = room;
	for (;;) {
		at = mg_kernel_call(SYS_mmap, 0, (long)*size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (!mg_kernel_failed(at) || *size <= MG_POOL_LEAST)
			return at;
		*size = *size / 2 < MG_POOL_LEAST ? MG_POOL_LEAST : *size / 2 & ~(PAGE_MOST - 1);
	}
}

/* Returns whether the mapped file is a pool of this recording with consistent offsets. */
static bool is_pool(const struct mg_pool *p, uint64_t size, uint64_t id)
{
	uint64_t records_at = p->records_at, rings_at = p->rings_at;

	shift = p->record_shift;
	if (p->magic != MG_POOL_MAGIC || p->version != MG_POOL_VERSION || p->id != id ||
		p->rings > MG_POOL_RINGS || shift > 24 || records_at >= size || rings_at % 64 ||
		records_at % 64 || rings_at < sizeof(*p) || rings_at > records_at ||
		(rings_at - sizeof(*p)) / sizeof(p->state[0]) < p->rings ||
		(records_at - rings_at) / sizeof(*rings) < p->rings)
		return false;
	reachable = (uint32_t)((size - records_at) / (sizeof(struct mg_app_record) << shift));
	if (reachable > p->rings)
		reachable = p->rings;
	rings = (void *)((char *)p + rings_at);
	all_records = (void *)((char *)p + records_at);
	return true;
}

/*
 * Maps a pool, or as much of it as there is room for; with the head alone, calls are at least
 * counted as lost. Returns the address, or a negative error number.
 */
static long map_pool(int fd)
{
	struct stat st; /* the kernel's layout */

	if (mg_kernel_call(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0 || !S_ISREG(st.st_mode) ||
		st.st_size < MG_POOL_LEAST)
		return -EINVAL;
	mapped = (uint64_t)st.st_size;
	return map(fd, &mapped);
}

/* Closes the descriptor. Returns whether the program has the pool. */
static bool take_pool(int fd, const struct pool_offer *o)
{
	long at = map_pool(fd);
	uint32_t nobody = 0;

	mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (mg_kernel_failed(at))
		return false;
	pool = (struct mg_pool *)at;
	if (pool_offer_holds(o) && is_pool(pool, mapped, o->id) &&
		(o->given || __atomic_compare_exchange_n(&pool->taken, &nobody, o->outer, 0,
				     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))) {
		first_process = o->process;
		__atomic_store_n(&pool->inner, o->process, __ATOMIC_RELEASE);
		mg_kernel_call(SYS_madvise, at, (long)mapped, MADV_DONTDUMP, 0, 0, 0);
		return true;
	}
	mg_kernel_call(SYS_munmap, at, (long)mapped, 0, 0, 0, 0);
	return false;
}

const struct mg_backend *mg_ring_backend(void)
{
	const char *text = getenv(MG_POOL_ENV);
	struct pool_offer offer;
	bool have = false;
	int fd;

	/* raw system calls: a program's own functions of these names may not be ready yet */
	if (!text || !pool_offer_read(&offer, text))
		return NULL;
	while (!have && (fd = pool_offer_next(&offer)) >= 0)
		have = take_pool(fd, &offer);
	if (!have)
		return NULL;
	make_mutex();
	find_trylock();
	for (int i = 0; i < MG_FN_END; i++)
		backend.wanted[i] = &pool->wanted[i];
	for (int i = 0; i < MG_FN_END; i++)
		backend.log[i] = log_call;
	backend.wanted_mark = &pool->wanted[MG_WANTED_MARK];
	backend.mark = log_mark;
	backend.count_untimed = count_untimed;
	backend.count_unreached = count_unreached;
	backend.make_room = make_room;
	return &backend;
}
