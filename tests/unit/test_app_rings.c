/* SPDX-License-Identifier: MIT */
/*
 * app_rings_read.c: which calls are missing, how many, and between which of those that were read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app_rings_own.h"
#include "cycles.h"
#include "unit.h"

#define RING 1 /* any ring but the common one */

static struct app_rings *rings;
static struct pool *pool;
static struct loss {
	enum mg_lost_reason why;
	uint64_t count, after, before;
} losses[8];
static uint32_t loss_n, call_n;

static struct mg_call last_call;

static void on_call(void *arg, unsigned int fn, const struct mg_call *c)
{
	(void)arg, (void)fn;
	last_call = *c;
	call_n++;
}

static struct mg_mark last_mark;

static void on_mark(void *arg, const struct mg_mark *m)
{
	(void)arg;
	last_mark = *m;
}

static void on_lost(void *arg, enum mg_lost_reason why, uint64_t count, uint32_t tid,
	uint64_t after, uint64_t before)
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

/* Writes a call as libmagnet.so does; `lost` is the ring's count when the record is taken. */
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
	uint32_t i, enum mg_lost_reason why, uint64_t count, uint64_t after, uint64_t before)
{
	assert_int_equal(losses[i].why, why);
	assert_int_equal(losses[i].count, count);
	assert_int_equal(losses[i].after, after);
	assert_int_equal(losses[i].before, before);
}

/* Data behind a name in a ring do not get into the trace. */
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

/* Reads a call of this function whose record has 7 in place of a length, and 9 of flags. */
static void read_call_of(unsigned int fn)
{
	struct mg_app_ring *ring = &pool->rings[RING];
	struct mg_app_record *records = &pool->records[(uint64_t)RING << pool->shift];
	struct mg_app_record *record = &records[ring->head & ((1ull << pool->shift) - 1)];
	struct mg_ring_call *call = (struct mg_ring_call *)record->payload;
	uint64_t t = mg_cycles();

	write_call(t, 0);
	record->id = (uint8_t)(MG_APP_BASE + fn);
	call->asked = 7;
	call->flags = 9;
	app_rings_read(rings, t + 1, &reader);
}

/* The ring has one word for what a call has at most one of; the trace has a field for each. */
static void lengths_values_and_counts_are_told_apart(void **unused)
{
	(void)unused;
	read_call_of(MG_FN_send);
	assert_int_equal(last_call.asked, 7);
	assert_int_equal(last_call.flags, 9);
	assert_int_equal(last_call.value, 0);
	assert_int_equal(last_call.waited, 0);
	assert_int_equal(last_call.option, 0);
	read_call_of(MG_FN_setsockopt);
	assert_int_equal(last_call.value, 7);
	assert_int_equal(last_call.option, 9);
	assert_int_equal(last_call.asked, 0);
	assert_int_equal(last_call.flags, 0);
	read_call_of(MG_FN_epoll_wait);
	assert_int_equal(last_call.waited, 7);
	assert_int_equal(last_call.asked, 0);
	assert_int_equal(last_call.value, 0);
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
	assert_loss(0, MG_LOST_APP, 7, t, t + 1000);
}

static void losses_at_the_end_are_recorded(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	pool->rings[RING].lost = 5;
	app_rings_read(rings, t + 1, &reader);
	assert_int_equal(loss_n, 0);
	app_rings_finish(rings, &reader);
	assert_int_equal(loss_n, 1);
	assert_loss(0, MG_LOST_APP, 5, t, 0);
}

static void no_number_is_too_large(void **unused)
{
	uint64_t t = mg_cycles(), many = (1ull << 32) + 20000;

	(void)unused;
	rings->began = t - (1ull << 40); /* a recording of many minutes */
	write_call(t, 0);
	write_call(t + 1000, 191000000);
	write_call(t + 2000, 4000000000);
	write_call(t + 3000, many);
	app_rings_read(rings, t + 4000, &reader);
	assert_int_equal(loss_n, 3);
	assert_int_equal(losses[0].count + losses[1].count + losses[2].count, many);
}

static void an_impossible_count_is_recorded_as_unknown(void **unused)
{
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	write_call(t + 1000, 1ull << 62);
	app_rings_read(rings, t + 2000, &reader);
	app_rings_finish(rings, &reader);
	assert_int_equal(loss_n, 1);
	assert_loss(0, MG_LOST_APP_NOT_COUNTED, 1, t + 1000, 0);
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
	assert_loss(0, MG_LOST_APP, 3, 0, t);
}

/* A program may not truncate the file it was given. */
static void pool_file_cannot_be_truncated(void **unused)
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

/* All that the program wrote is read before its pool is removed. */
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
	assert_loss(0, MG_LOST_APP, 5, t, 0);
}

/* Beyond the limit of all pools together a program has only the common ring for its threads. */
static void beyond_the_bound_programs_have_the_common_ring(void **unused)
{
	uint64_t present = rings->present;
	struct pool *p;
	char why[200];

	(void)unused;
	rings->present = APP_RINGS_TOTAL;
	p = app_pool_make(rings, why, sizeof(why));
	assert_non_null(p);
	assert_int_equal(p->used, MG_COMMON_RING + 1);
	app_pool_free(rings, p);
	rings->present = present;
}

static void only_a_ring_that_fills_has_all_its_memory(void **unused)
{
	uint64_t t = mg_cycles(), present;

	(void)unused;
	teardown(NULL);
	assert_int_equal(app_rings_create(&rings, 1 << 20, (char[200]){0}, 200), 0);
	pool = rings->ready[0];
	pool->head->taken = 1;
	write_call(t, 0);
	app_rings_read(rings, t + 1, &reader);
	present = rings->present;
	assert_false(pool->known[RING].whole);
	for (int i = 0; i < 600; i++)
		write_call(t + 2, 0);
	app_rings_read(rings, t + 3, &reader);
	assert_true(pool->known[RING].whole);
	assert_int_equal(rings->present, present + (1 << 20) - (64 << 10));
	assert_int_equal(call_n, 601);
}

