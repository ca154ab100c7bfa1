/* SPDX-License-Identifier: MIT */
/*
 * Measures the offsets between the CPUs' counters: two threads, one on each of two CPUs, hand a
 * counter reading to and fro. The receiver's counter minus the reading it got is the offset plus
 * the transit time, which is not negative: the least forward difference bounds the offset from
 * above, the least backward one from below.
 */
#define _GNU_SOURCE

#include "clock/clock_cpus.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cycles.h"

#define ROUNDS     300
#define PAIR_NS    8000000ull  /* longest wait for both CPUs to be free */
#define ALL_NS     40000000ull /* a CPU not measured by then stays unknown */
#define LOOK_EVERY 256         /* turns of a waiting loop between checks of the clock */

struct clock_cpus {
	pthread_t thread;
	struct mg_clock_cpus *found;
	size_t count;
};

/* A reading in transit; 0 = none. Each direction has a cache line of its own. */
struct wire {
	uint64_t stamp __attribute__((aligned(128)));
};

/*
 * State shared by the measuring thread and its two helpers; the last user frees it. A helper may be
 * kept off its CPU for good, and nobody waits for it then.
 */
struct pair {
	struct wire there, back;
	int64_t forward; /* least difference: counter of the other CPU minus counter of this one */
	uint64_t deadline_ns;
	sem_t runs, finished;
	int users;
	bool answered;
	int64_t low, high;
};

static void let_go(struct pair *p)
{
	if (__atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL))
		return;
	sem_destroy(&p->runs);
	sem_destroy(&p->finished);
	free(p);
}

static void put(struct wire *w)
{
	__atomic_store_n(&w->stamp, mg_cycles(), __ATOMIC_RELEASE);
}

/* Waits for a reading and compares it with the own counter. Returns false if no more will come. */
static bool get(const struct pair *p, struct wire *w, int64_t *least)
{
	for (unsigned int i = 1;; i++) {
		uint64_t sent = __atomic_load_n(&w->stamp, __ATOMIC_ACQUIRE);

		if (sent) {
			int64_t difference = (int64_t)(mg_cycles() - sent);

			if (difference < *least)
				*least = difference;
			__atomic_store_n(&w->stamp, 0, __ATOMIC_RELAXED);
			return true;
		}
		if (i % LOOK_EVERY == 0 && mg_monotonic_ns() > p->deadline_ns)
			return false;
	}
}

/*
 * Raises the priority so that two threads run at the same time for a moment; failure is harmless.
 */
static void hurry(void)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
}

static bool wait_until(sem_t *sem, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	int err;

	do
		err = sem_clockwait(sem, CLOCK_MONOTONIC, &t);
	while (err && errno == EINTR);
	return err == 0;
}

static void *ask(void *arg)
{
	struct pair *p = arg;
	int64_t backward = INT64_MAX;

	for (int i = 0; i < ROUNDS && (i || wait_until(&p->runs, p->deadline_ns)); i++) {
		put(&p->there);
		if (!get(p, &p->back, &backward))
			break;
	}
	p->low = -backward;
	/* stored before the answer was sent */
	p->high = __atomic_load_n(&p->forward, __ATOMIC_RELAXED);
	p->answered = backward != INT64_MAX;
	sem_post(&p->finished);
	let_go(p);
	return NULL;
}

static void *answer(void *arg)
{
	struct pair *p = arg;
	int64_t forward = INT64_MAX;

	sem_post(&p->runs);
	for (int i = 0; i < ROUNDS && get(p, &p->there, &forward); i++) {
		/* stored rarely, as the answer would have to wait for the store */
		if (!i || forward < p->forward)
			__atomic_store_n(&p->forward, forward, __ATOMIC_RELAXED);
		put(&p->back);
	}
	let_go(p);
	return NULL;
}

static bool start_on(unsigned int cpu, void *(*fn)(void *), struct pair *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t only;
	bool ok;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (pthread_attr_init(&attr) != 0)
		return false;
	p->users++; /* no other thread uses it yet; undone if the thread cannot be started */
	ok = pthread_attr_setaffinity_np(&attr, sizeof(only), &only) == 0 &&
	     pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0 &&
	     pthread_create(&thread, &attr, fn, p) == 0;
	pthread_attr_destroy(&attr);
	if (!ok)
		let_go(p);
	return ok;
}

/*
 * Measures the counter of `cpu` minus that of `ref`. Returns 0, -EAGAIN if the threads did not run
 * in time, or -ENXIO if one CPU is off.
 */
static int measure(unsigned int ref, unsigned int cpu, uint64_t until_ns, struct mg_clock_cpus *out)
{
	struct pair *p = aligned_alloc(128, sizeof(*p));
	bool on, ok;

	if (!p)
		return -ENXIO;
	memset(p, 0, sizeof(*p));
	p->deadline_ns = mg_monotonic_ns() + PAIR_NS;
	if (p->deadline_ns > until_ns)
		p->deadline_ns = until_ns;
	p->users = 1;
	sem_init(&p->runs, 0, 0);
	sem_init(&p->finished, 0, 0);
	on = start_on(cpu, answer, p) && start_on(ref, ask, p);
	ok = on && wait_until(&p->finished, p->deadline_ns + PAIR_NS / 8) && p->answered;
	*out = (struct mg_clock_cpus){
		.cpu = cpu, .ref = ref, .offset_low = p->low, .offset_high = p->high};
	let_go(p);
	return ok ? 0 : on ? -EAGAIN : -ENXIO;
}

static void *measure_all(void *arg)
{
	struct clock_cpus *c = arg;
	unsigned int cpus = (unsigned int)get_nprocs_conf(), ref = 0;
	uint64_t until = mg_monotonic_ns() + ALL_NS;
	cpu_set_t allowed, settled;

	hurry(); /* the threads that it makes inherit that, and need not wait to begin */
	CPU_ZERO(&settled);
	if (cpus > CPU_SETSIZE)
		cpus = CPU_SETSIZE;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return NULL;
	while (ref < cpus && !CPU_ISSET(ref, &allowed))
		ref++;
	c->found = calloc(cpus, sizeof(*c->found));
	/* those whose threads did not run in time have another try, after the others */
	for (bool again = c->found != NULL; again;) {
		again = false;
		for (unsigned int cpu = 0; cpu < cpus && mg_monotonic_ns() < until; cpu++) {
			int err = cpu == ref || CPU_ISSET(cpu, &settled)
					  ? -ENXIO
					  : measure(ref, cpu, until, &c->found[c->count]);

			if (err != -EAGAIN)
				CPU_SET(cpu, &settled);
			again |= err == -EAGAIN;
			c->count += err == 0;
		}
	}
	return NULL;
}

int clock_cpus_start(struct clock_cpus **out)
{
	struct clock_cpus *c = calloc(1, sizeof(*c));
	int err;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	err = pthread_create(&c->thread, NULL, measure_all, c);
	if (err) {
		free(c);
		return -err;
	}
	*out = c;
	return 0;
}

void clock_cpus_end(
	struct clock_cpus *c, void (*tell)(void *arg, const struct mg_clock_cpus *one), void *arg)
{
	if (!c)
		return;
	pthread_join(c->thread, NULL);
	for (size_t i = 0; i < c->count; i++)
		tell(arg, &c->found[i]);
	free(c->found);
	free(c);
}
