/* SPDX-License-Identifier: MIT */
/* Archives of a rotated LTTng session: which there are, and links to those of a recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_session_parts.h"
#include "unit.h"

static char top[] = "/tmp/magnet-unit-XXXXXX";

static void links_the_archives_of_a_recording(void **unused)
{
	char to[256];
	ssize_t n;

	(void)unused;
	assert_int_equal(app_session_last_part("out"), -1);
	assert_int_equal(app_session_link_parts("out", 0, "none"), 0);
	mkdir("out", 0700);
	mkdir("out/archives", 0700);
	mkdir("out/archives/other", 0700);
	mkdir("out/archives/20261123T220000+0000-20261123T220100+0000-9", 0700);
	mkdir("out/archives/20261123T220100+0000-20261123T220200+0000-10", 0700);
	mkdir("out/archives/20261123T220200+0000-20261123T220300+0000-11", 0700);
	assert_int_equal(app_session_last_part("out"), 11);
	assert_int_equal(app_session_link_parts("out", 10, "app"), 0);
	n = readlink("app/0001", to, sizeof(to) - 1);
	assert_true(n > 3);
	to[n] = 0;
	assert_string_equal(to + n - 3, "-10");
	assert_int_equal(access("app/0002", F_OK), -1); /* relative to `app` it leads nowhere */
	assert_true(readlink("app/0002", to, sizeof(to)) > 0);
	assert_int_equal(readlink("app/0003", to, sizeof(to)), -1);
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
		cmocka_unit_test(links_the_archives_of_a_recording),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