/* Where memory is not overcommitted, only memory that has been provided is used. */
static void where_memory_is_scarce_a_ring_that_is_ready_has_all_of_it(void **unused)
{
	uint64_t present = rings->present;
	struct pool *p;
	char why[200];

	(void)unused;
	rings->memory_is_scarce = true;
	rings->shift = 14; /* 1 MB */
	p = app_pool_make(rings, why, sizeof(why));
	assert_non_null(p);
	assert_int_equal(rings->present - present, (uint64_t)p->used << 20);
	app_pool_free(rings, p);
}

static int ask(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path, rings->door.path, sizeof(rings->door.path));
	assert_int_equal(connect(fd, (void *)&a, sizeof(a)), 0);
	return fd;
}

static void who_asks_without_end_does_not_keep_it_from_reading(void **unused)
{
	uint32_t answered;

	(void)unused;
	for (int i = 0; i < 100; i++)
		close(ask());
	app_rings_answer(rings);
	answered = (uint32_t)rings->unserved + rings->taken_n;
	assert_in_range(answered, 1, 50);
	for (int i = 0; i < 100; i++)
		app_rings_answer(rings);
	assert_int_equal(rings->unserved + rings->taken_n, 100);
}

/* Takes away all free descriptors; returns the previous limit. */
static struct rlimit without_descriptors(void)
{
	struct rlimit was, none;

	getrlimit(RLIMIT_NOFILE, &was);
	none = was;
	none.rlim_cur = (rlim_t)dup(0);
	close((int)none.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &none);
	return was;
}

static void a_program_is_read_while_there_is_no_descriptor_for_its_pool(void **unused)
{
	struct rlimit was = without_descriptors();
	uint64_t t = mg_cycles();

	(void)unused;
	write_call(t, 0);
	app_rings_read(rings, t + 1, &reader);
	assert_int_equal(call_n, 1);
	assert_ptr_equal(rings->ready[0], pool); /* its place is not free */
	write_call(t + 2, 0);
	app_rings_finish(rings, &reader);
	assert_int_equal(call_n, 2);
	setrlimit(RLIMIT_NOFILE, &was);
	app_rings_read(rings, t + 1, &reader);
	assert_ptr_not_equal(rings->ready[0], pool);
	assert_int_equal(rings->taken_n, 1);
}

static bool is_pool_at(int fd, const struct pool *p)
{
	struct stat at, of;

	return fstat(fd, &at) == 0 && fstat(p->file.fd, &of) == 0 && at.st_ino == of.st_ino;
}

/* A place keeps its number, whether its pool could not be made or has gone. */
static void a_places_number_is_kept(void **unused)
{
	struct rlimit was;
	int connection, fd;

	(void)unused;
	for (int i = 1; i < 6; i++)
		rings->ready[i]->head->taken = 1;
	was = without_descriptors();
	app_rings_replace_taken(rings);
	for (int i = 0; i < 2000 && rings->taken_n; i++) { /* no program has them */
		app_rings_read(rings, 1, &reader);
		usleep(1000);
	}
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(rings->taken_n, 0);
	for (fd = rings->first; fd < rings->first + MG_POOLS_READY; fd++)
		assert_true(fcntl(fd, F_GETFD) >= 0);
	connection = ask();
	app_rings_answer(rings);
	assert_int_equal(rings->taken_n, 1);
	fd = rings->taken[0]->file.fd;
	assert_false(fd >= rings->first && fd < rings->first + MG_POOLS_READY);
	app_rings_replace_taken(rings);
	assert_true(is_pool_at(fd, rings->taken[0]));
	for (int i = 0; i < MG_POOLS_READY; i++)
		assert_true(is_pool_at(rings->first + i, rings->ready[i]));
	close(connection);
}

static void a_connection_without_a_descriptor_is_recorded(void **unused)
{
	int connection = ask();
	struct rlimit was = without_descriptors();

	(void)unused;
	app_rings_answer(rings);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(rings->unserved, 1);
	assert_non_null(strstr(app_rings_why_unserved(rings), "raise ulimit -n"));
	close(connection);
}

static void the_next_free_numbers_will_do(void **unused)
{
	int taken;

	(void)unused;
	teardown(NULL);
	taken = fcntl(0, F_DUPFD, 18);
	assert_int_equal(taken, 18);
	assert_int_equal(app_rings_create(&rings, 1 << 16, (char[200]){0}, 200), 0);
	assert_int_equal(rings->first, 19);
	close(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_behind_a_marks_name_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
			lengths_values_and_counts_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loss_lies_between_two_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_at_the_end_are_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(no_number_is_too_large, setup, teardown),
		cmocka_unit_test_setup_teardown(pool_file_cannot_be_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_pool_is_left_when_nobody_has_it_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pool_goes_with_its_program, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_impossible_count_is_recorded_as_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_handlers_call_may_tell_less_than_the_one_it_interrupted, setup, teardown),
		cmocka_unit_test_setup_teardown(
			beyond_the_bound_programs_have_the_common_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(
			only_a_ring_that_fills_has_all_its_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(
			where_memory_is_scarce_a_ring_that_is_ready_has_all_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_asks_without_end_does_not_keep_it_from_reading, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_program_is_read_while_there_is_no_descriptor_for_its_pool, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_places_number_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_connection_without_a_descriptor_is_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_free_numbers_will_do, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
