/* SPDX-License-Identifier: MIT */
/* Facts as tables of text, separated by tabs or as RFC 4180 has it. */
#include "export/tables.h"

#include <sys/stat.h>

#include "export_scene.h"

static void assert_cell(
	const struct scene *s, const char *file, const char *column, int row, const char *is)
{
	char *text = scene_text(s, file),
	     *cell = scene_cell(text, strstr(file, ".csv") ? ',' : '\t', column, row);

	assert_string_equal(cell, is);
	free(cell);
	free(text);
}

static void names_are_words(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", tsv_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, tsv_end));
	assert_cell(&s, "flow.tsv", "program:text", 0, AWKWARD_WORDS);
	assert_cell(&s, "flow.tsv", "kind:text", 0, "tcp");
	assert_cell(&s, "call.tsv", "function:text", 0, "send");
	assert_cell(&s, "call.tsv", "begin_ns:u64", 0, "1000");
	assert_cell(&s, "call.tsv", "bytes:u64", 0, "300");
	scene_end(&s);
}

/* A quotation mark is there twice, within quotation marks: so is what has a comma. */
static void names_are_quoted_in_csv(void **unused)
{
	static struct scene s;
	char *text;

	(void)unused;
	scene_begin(&s, "out", csv_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, csv_end));
	text = scene_text(&s, "flow.csv");
	assert_non_null(strstr(text, ",\"q\"\"=\\,__\xc3\xa9__z\","));
	assert_null(strchr(text, '\t'));
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		assert_int_equal(at[-1], '\r');
	free(text);
	assert_cell(&s, "call.csv", "begin_ns", 0, "1000");
	scene_end(&s);
}

/* An empty field is not known; 0 would be a value. */
static void unknown_values_are_empty(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", tsv_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, tsv_end));
	assert_cell(&s, "call.tsv", "result:i64", 2, "-11");
	assert_cell(&s, "call.tsv", "offset:u64", 2, "");
	assert_cell(&s, "call.tsv", "offset:u64", 0, "0");
	assert_cell(&s, "flow.tsv", "local:text", 0, "");
	assert_cell(&s, "flow.tsv", "device:text", 0, "");
	scene_end(&s);
}

static void facts_that_there_are_none_of_have_a_head(void **unused)
{
	static struct scene s;
	char *text;

	(void)unused;
	scene_begin(&s, "out", tsv_begin);
	scene_feed(&s);
	assert_true(scene_write(&s, tsv_end));
	text = scene_text(&s, "mark.tsv");
	assert_non_null(strchr(text, '\n'));
	assert_string_equal(strchr(text, '\n'), "\n");
	free(text);
	scene_end(&s);
}

static void a_full_disk_is_told(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", csv_begin);
	scene_feed(&s);
	scene_limit_files(100);
	assert_false(scene_write(&s, csv_end));
	scene_limit_files(0);
	assert_non_null(strstr(s.e.why, "/out/"));
	assert_non_null(strstr(s.e.why, ".csv: File too large"));
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

static void what_could_not_be_read_is_not_there(void **unused)
{
	static struct scene s;

	(void)unused;
	scene_begin(&s, "out", tsv_begin);
	scene_feed(&s);
	core_finish(&s.c);
	assert_true(tsv_end(&s.e, false));
	assert_false(scene_is_there(&s));
	scene_end(&s);
}

static void other_directories_are_left_alone(void **unused)
{
	static struct scene s;
	char path[160];

	(void)unused;
	scene_begin(&s, "out", NULL);
	assert_int_equal(mkdir(s.to, 0700), 0);
	snprintf(path, sizeof(path), "%s/mine", s.to);
	fclose(fopen(path, "w"));
	assert_false(tsv_begin(&s.e));
	assert_non_null(strstr(s.e.why, "/out is not empty: give -o a new directory"));
	remove(path);
	assert_true(tsv_begin(&s.e));
	assert_true(scene_write(&s, tsv_end));
	scene_end(&s);
	scene_begin(&s, "/nowhere/out", NULL);
	assert_false(tsv_begin(&s.e));
	assert_string_equal(s.e.why, "/nowhere/out: No such file or directory");
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_words),
		cmocka_unit_test(names_are_quoted_in_csv),
		cmocka_unit_test(unknown_values_are_empty),
		cmocka_unit_test(facts_that_there_are_none_of_have_a_head),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(what_could_not_be_read_is_not_there),
		cmocka_unit_test(other_directories_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
