/* SPDX-License-Identifier: MIT */
#include "printable.h"
#include "unit.h"

static const char *escaped(const char *text)
{
	static char out[200];

	return mg_escape(out, sizeof(out), text);
}

static void text_stays_as_it_is(void **unused)
{
	static const char *const plain[] = {
		"", "a b~", "p\xc3\xa9", "\xe2\x96\x88\xf0\x9f\x98\x80", "\\x1b", "\xc2\xa0"};

	(void)unused;
	for (size_t i = 0; i < COUNT(plain); i++)
		assert_string_equal(escaped(plain[i]), plain[i]);
}

static void orders_to_a_terminal_are_shown(void **unused)
{
	(void)unused;
	assert_string_equal(escaped("\x1b[31m"), "\\x1b[31m");
	assert_string_equal(escaped("a\nb\tc\r\x7f"), "a\\x0ab\\x09c\\x0d\\x7f");
	assert_string_equal(escaped("\xc2\x9b"
				    "31m"),
		"\\xc2\\x9b31m"); /* C1 in UTF-8, */
	assert_string_equal(escaped("\x9b"
				    "31m"),
		"\\x9b31m"); /* and in 8-bit terminals */
	assert_string_equal(
		escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae"); /* right-to-left override */
	assert_string_equal(escaped("\xe2\x80\xa8"), "\\xe2\\x80\\xa8"); /* line separator */
}

static void invalid_utf8_is_shown_byte_by_byte(void **unused)
{
	(void)unused;
	assert_string_equal(escaped("\xff"), "\\xff");
	assert_string_equal(escaped("\xc3"), "\\xc3"); /* truncated */
	assert_string_equal(escaped("\xc3(\xc3\xa9"), "\\xc3(\xc3\xa9");
	assert_string_equal(escaped("\xc0\x9b"), "\\xc0\\x9b"); /* overlong encoding */
	assert_string_equal(escaped("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
	/* half of a surrogate pair */
	assert_string_equal(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_string_equal(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

static void text_is_cut_between_characters(void **unused)
{
	char out[8];

	(void)unused;
	assert_string_equal(mg_escape(out, 5, "abcdef"), "abcd");
	assert_string_equal(mg_escape(out, 5, "abc\xc3\xa9"), "abc");
	assert_string_equal(mg_escape(out, 8, "abcd\x1b"), "abcd");
	assert_string_equal(mg_escape(out, 1, "a"), "");
}

static void a_character_is_not_read_beyond_its_end(void **unused)
{
	bool may;

	(void)unused;
	assert_int_equal(mg_character("\xc3\xa9", 1, &may), 1);
	assert_false(may);
	assert_int_equal(mg_character("\xc3\xa9", 2, &may), 2);
	assert_true(may);
	assert_int_equal(mg_character("", 1, &may), 1); /* NUL is no text */
	assert_false(may);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stays_as_it_is),
		cmocka_unit_test(orders_to_a_terminal_are_shown),
		cmocka_unit_test(invalid_utf8_is_shown_byte_by_byte),
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(a_character_is_not_read_beyond_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
