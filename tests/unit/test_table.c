/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "unit.h"

static char *text;

/* Returns the table as it is printed, until the next call. */
static const char *printed(struct table *t, int indent, bool colour)
{
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	assert_non_null(f);
	table_print(t, f, indent, colour);
	fclose(f);
	return text;
}

static int teardown(void **unused)
{
	(void)unused;
	free(text);
	text = NULL;
	text_set_unicode(true);
	return 0;
}

static void columns_are_aligned_left_or_right(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "lr");
	table_row(&t, "name\tn");
	table_row(&t, "%s\t%d", "a", 1000);
	table_row(&t, "%s\t%d", "longest", 7);
	assert_string_equal(printed(&t, 0, false), "name        n\n"
						   "a        1000\n"
						   "longest     7\n");
}

/* Micro signs, bars and box lines take one column and several bytes. */
static void a_character_is_a_column_however_many_bytes_it_has(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "rlr");
	table_row(&t, "\tx\tn");
	table_row(&t, "2 \xc2\xb5s\t\xe2\x96\x88\xe2\x96\x8c\t1");
	table_row(&t, "10 ms\t\xe2\x96\x88\t22");
	assert_string_equal(printed(&t, 0, false), "       x    n\n"
						   " 2 \xc2\xb5s  \xe2\x96\x88\xe2\x96\x8c   1\n"
						   "10 ms  \xe2\x96\x88   22\n");
}

static void no_line_ends_in_spaces(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "ll");
	table_row(&t, "a\tlong enough");
	table_row(&t, "b\t");
	table_row(&t, "\t");
	assert_string_equal(printed(&t, 2, false), "  a  long enough\n"
						   "  b\n"
						   "  \n");
}

static void rows_may_have_fewer_cells_than_columns_or_more(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "ll");
	table_row(&t, "one");
	table_row(&t, "a\tb\tc");
	assert_string_equal(printed(&t, 0, false), "one\n"
						   "a    b\n");
}

static void only_the_first_row_is_emphasised(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "l");
	table_row(&t, "head");
	table_row(&t, "body");
	assert_string_equal(printed(&t, 1, true), " \033[1mhead\033[0m\n"
						  " body\n");
}

static void many_rows_and_long_cells_are_no_matter(void **unused)
{
	char long_cell[3 * CELL_SIZE];
	struct table t;

	(void)unused;
	memset(long_cell, 'x', sizeof(long_cell) - 1);
	long_cell[sizeof(long_cell) - 1] = 0;
	table_begin(&t, "lr");
	for (int i = 0; i < 1000; i++)
		table_row(&t, "%s\t%d", long_cell, i);
	assert_int_equal(t.rows, 1000);
	assert_int_equal(strlen(printed(&t, 0, false)), 1000 * (CELL_SIZE - 1 + 2 + 3 + 1));
	assert_null(t.cell); /* it has been freed */
}

static void assert_ns(double ns, const char *expected)
{
	assert_string_equal(text_ns(ns), expected);
}

static void times_have_three_digits(void **unused)
{
	(void)unused;
	assert_ns(0, "0 ns");
	assert_ns(7.4, "7 ns");
	assert_ns(99.4, "99 ns");
	assert_ns(610, "0.61 \xc2\xb5s");
	assert_ns(2100, "2.10 \xc2\xb5s");
	assert_ns(45678, "45.7 \xc2\xb5s");
	assert_ns(456789, "457 \xc2\xb5s");
	assert_ns(2.31e6, "2.31 ms");
	assert_ns(3.02e9, "3.02 s");
	assert_ns(4e12, "4000 s");
}

/* Rounding must not make four digits of three, nor choose too small a unit. */
static void times_round_into_the_next_unit(void **unused)
{
	(void)unused;
	assert_ns(9994, "9.99 \xc2\xb5s");
	assert_ns(9996, "10.0 \xc2\xb5s");
	assert_ns(99960, "100 \xc2\xb5s");
	assert_ns(999400, "999 \xc2\xb5s");
	assert_ns(999600, "1.00 ms");
	assert_ns(999.6e6, "1.00 s");
}

