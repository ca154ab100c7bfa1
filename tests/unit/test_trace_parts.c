/* SPDX-License-Identifier: MIT */
/* Old parts are deleted, on any file system, and nothing else. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_parts.h"
#include "unit.h"

/* Simulates a file system that does not report the type of an entry. */
struct dirent *readdir(DIR *d)
{
	void *next = dlsym(RTLD_NEXT, sizeof(off_t) > sizeof(long) ? "readdir64" : "readdir");
	struct dirent *(*real)(DIR *), *e;

	memcpy(&real, &next, sizeof(next));
	e = real(d);
	if (e)
		e->d_type = DT_UNKNOWN;
	return e;
}

static void make(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fclose(f);
}

static void a_part_is_deleted_where_kinds_of_files_are_not_told(void **unused)
{
	char top[] = "/tmp/magnet-unit-XXXXXX", part[64];

	(void)unused;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_true(trace_part_make(top, 7, part, sizeof(part)) >= 0);
	make("0007/metadata");
	make("0007/cpu0");
	trace_part_delete(top, 7);
	assert_int_equal(access("0007", F_OK), -1);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(top), 0);
}

static void entries_that_are_no_files_stay(void **unused)
{
	char top[] = "/tmp/magnet-unit-XXXXXX", part[64];

	(void)unused;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_true(trace_part_make(top, 1, part, sizeof(part)) >= 0);
	assert_int_equal(mkdir("0001/theirs", 0700), 0);
	assert_int_equal(symlink("/dev/null", "0001/link"), 0);
	trace_part_delete(top, 1);
	assert_int_equal(rmdir("0001/theirs"), 0);
	assert_int_equal(unlink("0001/link"), 0);
	assert_int_equal(rmdir("0001"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_deleted_where_kinds_of_files_are_not_told),
		cmocka_unit_test(entries_that_are_no_files_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
