/* SPDX-License-Identifier: MIT */
/* Files of a recording must be regular ones, of bounded size, and no links to elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "plain_file.h"
#include "trace_file.h"

static char *dir, path[300], other[300];

static int setup(void **unused)
{
	FILE *f;

	(void)unused;
	dir = trace_dir_make();
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("0123456789", f);
	fclose(f);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	trace_dir_remove(dir);
	return 0;
}

static void opens_with_its_size(void **unused)
{
	uint64_t size = 0;
	int fd = plain_file_open(path, &size);

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(size, 10);
	close(fd);
}

static void takes_nothing_else(void **unused)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	uint64_t size;

	(void)unused;
	assert_int_equal(plain_file_open(dir, &size), -EMEDIUMTYPE);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(plain_file_open(other, &size), -EMEDIUMTYPE);
	unlink(other);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", other);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(plain_file_open(other, &size), -EMEDIUMTYPE);
	close(s);
	unlink(other);
	assert_int_equal(plain_file_open(other, &size), -ENOENT);
	assert_int_equal(plain_file_open("/dev/zero", &size), -EMEDIUMTYPE);
}

static void follows_links_that_the_user_named_only(void **unused)
{
	uint64_t size;
	int fd;

	(void)unused;
	assert_int_equal(symlink("file", other), 0);
	assert_int_equal(plain_file_open(other, &size), -ELOOP);
	fd = plain_file_open_named(other, &size);
	assert_true(fd >= 0);
	close(fd);
}

static void reads_up_to_a_size(void **unused)
{
	size_t size = 0;
	char *text = plain_file_read(path, 10, &size);

	(void)unused;
	assert_string_equal(text, "0123456789");
	assert_int_equal(size, 10);
	free(text);
	assert_null(plain_file_read(path, 9, &size));
	assert_int_equal(errno, EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_with_its_size, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(
			follows_links_that_the_user_named_only, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_up_to_a_size, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
