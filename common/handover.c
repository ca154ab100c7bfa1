/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "handover.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "alloc.h"
#include "clock.h"

/* Bytes beyond HANDOVER_SIZE: the last that is written rarely needs more. */
#define SPARE ((size_t)16 * 1024)
/* Bytes: the usual 8 MiB count against a limit of address space. */
#define STACK ((size_t)512 * 1024)

bool has_two_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

bool thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	bool started;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, &attr, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (started)
		pthread_setname_np(*thread, name);
	return started;
}

bool handover_init(struct handover *h)
{
	*h = (struct handover){.given = 0};
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	for (int i = 0; i < HANDOVER_BUFFERS; i++) {
		struct handover_buffer *b = &h->buffer[i];

		b->room = HANDOVER_SIZE + SPARE;
		b->bytes = mg_malloc(b->room);
		if (!b->bytes) {
			handover_free(h);
			return false;
		}
	}
	return true;
}

void handover_free(struct handover *h)
{
	for (int i = 0; i < HANDOVER_BUFFERS; i++)
		free(h->buffer[i].bytes);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
}

unsigned char *handover_grow(struct handover_buffer *b, size_t bytes)
{
	unsigned char *more = mg_realloc(b->bytes, b->room * 2 + bytes);

	if (!more)
		return NULL;
	b->bytes = more;
	b->room = b->room * 2 + bytes;
	return b->bytes + b->n;
}

/* Waits, with the lock held, for what the taker does; the giver answers it meanwhile. */
static void wait_as_giver(struct handover *h)
{
	if (!h->asks) {
		pthread_cond_wait(&h->changed, &h->lock);
		return;
	}
	pthread_mutex_unlock(&h->lock);
	h->answer(h->arg);
	pthread_mutex_lock(&h->lock);
	__atomic_store_n(&h->asks, false, __ATOMIC_RELAXED);
	pthread_cond_signal(&h->changed);
}

struct handover_buffer *handover_empty(struct handover *h)
{
	struct handover_buffer *b;

	pthread_mutex_lock(&h->lock);
	if (h->given - h->returned == HANDOVER_BUFFERS) {
		uint64_t since = mg_monotonic_ns();

		while (h->given - h->returned == HANDOVER_BUFFERS)
			wait_as_giver(h);
		h->waited_ns += mg_monotonic_ns() - since;
	}
	b = &h->buffer[h->given % HANDOVER_BUFFERS];
	pthread_mutex_unlock(&h->lock);
	b->n = 0;
	return b;
}

void handover_give(struct handover *h)
{
#ifdef __x86_64__
	_mm_sfence(); /* the lock does not order what handover_copy() has written */
#endif
	pthread_mutex_lock(&h->lock);
	h->given++;
	if (h->given - h->returned >= HANDOVER_AT_ONCE)
		pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

void handover_end(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	h->given_all = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

void handover_await(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	h->hurries = true;
	pthread_cond_signal(&h->changed);
	while (h->given != h->returned)
		wait_as_giver(h);
	h->hurries = false;
	pthread_mutex_unlock(&h->lock);
}

bool handover_leave(struct handover *h, struct errand *e)
{
	bool is_left;

	pthread_mutex_lock(&h->lock);
	is_left = !h->errand;
	if (is_left) {
		e->is_done = false;
		h->errand = e;
		pthread_cond_signal(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
	return is_left;
}

bool handover_done(struct handover *h, struct errand *e)
{
	bool has_begun;

	pthread_mutex_lock(&h->lock);
	has_begun = h->errand != e;
	if (!has_begun)
		h->errand = NULL;
	while (has_begun && !e->is_done)
		wait_as_giver(h);
	pthread_mutex_unlock(&h->lock);
	return has_begun;
}

void handover_look(struct handover *h)
{
	if (!__atomic_load_n(&h->asks, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&h->lock);
	while (h->asks)
		wait_as_giver(h);
	pthread_mutex_unlock(&h->lock);
}

/* Returns whether a taker that has no buffer goes on. */
static bool is_enough(const struct handover *h)
{
	uint64_t waiting = h->given - h->returned;

	return h->given_all || waiting >= HANDOVER_AT_ONCE || (h->hurries && waiting);
}

/* Does the work that was left, with the lock held before and after. */
static void run_errand(struct handover *h)
{
	struct errand *e = h->errand;

	h->errand = NULL;
	pthread_mutex_unlock(&h->lock);
	e->run(e);
	pthread_mutex_lock(&h->lock);
	e->is_done = true;
	pthread_cond_signal(&h->changed);
}

struct handover_buffer *handover_full(struct handover *h)
{
	struct handover_buffer *b = NULL;

	pthread_mutex_lock(&h->lock);
	if (h->given == h->returned) {
		while (!is_enough(h)) {
			if (h->errand)
				run_errand(h);
			else
				pthread_cond_wait(&h->changed, &h->lock);
		}
	}
	if (h->given != h->returned)
		b = &h->buffer[h->returned % HANDOVER_BUFFERS];
	pthread_mutex_unlock(&h->lock);
	return b;
}

void handover_return(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	h->returned++;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

void handover_ask(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	__atomic_store_n(&h->asks, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&h->changed);
	while (h->asks)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
}
