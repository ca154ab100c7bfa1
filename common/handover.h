/* SPDX-License-Identifier: MIT */
/*
 * Hands buffers from one thread to another, in order. A CPU that writes to a line of memory which
 * another CPU has read waits for that one's cache, some 25 ns even where it writes line after line.
 * handover_copy() therefore writes past the caches: 5 ns a line; and the other CPU reads lines in
 * order, which are fetched ahead: 7 ns.
 */
#ifndef MAGNET_COMMON_HANDOVER_H
#define MAGNET_COMMON_HANDOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* Bytes from which on a buffer is handed over; the giver may write a little more. */
#define HANDOVER_SIZE ((size_t)256 * 1024)

/*
 * Members that one thread writes all the time have lines of the cache for themselves; two, as they
 * are fetched in pairs.
 */
#define HANDOVER_LINES __attribute__((aligned(128)))

#define HANDOVER_BUFFERS 12
/* A taker without a buffer waits for so many: to be woken costs as much as some hundred facts. */
#define HANDOVER_AT_ONCE 2
struct handover_buffer {
	unsigned char *bytes;
	size_t n, room;
	uint64_t mark; /* for the giver to use */
} HANDOVER_LINES;

/* Work that the giver leaves for the taker, which does it while it has no buffer. */
struct errand {
	void (*run)(struct errand *e);
	bool is_done;
};

struct handover {
	struct handover_buffer buffer[HANDOVER_BUFFERS];
	HANDOVER_LINES pthread_mutex_t lock;
	pthread_cond_t changed;
	/* buffers ever given, and those of them that the taker has returned */
	uint64_t given, returned;
	uint64_t waited_ns;     /* time that the giver has waited for empty buffers */
	struct errand *errand;  /* not begun yet; NULL: none */
	bool given_all;         /* nothing more will be given */
	bool hurries;           /* the giver waits for the taker to be done */
	bool asks;              /* the taker waits for an answer of the giver's */
	void (*answer)(void *); /* called in the giver's thread for that; NULL: none is asked */
	void *arg;
};

/* Returns false without memory. */
bool handover_init(struct handover *h);
void handover_free(struct handover *h);

/* Returns whether a second thread can run at the same time. */
bool has_two_cpus(void);
/* Starts a thread without signals, which are the other threads'. Returns whether it runs. */
bool thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

/* ---- the giver ---- */

/* Returns an empty buffer, and waits for one if needed: the next to fill. */
struct handover_buffer *handover_empty(struct handover *h);
unsigned char *handover_grow(struct handover_buffer *b, size_t bytes);
/* Makes room for so many bytes more. Returns where they begin; NULL without memory. */
static inline unsigned char *handover_room(struct handover_buffer *b, size_t bytes)
{
	return b->room - b->n < bytes ? handover_grow(b, bytes) : b->bytes + b->n;
}
/* Bytes that a copy takes. */
#define HANDOVER_ALIGNED(bytes) (((bytes) + 15) & ~(size_t)15)
/* Writes two words to that place, past the cache. Returns the next place. */
static inline unsigned char *handover_pair(unsigned char *to, uint64_t first, uint64_t second)
{
#ifdef __x86_64__
	_mm_stream_si128((__m128i *)(void *)to, _mm_set_epi64x((int64_t)second, (int64_t)first));
#else
	memcpy(to, (const uint64_t[]){first, second}, 16);
#endif
	return to + 16;
}
#ifdef __x86_64__
/*
 * Loads 16 bytes by two loads. What has just been written by smaller stores is loaded by one only
 * after all stores so far are in the cache, those past the cache, too: 15 to 120 cycles.
 */
static inline __m128i handover_load(const void *from)
{
	__m128i low = _mm_loadl_epi64((const __m128i *)from);

	__asm__("" : "+x"(low)); /* or the compiler makes one load of both */
	return _mm_castps_si128(_mm_loadh_pi(
		_mm_castsi128_ps(low), (const __m64 *)(const void *)((const char *)from + 8)));
}
#endif
/*
 * Copies words to that place, a multiple of 16 bytes from the beginning of the buffer, past the
 * cache; `bytes` is a multiple of 8. Returns the next place.
 */
static inline unsigned char *handover_copy(unsigned char *to, const void *from, size_t bytes)
{
#ifdef __x86_64__
	size_t i = 0;

	for (; i + 16 <= bytes; i += 16)
		_mm_stream_si128(
			(__m128i *)(void *)(to + i), handover_load((const char *)from + i));
	if (i < bytes) {
		long long word;

		memcpy(&word, (const char *)from + i, sizeof(word));
		_mm_stream_si64((long long *)(void *)(to + i), word);
	}
#else
	memcpy(to, from, bytes);
#endif
	return to + HANDOVER_ALIGNED(bytes);
}
/* Gives the buffer away that was returned last. */
void handover_give(struct handover *h);
/* Says that there will be no more. */
void handover_end(struct handover *h);
/* Waits until all buffers that were given have been returned. */
void handover_await(struct handover *h);
/*
 * Leaves work for the taker; it must stay in memory until handover_done(). Returns false while
 * other work has been left that the taker has not begun.
 */
bool handover_leave(struct handover *h, struct errand *e);
/*
 * Takes work back that the taker has not begun, and waits for the end of what it has. Returns
 * whether the work is done.
 */
bool handover_done(struct handover *h, struct errand *e);
/* Answers the taker if it asks; cheap if it does not. */
void handover_look(struct handover *h);

/* ---- the taker ---- */

/* Returns the next full buffer, and waits for it; NULL after the last one. */
struct handover_buffer *handover_full(struct handover *h);
/* Returns the buffer taken last. */
void handover_return(struct handover *h);
/* Waits until the giver has answered. */
void handover_ask(struct handover *h);

#endif
