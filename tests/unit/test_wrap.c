/* SPDX-License-Identifier: MIT */
/* Tests that lines are as wide as the terminal. */
#include "wrap.h"

#include "table.h"
#include "unit.h"

static char *text;

static const char *wrapped(const char *line)
{
	size_t size;
	FILE *to = open_memstream(&text, &size);

	free(text);
	text_set_columns(60);
	text_wrap(line, to);
	fclose(to);
	return text;
}

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	return 0;
}

#define WORDS "one two three four five six seven eight nine ten eleven x"

static void lines_that_fit_stay(void **unused)
{
	(void)unused;
	assert_string_equal(wrapped("a  b\n\n" WORDS "\n"), "a  b\n\n" WORDS "\n");
	assert_string_equal(wrapped("without an end"), "without an end");
	assert_string_equal(wrapped(""), "");
}

static void long_lines_go_on_indented(void **unused)
{
	(void)unused;
	assert_string_equal(wrapped("  " WORDS " twelve thirteen\nnext\n"),
		"  one two three four five six seven eight nine ten eleven x\n"
		"    twelve thirteen\nnext\n");
}

static void colours_take_no_columns(void **unused)
{
	(void)unused;
	assert_string_equal(wrapped("\033[1m" WORDS "\033[0m\n"), "\033[1m" WORDS "\033[0m\n");
}

static void a_character_of_several_bytes_is_one_column(void **unused)
{
	(void)unused;
	assert_string_equal(wrapped(WORDS " \xc2\xb5\n"), WORDS " \xc2\xb5\n");
}

static void a_number_keeps_its_unit(void **unused)
{
	(void)unused;
	assert_string_equal(
		wrapped("one two three four five six seven eight nine ten eleven 433 ms\n"),
		"one two three four five six seven eight nine ten eleven\n"
		"  433 ms\n");
	assert_string_equal(
		wrapped("one two three four five six seven eight nine ten modulation M = 1.00\n"),
		"one two three four five six seven eight nine ten modulation\n"
		"  M = 1.00\n");
}

static void words_are_not_divided(void **unused)
{
	(void)unused;
	assert_string_equal(wrapped("at "
				    "/aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg"
				    "ggggggggg x\n"),
		"at\n  /aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\n  "
		"x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_fit_stay),
		cmocka_unit_test(long_lines_go_on_indented),
		cmocka_unit_test(colours_take_no_columns),
		cmocka_unit_test(a_character_of_several_bytes_is_one_column),
		cmocka_unit_test(a_number_keeps_its_unit),
		cmocka_unit_test(words_are_not_divided),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
