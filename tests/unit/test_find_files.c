/* SPDX-License-Identifier: MIT */
/* The search stays below its directory and within its limits. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find_files.h"
#include "unit.h"

static char top[] = "/tmp/magnet-unit-XXXXXX";
static unsigned int found;

static int count(void *arg, const char *dir, const char *name)
{
	(void)dir;
	found += strcmp(name, arg) == 0;
	return 0;
}

static int stop(void *arg, const char *dir, const char *name)
{
	(void)arg;
	(void)dir;
	(void)name;
	return 7;
}

static void make(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fclose(f);
}

static int search(struct file_search *s)
{
	found = 0;
	return files_find(s, top);
}

static void finds_files_and_not_through_links(void **unused)
{
	struct file_search s = {.found = count, .arg = "wanted"};

	(void)unused;
	make("wanted");
	mkdir("a", 0700);
	make("a/wanted");
	make("a/other");
	mkdir("a/b", 0700);
	make("a/b/wanted");
	assert_int_equal(search(&s), 0);
	assert_int_equal(found, 3);
	assert_string_equal(s.link, "");
	assert_int_equal(symlink("..", "a/b/up"), 0);
	assert_int_equal(symlink("wanted", "a/link"), 0);
	assert_int_equal(search(&s), 0);
	assert_int_equal(found, 3);
	assert_true(strstr(s.link, "/a/"));
}

static void follows_links_to_a_session(void **unused)
{
	struct file_search s = {.found = count, .arg = "mine"};

	(void)unused;
	mkdir("out", 0700);
	mkdir("out/app", 0700);
	make("out/mine");
	assert_int_equal(symlink(top, "out/app/up"), 0);
	mkdir("r", 0700);
	assert_int_equal(symlink("../out", "r/app"), 0);
	assert_int_equal(symlink("../out", "r/other"), 0);
	found = 0;
	assert_int_equal(files_find(&s, "r"), 0);
	assert_int_equal(found, 1);
	assert_non_null(strstr(s.link, "r/"));
	assert_int_equal(unlink("r/app"), 0);
	mkdir("r/app", 0700);
	assert_int_equal(symlink("../../out", "r/app/0001"), 0);
	found = 0;
	assert_int_equal(files_find(&s, "r"), 0);
	assert_int_equal(found, 1);
	found = 0;
	assert_int_equal(files_find(&s, "r/app"), 0);
	assert_int_equal(found, 1);
}

static void ends_as_it_is_told(void **unused)
{
	struct file_search s = {.found = stop};

	(void)unused;
	assert_int_equal(search(&s), 7);
}

static void ends_where_it_is_too_deep(void **unused)
{
	struct file_search s = {.found = count, .arg = "wanted"};
	char path[4 * FIND_DEPTH] = "c";

	(void)unused;
	for (int i = 0; i < FIND_DEPTH; i++) {
		assert_int_equal(mkdir(path, 0700), 0);
		if (i < FIND_DEPTH - 1)
			strcat(path, "/c");
	}
	assert_int_equal(search(&s), 0);
	strcat(path, "/c");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(search(&s), -ENAMETOOLONG);
}

static void tells_that_there_is_nothing(void **unused)
{
	struct file_search s = {.found = count};

	(void)unused;
	assert_int_equal(files_find(&s, "absent"), -ENOENT);
	assert_int_equal(files_find(&s, "wanted"), -ENOTDIR);
}

static int begin(void **unused)
{
	(void)unused;
	return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

static int end(void **unused)
{
	char command[64];

	(void)unused;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") != 0 || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_files_and_not_through_links),
		cmocka_unit_test(ends_as_it_is_told),
		cmocka_unit_test(ends_where_it_is_too_deep),
		cmocka_unit_test(tells_that_there_is_nothing),
		cmocka_unit_test(follows_links_to_a_session),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
