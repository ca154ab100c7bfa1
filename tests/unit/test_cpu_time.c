/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "cpu_time.h"
#include "unit.h"

/* The account is kept at ticks and switches: a sleep brings it up to date. */
static void settle(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work(uint64_t ns)
{
	uint64_t until = thread_ns() + ns;

	while (thread_ns() < until)
		;
	settle();
}

static void own_time_is_known_and_grows(void **unused)
{
	uint64_t before, after;

	(void)unused;
	settle();
	before = process_cpu_ns(getpid());
	if (before == 0) /* a kernel without schedstats */
		skip();
	work(5000000);
	after = process_cpu_ns(getpid());
	assert_true(after - before >= 4000000);
}

static void *worker(void *barrier)
{
	work(5000000);
	pthread_barrier_wait(barrier); /* its time is told ... */
	pthread_barrier_wait(barrier); /* ... and read */
	return NULL;
}

static void all_threads_count(void **unused)
{
	uint64_t before = process_cpu_ns(getpid()), after;
	pthread_barrier_t barrier;
	pthread_t thread;

	(void)unused;
	if (before == 0)
		skip();
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, worker, &barrier), 0);
	pthread_barrier_wait(&barrier);
	after = process_cpu_ns(getpid());
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	assert_true(after - before >= 4000000);
}

static void a_process_that_is_not_there_used_nothing(void **unused)
{
	(void)unused;
	assert_int_equal(process_cpu_ns(-1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_time_is_known_and_grows),
		cmocka_unit_test(all_threads_count),
		cmocka_unit_test(a_process_that_is_not_there_used_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
