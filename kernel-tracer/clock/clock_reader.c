/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "clock/clock_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* ten readings a second are promised; readings less than 40 ms apart are not used */
#define PERIOD_NS 60000000
#define TRIPLES   100
#define WAITING   1024 /* readings of one minute */

struct clock_reader {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool running, stop;
	struct mg_clock_sync reading[WAITING];
	unsigned int head, count;
};

/*
 * Appends a reading; the caller holds the lock. Drops it if the queue is full: the trace then shows
 * the gap.
 */
static void add(struct clock_reader *r, const struct mg_clock_sync *one)
{
	if (r->count < WAITING)
		r->reading[(r->head + r->count++) % WAITING] = *one;
}

static void *read_clock(void *arg)
{
	struct clock_reader *r = arg;
	struct timespec next;

	/* the thread runs for microseconds and should not wait for others; failure is harmless */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&r->lock);
	for (;;) {
		struct mg_clock_sync one;
		bool last = r->stop;

		pthread_mutex_unlock(&r->lock);
		mg_clock_sync_read(&one, TRIPLES);
		pthread_mutex_lock(&r->lock);
		add(r, &one);
		if (last)
			break;
		clock_gettime(CLOCK_MONOTONIC, &next);
		next.tv_nsec += PERIOD_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		while (!r->stop && pthread_cond_timedwait(&r->woken, &r->lock, &next) != ETIMEDOUT)
			;
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int clock_reader_start(struct clock_reader **out)
{
	struct clock_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->woken, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&r->thread, NULL, read_clock, r);
	r->running = err == 0;
	if (err) {
		clock_reader_free(r);
		return -err;
	}
	*out = r;
	return 0;
}

void clock_reader_stop(struct clock_reader *r)
{
	if (!r || !r->running)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->woken);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->running = false;
}

bool clock_reader_take(struct clock_reader *r, struct mg_clock_sync *one)
{
	bool got;

	pthread_mutex_lock(&r->lock);
	got = r->count != 0;
	if (got) {
		*one = r->reading[r->head];
		r->head = (r->head + 1) % WAITING;
		r->count--;
	}
	pthread_mutex_unlock(&r->lock);
	return got;
}

void clock_reader_free(struct clock_reader *r)
{
	if (!r)
		return;
	clock_reader_stop(r);
	pthread_cond_destroy(&r->woken);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
