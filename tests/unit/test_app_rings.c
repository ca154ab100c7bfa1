/* SPDX-License-Identifier: MIT */
/* app_rings_read.c: which calls are missing, how many, and between which of those that were read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app_rings_own.h"
#include "cycles.h"
#include "unit.h"

#define RING 1 /* any but the common one */

static struct app_rings *rings;
static struct pool *pool;
static struct loss {
	enum app_loss why;
	uint64_t count, after, before;
} losses[8];
static uint32_t loss_n, call_n;

static void on_call(void *arg, unsigned int fn, const struct mg_call *c)
{
	(void)arg, (void)fn, (void)c;
	call_n++;
}

static struct mg_mark last_mark;

static void on_mark(void *arg, const struct mg_mark *m)
{
	(void)arg;
	last_mark = *m;
}

static void on_lost(
	void *arg, enum app_loss why, uint64_t count, uint32_t tid, uint64_t after, uint64_t before)
{
	(void)arg, (void)tid;
	losses[loss_n++] = (struct loss){why, count, after, before};
}

static const struct app_reader reader = {NULL, on_call, on_mark, on_lost};

static int setup(void **unused)
{
	char why[200];

	(void)unused;
	loss_n = call_n = 0;
	assert_int_equal(app_rings_create(&rings, 1 << 16, why, sizeof(why)), 0);
	pool = rings->ready[0];
	pool->head->taken = 1;
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	app_rings_free(rings);
	return 0;
}

/* As libmagnet.so writes a call: `lost` is the ring's count as it takes the record. */
static void write_call(uint64_t leave, uint64_t lost)
{
	struct mg_app_ring *ring = &pool->rings[RING];
	struct mg_app_record *records = &pool->records[(uint64_t)RING << pool->shift];
	struct mg_app_record *record = &records[ring->head & ((1ull << pool->shift) - 1)];
	struct mg_ring_call call = {.enter = leave - 1, .exit = leave};

	ring->lost = lost;
	memset(record, 0, sizeof(*record));
	memcpy(record->payload, &call, sizeof(call));
	record->lost = (uint32_t)lost;
	record->id = MG_APP_BASE;
	record->lap = (uint16_t)((ring->head >> pool->shift) + 1);
	ring->head++;
}

static void assert_loss(
	uint32_t i, enum app_loss why, uint64_t count, uint64_t after, uint64_t before)
{
	assert_int_equal(losses[i].why, why);
	assert_int_equal(losses[i].count, count);
	assert_int_equal(losses[i].after, after);
	assert_int_equal(losses[i].before, before);
}

/* What a program leaves behind a name in its ring does not get into the trace. */
static void nothing_behind_a_marks_name_is_kept(void **unused)
{
	struct mg_app_record *record = &pool->records[(uint64_t)RING << pool->shift];
	struct mg_mark m = {.at = mg_cycles(), .name = "frame\0from 10.1.2.3"};

	(void)unused;
	write_call(m.at, 0);
	record->id = MG_EVENT_mark;
	memcpy(record->payload, &m, MG_PAYLOAD_SIZE(MARK));
	app_rings_read(rings, m.at + 1, &reader);
	assert_memory_equal(last_mark.name, ((char[24]){"frame"}), 24);
}

static void a_loss_lies_between_two_calls(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	write_call(t + 1000, 7);
	app_rings_read(rings, t + 2000, &reader);
	assert_int_equal(call_n, 2);
	assert_int_equal(loss_n, 1);
	assert_loss(0, APP_LOST_FULL, 7, t, t + 1000);
}

static void what_nobody_came_after_is_told_at_the_end(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	pool->rings[RING].lost = 5;
	app_rings_read(rings, t + 1, &reader);
	assert_int_equal(loss_n, 0);
	app_rings_finish(rings, &reader);
	assert_int_equal(loss_n, 1);
	assert_loss(0, APP_LOST_FULL, 5, t, 0);
}

static void no_number_is_too_large(void **unused)
{
	uint64_t t = mg_cycles(), many = (1ull << 32) + 20000;

	(void)unused;
	rings->began = t - (1ull << 40); /* it records for minutes */
	write_call(t, 0);
	write_call(t + 1000, 191000000);
	write_call(t + 2000, 4000000000);
	write_call(t + 3000, many);
	app_rings_read(rings, t + 4000, &reader);
	assert_int_equal(loss_n, 3);
	assert_int_equal(losses[0].count + losses[1].count + losses[2].count, many);
}

static void a_count_that_cannot_be_is_told_as_not_known(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	write_call(t + 1000, 1ull << 62);
	app_rings_read(rings, t + 2000, &reader);
	app_rings_finish(rings, &reader);
	assert_int_equal(loss_n, 1);
	assert_loss(0, APP_LOST_NOT_COUNTED, 1, t + 1000, 0);
}

static void a_handlers_call_may_tell_less_than_the_one_it_interrupted(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 3);
	write_call(t + 1000, 2);
	pool->rings[RING].lost = 3;
	app_rings_read(rings, t + 2000, &reader);
	assert_int_equal(loss_n, 1);
	assert_loss(0, APP_LOST_FULL, 3, 0, t);
}

/* What a program can do to the file it was given. */
static void nobody_can_cut_off_a_pool(void **unused)
{
	int fd = pool_file_open_again(&pool->file);

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, (off_t)pool->file.size * 2), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	close(fd);
}

static void a_pool_is_left_when_nobody_has_it_mapped(void **unused)
{
	int fd = pool_file_open_again(&pool->file);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)unused;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_false(pool_file_is_left(&pool->file));
	close(fd);
	assert_false(pool_file_is_left(&pool->file));
	munmap(memory, 4096);
	assert_true(pool_file_is_left(&pool->file));
}

/* All that the program wrote is read before its pool goes. */
static void a_pool_goes_with_its_program(void **unused)
{
	uint64_t t = mg_cycles(), present = rings->present;

	(void)unused;
	write_call(t, 0);
	pool->rings[RING].lost = 5;
	for (int i = 0; i < 1000 && (i == 0 || rings->taken_n); i++) {
		app_rings_read(rings, t + 1, &reader);
		usleep(1000);
	}
	assert_int_equal(rings->taken_n, 0);
	assert_int_equal(rings->present, present);
	assert_int_equal(call_n, 1);
	assert_int_equal(loss_n, 1);
	assert_loss(0, APP_LOST_FULL, 5, t, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_behind_a_marks_name_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loss_lies_between_two_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_nobody_came_after_is_told_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(no_number_is_too_large, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_can_cut_off_a_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_pool_is_left_when_nobody_has_it_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pool_goes_with_its_program, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_count_that_cannot_be_is_told_as_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_handlers_call_may_tell_less_than_the_one_it_interrupted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
