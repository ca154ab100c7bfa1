/* SPDX-License-Identifier: MIT */
/* mappings.c: what a process had mapped at a time, from the kernel's records. */
#include <linux/perf_event.h>
#include <unistd.h>

#include "stacks/mapping_rings.h"
#include "stacks/mappings.h"
#include "unit.h"

int mapping_rings_open(struct mapping_rings **out)
{
	*out = NULL;
	return 0;
}

void mapping_rings_pass(struct mapping_rings *r,
	void (*take)(void *arg, const struct perf_event_header *record), void *arg)
{
	(void)r;
	(void)take;
	(void)arg;
}

void mapping_rings_free(struct mapping_rings *r)
{
	(void)r;
}

/* as sample_id_all appends it */
struct tail {
	uint32_t pid, tid;
	uint64_t time;
};

static void map(struct mappings *m, uint32_t pid, uint64_t at, uint64_t length, const char *path,
	uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
		char path[64];
		struct tail tail;
	} r = {.header = {PERF_RECORD_MMAP2, 0, sizeof(r)},
		.pid = pid,
		.start = at,
		.length = length,
		.offset = 0x1000,
		.inode = 7,
		.tail = {.time = time}};

	snprintf(r.path, sizeof(r.path), "%s", path);
	mappings_take(m, &r.header);
}

static void fork_or_end(
	struct mappings *m, uint32_t type, uint32_t pid, uint32_t parent, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
		struct tail tail;
	} r = {.header = {type, 0, sizeof(r)},
		.pid = pid,
		.parent = parent,
		.tid = pid,
		.time = time,
		.tail = {.time = time}};

	mappings_take(m, &r.header);
}

static void task(struct mappings *m, uint32_t pid, uint32_t parent, uint64_t time)
{
	fork_or_end(m, PERF_RECORD_FORK, pid, parent, time);
}

static void end(struct mappings *m, uint32_t pid, uint64_t time)
{
	fork_or_end(m, PERF_RECORD_EXIT, pid, 1, time);
}

static void exec(struct mappings *m, uint32_t pid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		struct tail tail;
	} r = {.header = {PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(r)},
		.pid = pid,
		.tail = {.time = time}};

	mappings_take(m, &r.header);
}

static const char *at(struct mappings *m, uint32_t pid, uint64_t address, uint64_t time)
{
	struct mapping found;

	if (!mappings_find(m, pid, address, time, &found))
		return "nothing";
	return found.file ? found.file->path : "no file";
}

static void address_is_found_in_its_mapping(void **unused)
{
	struct mappings *m = mappings_new();
	struct mapping found;

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/bin/a", 10);
	map(m, 5, 0x20000, 0x1000, "//anon", 11);
	assert_string_equal(at(m, 5, 0x10fff, 20), "/bin/a");
	assert_string_equal(at(m, 5, 0x11000, 20), "nothing");
	assert_string_equal(at(m, 5, 0x20000, 20), "no file");
	assert_string_equal(at(m, 6, 0x10000, 20), "nothing");
	assert_true(mappings_find(m, 5, 0x10010, 20, &found));
	assert_int_equal(found.offset, 0x1000);
	assert_int_equal(found.file->inode, 7);
	mappings_free(m);
}

static void later_mapping_is_not_of_an_earlier_time(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/lib/new", 30);
	map(m, 5, 0x10000, 0x1000, "/lib/old", 10); /* of another CPU's ring, read later */
	assert_string_equal(at(m, 5, 0x10000, 20), "/lib/old");
	assert_string_equal(at(m, 5, 0x10000, 40), "/lib/new");
	assert_string_equal(at(m, 5, 0x10000, 5), "nothing");
	mappings_free(m);
}

static void exec_ends_what_was_mapped(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/bin/sh", 10);
	exec(m, 5, 20);
	map(m, 5, 0x50000, 0x1000, "/bin/ls", 21);
	assert_string_equal(at(m, 5, 0x10000, 15), "/bin/sh");
	assert_string_equal(at(m, 5, 0x10000, 25), "nothing");
	assert_string_equal(at(m, 5, 0x50000, 25), "/bin/ls");
	mappings_free(m);
}

static void child_has_what_its_parent_had_at_the_fork(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/bin/a", 10);
	task(m, 6, 5, 20);
	exec(m, 5, 30);
	map(m, 5, 0x20000, 0x1000, "/bin/b", 31);
	assert_string_equal(at(m, 6, 0x10000, 50), "/bin/a");
	assert_string_equal(at(m, 6, 0x20000, 50), "nothing");
	mappings_free(m);
}

