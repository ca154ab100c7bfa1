/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "log.h"
#include "unit.h"

static char text[9000];

/* Returns what `say` prints on stderr. */
static const char *printed(void (*say)(void))
{
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(f);
	dup2(fileno(f), STDERR_FILENO);
	say();
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static void say_error(void)
{
	mg_error("cannot open %s: %d", "x", 5);
}

static void say_warning(void)
{
	mg_warn("%s", "odd");
}

static void say_debug(void)
{
	mg_debug("%s", "detail");
}

static void say_orders(void)
{
	mg_error("bad value '%s'", "\x1b[2J\nmagnet: all is well\x9b");
}

static void say_much(void)
{
	char much[8000];

	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = 0;
	mg_error("%s", much);
}

static void a_line_begins_with_the_program(void **unused)
{
	(void)unused;
	mg_log_name("a-program");
	assert_string_equal(printed(say_error), "a-program: cannot open x: 5\n");
	assert_string_equal(printed(say_warning), "a-program: warning: odd\n");
}

static void details_are_told_only_when_asked_for(void **unused)
{
	(void)unused;
	mg_log_name("p");
	unsetenv("MAGNET_DEBUG");
	assert_string_equal(printed(say_debug), "");
	setenv("MAGNET_DEBUG", "1", 1);
	assert_string_equal(printed(say_debug), "p: debug: detail\n");
	unsetenv("MAGNET_DEBUG");
}

static void a_line_is_one_line_and_no_order_to_a_terminal(void **unused)
{
	(void)unused;
	mg_log_name("p");
	assert_string_equal(
		printed(say_orders), "p: bad value '\\x1b[2J\\x0amagnet: all is well\\x9b'\n");
}

static void a_line_that_is_too_long_is_cut_and_still_ends(void **unused)
{
	const char *line;

	(void)unused;
	mg_log_name("p");
	line = printed(say_much);
	assert_in_range(strlen(line), 4000, 5000);
	assert_int_equal(line[strlen(line) - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_begins_with_the_program),
		cmocka_unit_test(details_are_told_only_when_asked_for),
		cmocka_unit_test(a_line_is_one_line_and_no_order_to_a_terminal),
		cmocka_unit_test(a_line_that_is_too_long_is_cut_and_still_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