static void a_time_may_be_negative_or_not_known(void **unused)
{
	(void)unused;
	assert_ns(-2100, "-2.10 \xc2\xb5s");
	assert_ns(NAN, "n/a");
}

static void bytes_have_binary_units(void **unused)
{
	(void)unused;
	assert_string_equal(text_bytes(0), "0 B");
	assert_string_equal(text_bytes(1448), "1448 B");
	assert_string_equal(text_bytes(9999), "9999 B");
	assert_string_equal(text_bytes(10240), "10.0 KiB");
	assert_string_equal(text_bytes(50 << 20), "50.0 MiB");
	assert_string_equal(text_bytes(5e15), "4547.5 TiB");
}

static void counts_have_groups_of_three(void **unused)
{
	(void)unused;
	assert_string_equal(text_count(0), "0");
	assert_string_equal(text_count(999), "999");
	assert_string_equal(text_count(1000), "1,000");
	assert_string_equal(text_count(311870), "311,870");
	assert_string_equal(text_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

static void shares_are_percent(void **unused)
{
	(void)unused;
	assert_string_equal(text_percent(0), "0.0 %");
	assert_string_equal(text_percent(0.0931), "9.3 %");
	assert_string_equal(text_percent(0.71), "71 %");
	assert_string_equal(text_percent(1.5), "150 %");
	assert_string_equal(text_percent(NAN), "n/a");
}

/* A share of 99.999 % must not read as if nothing were missing. */
static void a_coverage_is_whole_only_if_nothing_is_missing(void **unused)
{
	(void)unused;
	assert_string_equal(text_coverage(1), "100 %");
	assert_string_equal(text_coverage(0.99999), "99.99 %");
	assert_string_equal(text_coverage(0.5), "50.00 %");
	assert_string_equal(text_coverage(NAN), "n/a");
}

static void a_bar_is_as_long_as_its_share(void **unused)
{
	(void)unused;
	assert_string_equal(text_bar(0, 4), "");
	assert_string_equal(text_bar(0.5, 4), "\xe2\x96\x88\xe2\x96\x88");
	assert_string_equal(text_bar(0.375, 4), "\xe2\x96\x88\xe2\x96\x8c"); /* one and a half */
	assert_string_equal(text_bar(0.00001, 4), "\xe2\x96\x8f");           /* not empty */
	assert_int_equal(strlen(text_bar(1, 20)), 60);
}

static void without_unicode_all_is_ascii(void **unused)
{
	(void)unused;
	text_set_unicode(false);
	assert_ns(2100, "2.10 us");
	assert_string_equal(text_bar(0.5, 4), "##");
	assert_string_equal(text_bar(0.6, 4), "###");
	assert_string_equal(text_arrow(), "->");
	text_set_unicode(true);
	assert_string_equal(text_arrow(), "\xe2\x86\x92");
}

static void several_texts_live_side_by_side(void **unused)
{
	const char *first = text_count(1), *all[8];

	(void)unused;
	for (int i = 0; i < 8; i++)
		all[i] = text_count((uint64_t)i + 2);
	assert_string_equal(first, "1");
	assert_string_equal(all[0], "2");
	assert_string_equal(all[7], "9");
}

static void a_row_that_is_too_wide_loses_words_at_its_end(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "rl");
	table_row(&t, "n\twhere");
	table_row(&t, "12\ttcp 57 ip 11 device 13");
	table_row(&t, "3\ttcp 90");
	table_fit(&t, 17);
	assert_string_equal(printed(&t, 0, false), " n  where\n"
						   "12  tcp 57 ip 11\n"
						   " 3  tcp 90\n");
	table_begin(&t, "rl");
	table_row(&t, "n\twhere");
	table_row(&t, "12\ttcp 57 ip 11 device 13");
	table_fit(&t, 5);
	assert_string_equal(printed(&t, 0, false), " n  where\n12\n");
}

/* Columns go in the order that is given, and then words are cut. */
static void a_table_is_no_wider_than_the_terminal(void **unused)
{
	struct table t;

	(void)unused;
	text_set_columns(60);
	table_begin(&t, "lrrl");
	table_drops(&t, "21");
	table_row(&t, "name\tone\ttwo\twhere");
	table_row(&t, "twenty columns of it.\t1\t2\ttwenty-eight columns of this");
	assert_string_equal(printed(&t, 0, false),
		"name                   one  where\n"
		"twenty columns of it.    1  twenty-eight columns of this\n");
	table_begin(&t, "lrrl");
	table_drops(&t, "12");
	table_row(&t, "name\tone\ttwo\twhere");
	table_row(&t, "twenty columns of it.\t1\t2\t%s",
		"forty-one columns of what is much too wide");
	assert_string_equal(printed(&t, 0, false),
		"name                   where\n"
		"twenty columns of it.  forty-one columns of what is much ...\n");
	text_set_columns(0);
}

static void names_cannot_command_the_terminal(void **unused)
{
	(void)unused;
	assert_string_equal(text_plain("sh -c a\nb\t\033[31m\x7f", 120), "sh -c a b ?[31m?");
	assert_string_equal(text_plain("p\xc3\xa9\xc2\x9b!", 120), "p\xc3\xa9?!");
	assert_string_equal(text_plain("\xc3\xa9\xc3\xa9", 4), "\xc3\xa9\xc3\xa9");
	assert_string_equal(text_plain("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9");
	assert_string_equal(text_plain("\xe2\x96\x88", 2), "");
	assert_string_equal(text_plain("abc", 2), "ab");
	assert_string_equal(text_plain("a\x9b"
				       "31m\xff",
				    120),
		"a?31m?");
	assert_string_equal(text_plain("a\xe2\x80\xae"
				       "b",
				    120),
		"a?b");
	assert_string_equal(text_plain("", 2), "");
}

static void lines_are_as_wide_as_the_terminal(void **unused)
{
	(void)unused;
	text_set_columns(132);
	assert_int_equal(text_columns(), 132);
	text_set_columns(10); /* no table fits */
	assert_int_equal(text_columns(), REPORT_WIDTH_MIN);
	text_set_columns(0); /* there is no terminal */
	assert_int_equal(text_columns(), REPORT_WIDTH);
}

static void a_heading_takes_the_whole_line(void **unused)
{
	struct table t;

	(void)unused;
	table_begin(&t, "lr");
	table_row(&t, "\tn");
	table_row(&t, "what belongs together");
	table_row(&t, "  a\t1");
	table_row(&t, "  b\t22");
	assert_string_equal(printed(&t, 0, false), "      n\n"
						   "what belongs together\n"
						   "  a   1\n"
						   "  b  22\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_left_or_right),
		cmocka_unit_test(a_character_is_a_column_however_many_bytes_it_has),
		cmocka_unit_test(no_line_ends_in_spaces),
		cmocka_unit_test(rows_may_have_fewer_cells_than_columns_or_more),
		cmocka_unit_test(only_the_first_row_is_emphasised),
		cmocka_unit_test(many_rows_and_long_cells_are_no_matter),
		cmocka_unit_test(times_have_three_digits),
		cmocka_unit_test(times_round_into_the_next_unit),
		cmocka_unit_test(a_time_may_be_negative_or_not_known),
		cmocka_unit_test(bytes_have_binary_units),
		cmocka_unit_test(counts_have_groups_of_three),
		cmocka_unit_test(shares_are_percent),
		cmocka_unit_test(a_coverage_is_whole_only_if_nothing_is_missing),
		cmocka_unit_test(a_bar_is_as_long_as_its_share),
		cmocka_unit_test(without_unicode_all_is_ascii),
		cmocka_unit_test(several_texts_live_side_by_side),
		cmocka_unit_test(names_cannot_command_the_terminal),
		cmocka_unit_test(a_row_that_is_too_wide_loses_words_at_its_end),
		cmocka_unit_test(lines_are_as_wide_as_the_terminal),
		cmocka_unit_test(a_table_is_no_wider_than_the_terminal),
		cmocka_unit_test(a_heading_takes_the_whole_line),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
