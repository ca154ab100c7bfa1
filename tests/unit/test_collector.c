/* SPDX-License-Identifier: MIT */
/* The collector, with a program whose pool is written by hand. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_ring.h"
#include "collector.h"
#include "cycles.h"
#include "trace_file.h"

#define CALLS 10000
#define APART 1000ull /* cycles */
#define LOST  7

static struct mg_pool *take_pool(const char *rings)
{
	struct mg_pool *pool;
	unsigned int pid, first;
	char path[64];
	struct stat st;
	int fd;

	assert_int_equal(sscanf(rings, "%*[^:]:%u:%u:", &pid, &first), 2);
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, first);
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	pool = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(pool, MAP_FAILED);
	close(fd);
	pool->taken = pool->inner = (uint32_t)getpid();
	return pool;
}

/*
 * Returns a ring with a thread's calls, not read yet; before each but the first `lost` were lost.
 */
static struct mg_app_ring *write_calls(struct mg_pool *pool, uint32_t which, uint64_t first,
	uint32_t n, uint64_t apart, uint32_t lost)
{
	struct mg_app_ring *ring = (struct mg_app_ring *)((char *)pool + pool->rings_at) + which;
	struct mg_app_record *records = (void *)((char *)pool + pool->records_at);

	records += (uint64_t)which << pool->record_shift;
	ring->tid = ring->pid = (uint32_t)getpid();
	for (uint32_t i = 0; i < n; i++) {
		struct mg_ring_call call = {.enter = first, .exit = first + i * apart};

		memcpy(records[i].payload, &call, sizeof(call));
		records[i].lost = i * lost;
		records[i].id = MG_APP_BASE;
		records[i].kind = MG_KIND_tcp;
		records[i].lap = 1;
	}
	ring->lost = (n - 1) * lost;
	pool->state[which] = MG_RING_OWNED;
	return ring;
}

/*
 * One thread loses a call before each, another one between its first and its last: losses that
 * began before the trace was full are reported, later ones are not.
 */
static void losses_before_the_trace_was_full_count(void **unused)
{
	struct collector_options o = {.bounds = {.max_bytes = 64 << 10}};
	struct collector_result result;
	struct mg_app_ring *busy, *brief;
	struct mg_pool *pool;
	struct collector c;
	uint64_t begin;
	char path[64], *dir = trace_dir_make();

	(void)unused;
	snprintf(path, sizeof(path), "%s/app", dir);
	o.dir = path;
	assert_int_equal(collector_start(&c, &o), 0);
	usleep(50000);
	pool = take_pool(c.rings);
	begin = mg_cycles() - CALLS * APART;
	brief = write_calls(pool, 2, begin - 1, 2, CALLS * APART, LOST);
	busy = write_calls(pool, 1, begin, CALLS, APART, 1);
	__atomic_store_n(&busy->head, CALLS, __ATOMIC_RELEASE);
	__atomic_store_n(&brief->head, 2, __ATOMIC_RELEASE);
	usleep(50000);
	assert_int_equal(collector_stop(&c, &result, 10000), 0);
	assert_true(result.complete);
	assert_in_range(result.events, 1, CALLS - 1);
	/*
	 * one of the events is the second thread's, and nothing was lost before the first thread's
	 * first
	 */
	assert_int_equal(result.discarded, LOST + result.events - 2);
	callers_free(&result.callers);
	trace_dir_remove(strdup(path));
	trace_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_before_the_trace_was_full_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
