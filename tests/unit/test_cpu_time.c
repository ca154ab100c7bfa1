/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <time.h>

#include "cpu_time.h"
#include "unit.h"

/* The kernel updates the account at ticks and switches: a sleep brings it up to date. */
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
	before = own_cpu_ns();
	work(5000000);
	after = own_cpu_ns();
	assert_true(after - before >= 4000000);
}

static void *worker(void *barrier)
{
	work(5000000);
	pthread_barrier_wait(barrier); /* its time is reported ... */
	pthread_barrier_wait(barrier); /* ... and read */
	return NULL;
}

static void all_threads_count(void **unused)
{
	uint64_t before = own_cpu_ns(), after;
	pthread_barrier_t barrier;
	pthread_t thread;

	(void)unused;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, worker, &barrier), 0);
	pthread_barrier_wait(&barrier);
	after = own_cpu_ns();
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	assert_true(after - before >= 4000000);
}

static void threads_that_have_ended_count_still(void **unused)
{
	uint64_t before = own_cpu_ns();
	pthread_barrier_t alone;
	pthread_t thread;

	(void)unused;
	pthread_barrier_init(&alone, NULL, 1);
	assert_int_equal(pthread_create(&thread, NULL, worker, &alone), 0);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&alone);
	assert_true(own_cpu_ns() - before >= 4000000);
}

/* The CPU time of starting and ending is not part of that of running. */
static void a_recorders_use_is_that_while_it_records(void **unused)
{
	struct own_use use;
	uint64_t then;

	(void)unused;
	work(5000000);
	own_use_begin(&use);
	assert_true(use.began_cpu_ns >= 4000000);
	assert_true(own_use_running_cpu_ns(&use) < 4000000);
	work(5000000);
	own_use_cease(&use);
	then = own_use_running_cpu_ns(&use);
	assert_true(then >= 4000000);
	assert_true(own_use_running_ns(&use) >= 4000000);
	work(5000000);
	assert_true(own_use_running_cpu_ns(&use) == then);
	assert_true(own_cpu_ns() - use.began_cpu_ns >= then + 4000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_time_is_known_and_grows),
		cmocka_unit_test(all_threads_count),
		cmocka_unit_test(threads_that_have_ended_count_still),
		cmocka_unit_test(a_recorders_use_is_that_while_it_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