static void some_time_passes(struct mappings *m)
{
	for (int i = 0; i < 200; i++)
		mappings_pass(m);
}

/* 5 is a stranger, 6 has a stack, 7 has a child that inherits and one that does not. */
static void ended_process_is_forgotten_unless_it_is_needed(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	for (uint32_t pid = 5; pid < 8; pid++) {
		exec(m, pid, 5);
		map(m, pid, 0x10000, 0x1000, "/bin/a", 10);
	}
	mappings_need(m, 6);
	task(m, 8, 7, 20);
	task(m, 9, 7, 20);
	exec(m, 9, 21);
	for (uint32_t pid = 5; pid < 8; pid++)
		end(m, pid, 30);
	mappings_pass(m);
	assert_string_equal(at(m, 5, 0x10000, 25), "/bin/a"); /* its last stacks may come */
	some_time_passes(m);
	assert_string_equal(at(m, 5, 0x10000, 25), "nothing");
	assert_string_equal(at(m, 6, 0x10000, 25), "/bin/a");
	assert_string_equal(at(m, 8, 0x10000, 25), "/bin/a");
	exec(m, 8, 40);
	some_time_passes(m);
	assert_string_equal(at(m, 7, 0x10000, 25), "nothing");
	mappings_free(m);
}

/* A number is used again after the end of a process; the record of the end may be read last. */
static void process_with_the_number_of_one_that_ended_is_kept(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	exec(m, 5, 5);
	end(m, 5, 10);
	task(m, 5, 4, 20);
	map(m, 5, 0x10000, 0x1000, "/bin/b", 21);
	end(m, 6, 10);
	task(m, 6, 4, 8);
	map(m, 6, 0x10000, 0x1000, "/bin/c", 9);
	some_time_passes(m);
	assert_string_equal(at(m, 5, 0x10000, 25), "/bin/b");
	assert_string_equal(at(m, 6, 0x10000, 25), "nothing");
	mappings_free(m);
}

static void thread_is_no_child(void **unused)
{
	struct mappings *m = mappings_new();

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/bin/a", 10);
	task(m, 5, 5, 20);
	assert_string_equal(at(m, 5, 0x10000, 50), "/bin/a");
	mappings_free(m);
}

static void same_file_is_one(void **unused)
{
	struct mappings *m = mappings_new();
	struct mapping a, b;

	(void)unused;
	map(m, 5, 0x10000, 0x1000, "/bin/a", 10);
	map(m, 6, 0x10000, 0x1000, "/bin/a", 10);
	assert_true(mappings_find(m, 5, 0x10000, 20, &a));
	assert_true(mappings_find(m, 6, 0x10000, 20, &b));
	assert_ptr_equal(a.file, b.file);
	mappings_free(m);
}

static void mappings_from_before_are_read_from_proc(void **unused)
{
	struct mappings *m = mappings_new();
	uint32_t self = (uint32_t)getpid();
	uint64_t here = (uint64_t)(uintptr_t)mappings_from_before_are_read_from_proc;

	(void)unused;
	mappings_need(m, self);
	assert_non_null(strstr(at(m, self, here, 20), "test_mappings"));
	/* a child that was forked since needs its parent's */
	task(m, 1u << 30, self, 30);
	assert_non_null(strstr(at(m, 1u << 30, here, 40), "test_mappings"));
	mappings_free(m);
}

static void lost_records_are_counted(void **unused)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
		struct tail tail;
	} r = {.header = {PERF_RECORD_LOST, 0, sizeof(r)}, .lost = 3};
	struct mappings *m = mappings_new();

	(void)unused;
	mappings_take(m, &r.header);
	assert_int_equal(mappings_lost(m), 3);
	mappings_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ended_process_is_forgotten_unless_it_is_needed),
		cmocka_unit_test(process_with_the_number_of_one_that_ended_is_kept),
		cmocka_unit_test(address_is_found_in_its_mapping),
		cmocka_unit_test(later_mapping_is_not_of_an_earlier_time),
		cmocka_unit_test(exec_ends_what_was_mapped),
		cmocka_unit_test(child_has_what_its_parent_had_at_the_fork),
		cmocka_unit_test(thread_is_no_child),
		cmocka_unit_test(same_file_is_one),
		cmocka_unit_test(mappings_from_before_are_read_from_proc),
		cmocka_unit_test(lost_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
